"""Archives kept between runs, found again by the model's digest and the options."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

import korch
from korch.errors import ArchiveError, Error
from korch.executable import Executable, load
from korch.executable.manifest import cpu_model
from korch.fission.importer.load import tensors_of
from korch.options import Options
from korch.profile import default_folder

log = logging.getLogger(__name__)

Source = str | Path | bytes | onnx.ModelProto
FOLDER = "archives"
_OURS = re.compile(r"[0-9a-f]{32}\.korch")


def recall(path: Path) -> Executable | None:
    """The program kept at `path`; None where there is none that fits this machine and this version.

    A program that errs more than its numerics allow is one all the same, as when it was made; the log says so again.
    """
    try:
        if not path.is_file():
            return None
        executable = load(path)
    except (ArchiveError, OSError) as e:
        log.warning("%s; the model is optimised anew", e)
        return None
    if (accuracy := executable.plan.accuracy) and not accuracy.passed:
        log.warning("%s: an earlier search found nothing that errs less", accuracy.text(executable.plan.numerics))
    return executable


def keep(executable: Executable, path: Path) -> None:
    """Stores the program; a cache that cannot be written costs the next start its speed, nothing else."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        executable.save(path)
    except (OSError, Error) as e:
        log.warning("the program is not kept: %s", e)


def place_of(model: Source, options: Options) -> Path:
    """Where the program of `model` under `options` is kept."""
    asked = {"threads": options.thread_count, "budget": options.time_budget, "numerics": options.numerics,
             "shapes": {name: list(shape) for name, shape in sorted(options.shapes.items())}}  # fmt: skip
    facts = [_digest(model), json.dumps(asked), korch.__version__, cpu_model()]
    return default_folder() / FOLDER / f"{hashlib.sha256('|'.join(facts).encode()).hexdigest()[:32]}.korch"


def _digest(model: Source) -> str:
    """Of all bytes of the model, those in other files included."""
    if isinstance(model, onnx.ModelProto):
        return hashlib.sha256(model.SerializeToString(deterministic=True)).hexdigest()
    if isinstance(model, bytes):
        return hashlib.sha256(model).hexdigest()
    digest = hashlib.sha256()
    for file in [Path(model), *_other_files(Path(model))]:
        try:
            with file.open("rb") as opened:
                digest.update(hashlib.file_digest(opened, "sha256").digest())
        except OSError:
            digest.update(b"missing")  # whoever reads the model says so better
    return digest.hexdigest()


def _other_files(path: Path) -> list[Path]:
    """Files that hold weights of the model."""
    try:
        model = onnx.load(path, load_external_data=False)
    except (OSError, DecodeError):
        return []
    tensors = (t for part in (model.graph, *model.functions) for t in tensors_of(part))
    names = {e.value for t in tensors for e in t.external_data if e.key == "location"}
    return [path.parent / name for name in sorted(names)]


def kept_archives(folder: Path) -> list[Path]:
    """The archives in the cache folder `folder`."""
    return sorted(f for f in (folder / FOLDER).glob("*.korch") if _OURS.fullmatch(f.name))


def clear_archives(folder: Path) -> int:
    """Removes them; how many there were."""
    found = kept_archives(folder)
    for file in (*found, *(folder / FOLDER).glob("*.lock"), *(folder / FOLDER).glob(".*.korch.*")):
        file.unlink(missing_ok=True)
    return len(found)
