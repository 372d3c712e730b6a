"""Programs kept between runs, found again by the model's digest and the options, and what became of making them."""

from __future__ import annotations

import hashlib
import json
import os
import re
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from korch.errors import ArchiveError, CacheError, DamagedArchive
from korch.options import ENOUGH, Options
from korch.system.digest import package_digest
from korch.system.folders import ARCHIVES, replaced
from korch.system.private import check_private, private_folder
from korch.system.processor import cpu_model

if TYPE_CHECKING:  # what loads programs is imported with the first of them: a session's start is onnxruntime's
    from korch.executable import Executable
    from korch.search.transfer import Sketch

_OURS = re.compile(r"[0-9a-f]{32}\.korch")


@dataclass(frozen=True)
class Outcome:
    """The result of making a specialisation. `budget`: seconds that its search could take. `base_ms`, `program_ms`: a
    run by onnxruntime and by the program, side by side. `reason`: why the program is not used; empty where it is.
    `needs`: inputs whose values decide what is computed, and were not given. `varies`: whether onnxruntime runs parts
    of the program, whose time may depend on the data. `program`: the identity of the archive that was judged; empty
    where none is kept."""

    budget: float
    base_ms: float = 0.0
    program_ms: float = 0.0
    reason: str = ""
    needs: tuple[str, ...] = ()
    varies: bool = False
    program: str = field(default="", compare=False)

    @staticmethod
    def from_json(text: str) -> Outcome:
        """ValueError, TypeError or KeyError where the text is no outcome."""
        fields: dict[str, Any] = json.loads(text)
        fields["needs"] = tuple(fields["needs"])
        found = Outcome(**fields)
        for name, kind in _KINDS.items():
            if not isinstance(getattr(found, name), kind):
                raise TypeError(f"{name} is no {kind}")
        return found

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


_KINDS = {
    "budget": int | float,
    "base_ms": int | float,
    "program_ms": int | float,
    "reason": str,
    "needs": tuple,
    "varies": bool,
    "program": str,
}


def archives_folder(folder: Path) -> Path:
    """Where the cache folder `folder` keeps archives, made where it is missing; CacheError where another user could
    change what is there, OSError where it cannot be made."""
    return private_folder(private_folder(folder) / ARCHIVES)


@dataclass(frozen=True)
class ProgramFiles:
    """Where the program of one specialisation is kept."""

    archive: Path

    @staticmethod
    def of(digest: str, options: Options, folder: Path) -> ProgramFiles:
        """In the cache folder `folder`, for the model with that digest and this very code. The time budget is no part
        of it: a longer search replaces what a shorter one found."""
        asked = {
            "threads": options.thread_count,
            "numerics": options.numerics,
            "shapes": {name: list(shape) for name, shape in sorted(options.shapes.items())},
            "values": dict(sorted(options.values.items())),
        }
        facts = [digest, json.dumps(asked), package_digest(), cpu_model()]
        name = hashlib.sha256("|".join(facts).encode()).hexdigest()[:32]
        return ProgramFiles(folder / ARCHIVES / f"{name}.korch")

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
        """The recorded outcome; None where there is none, where another user may have written it, or where its program
        is gone or another one."""
        from korch.executable.archive import identity

        try:
            found = Outcome.from_json(check_private(self._outcome).read_text())
            if found.usable and identity(check_private(self.archive)) != found.program:
                return None
            return found
        except (CacheError, ArchiveError, OSError, ValueError, TypeError, KeyError):
            return None

    def sketch(self) -> Sketch:
        """The sketch of the program's plan; empty where there is none, or one of another form."""
        from korch.backends.contract import Variant
        from korch.search.transfer import SketchStep

        try:
            steps = json.loads(check_private(self._sketch).read_text())
            return tuple(SketchStep(str(b), Variant.from_json(v), tuple(p), float(s)) for b, v, p, s in steps)
        except (CacheError, OSError, ValueError, TypeError, KeyError, AttributeError):
            return ()

    def open(self) -> Executable | None:
        """The program, if it fits this machine; a damaged one is removed with its outcome, so that it is made again."""
        from korch.executable import load

        try:
            found = load(self.archive)
            os.utime(self.archive)  # those that are used least recently go first
            return found
        except DamagedArchive:
            self.remove()
        except (ArchiveError, OSError):
            pass
        return None

    def remove(self) -> None:
        """Forgets the program and its outcome."""
        for file in (self._outcome, self._sketch, self.archive):
            with suppress(OSError):
                file.unlink()

    def keep(self, outcome: Outcome, executable: Executable | None = None, sketch: Sketch = ()) -> None:
        """Stores the program with its sketch, and the outcome, each wholly or not at all; CacheError, ArchiveError or
        OSError where that fails."""
        from korch.executable.archive import identity

        archives_folder(self.archive.parent.parent)
        if executable:
            executable.save(self.archive, private=True)
            outcome = replace(outcome, program=identity(self.archive))
            with replaced(self._sketch, private=True) as file:
                steps = [[s.backend, s.variant.to_json(), s.primitives, s.slowness] for s in sketch]
                file.write(json.dumps(steps).encode())
        with replaced(self._outcome, private=True) as file:
            file.write(outcome.to_json().encode())


def kept_archives(folder: Path) -> list[Path]:
    """The archives in the cache folder `folder`."""
    return sorted(f for f in (folder / ARCHIVES).glob("*.korch") if _OURS.fullmatch(f.name))


def clear_archives(folder: Path) -> int:
    """Removes them; how many there were."""
    found = kept_archives(folder)
    beside = [f for pattern in ("*.lock", "*.json", "*.sketch", ".*") for f in (folder / ARCHIVES).glob(pattern)]
    for file in (*found, *beside):
        with suppress(FileNotFoundError):
            file.unlink()
    return len(found)
