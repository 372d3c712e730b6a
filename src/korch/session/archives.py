"""Programs kept between runs, found again by the model's digest and the options, and what became of making them."""

from __future__ import annotations

import hashlib
import json
import re
from contextlib import suppress
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import korch
from korch.errors import ArchiveError
from korch.options import ENOUGH, Options
from korch.system.folders import replaced
from korch.system.processor import cpu_model

if TYPE_CHECKING:  # what loads programs is imported with the first of them: a session's start is onnxruntime's
    from korch.executable import Executable
    from korch.search.transfer import Sketch

FOLDER = "archives"
_OURS = re.compile(r"[0-9a-f]{32}\.korch")


@dataclass(frozen=True)
class Outcome:
    """The result of making a specialisation. `budget`: seconds that its search could take. `base_ms`, `program_ms`: a
    run by onnxruntime and by the program, side by side. `reason`: why the program is not used; empty where it is.
    `needs`: inputs whose values decide what is computed, and were not given. `varies`: whether onnxruntime runs parts
    of the program, whose time may depend on the data."""

    budget: float
    base_ms: float = 0.0
    program_ms: float = 0.0
    reason: str = ""
    needs: tuple[str, ...] = ()
    varies: bool = False

    @staticmethod
    def from_json(text: str) -> Outcome:
        """ValueError or TypeError where the text is no outcome."""
        fields: dict[str, Any] = json.loads(text)
        fields["needs"] = tuple(fields["needs"])
        return Outcome(**fields)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @property
    def usable(self) -> bool:
        return not self.reason

    @property
    def share(self) -> float:
        """The program's time, of onnxruntime's; infinite where that is unknown, or the program is not used."""
        return self.program_ms / self.base_ms if self.usable and self.base_ms else inf

    def suffices(self, budget: float) -> bool:
        """Whether a search with `budget` seconds would find nothing better."""
        return self.budget >= ENOUGH * budget


@dataclass(frozen=True)
class ProgramFiles:
    """Where the program of one specialisation is kept."""

    archive: Path

    @staticmethod
    def of(digest: str, options: Options, folder: Path) -> ProgramFiles:
        """In the cache folder `folder`, for the model with that digest. The time budget is no part of it: a longer
        search replaces what a shorter one found."""
        asked = {
            "threads": options.thread_count,
            "numerics": options.numerics,
            "shapes": {name: list(shape) for name, shape in sorted(options.shapes.items())},
            "values": dict(sorted(options.values.items())),
        }
        facts = [digest, json.dumps(asked), korch.__version__, cpu_model()]
        name = hashlib.sha256("|".join(facts).encode()).hexdigest()[:32]
        return ProgramFiles(folder / FOLDER / f"{name}.korch")

    @property
    def lock(self) -> Path:
        """Held while the program is made."""
        return self.archive.with_suffix(".lock")

    @property
    def _outcome(self) -> Path:
        return self.archive.with_suffix(".json")

    @property
    def _sketch(self) -> Path:
        return self.archive.with_suffix(".sketch")

    def outcome(self) -> Outcome | None:
        """The recorded outcome; None where there is none, or where the program is gone."""
        try:
            found = Outcome.from_json(self._outcome.read_text())
        except (OSError, ValueError, TypeError):
            return None
        return found if not found.usable or self.archive.is_file() else None

    def sketch(self) -> Sketch:
        """The sketch of the program's plan; empty where there is none, or one of another form."""
        from korch.backends.contract import Variant
        from korch.search.transfer import SketchStep

        try:
            steps = json.loads(self._sketch.read_text())
            return tuple(SketchStep(b, Variant.from_json(v), tuple(p), s) for b, v, p, s in steps)
        except (OSError, ValueError, TypeError, KeyError):
            return ()

    def open(self) -> Executable | None:
        """The program, if it fits this machine and this version."""
        from korch.executable import load

        try:
            return load(self.archive)
        except (ArchiveError, OSError):
            return None

    def keep(self, outcome: Outcome, executable: Executable | None = None, sketch: Sketch = ()) -> None:
        """Stores the program with its sketch, and the outcome, each wholly or not at all; ArchiveError or OSError where
        that fails."""
        self.archive.parent.mkdir(parents=True, exist_ok=True)
        if executable:
            executable.save(self.archive)
            with replaced(self._sketch) as file:
                steps = [[s.backend, s.variant.to_json(), s.primitives, s.slowness] for s in sketch]
                file.write(json.dumps(steps).encode())
        with replaced(self._outcome) as file:
            file.write(outcome.to_json().encode())


def kept_archives(folder: Path) -> list[Path]:
    """The archives in the cache folder `folder`."""
    return sorted(f for f in (folder / FOLDER).glob("*.korch") if _OURS.fullmatch(f.name))


def clear_archives(folder: Path) -> int:
    """Removes them; how many there were."""
    found = kept_archives(folder)
    beside = [f for pattern in ("*.lock", "*.json", "*.sketch", ".*") for f in (folder / FOLDER).glob(pattern)]
    for file in (*found, *beside):
        with suppress(FileNotFoundError):
            file.unlink()
    return len(found)
