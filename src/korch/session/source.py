"""The model of a session: a file or bytes, its digest, and the files that it refers to."""

from __future__ import annotations

import hashlib
import mmap
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from korch.errors import ModelError
from korch.system.folders import owned_folder, removed_with

_EXTERNAL = b"location"
"""The key in a model's protobuf under which tensors name other files; a model without it needs no parsing."""


@dataclass(eq=False)
class ModelSource:
    """A model as a session is given it. Digest and file are made when they are first needed."""

    model: Path | bytes

    @cached_property
    def file(self) -> Path:
        """The model as a file; bytes are written to a private folder that goes with this object."""
        if isinstance(self.model, Path):
            return self.model
        folder = owned_folder("korch-model-")
        removed_with(self, folder)
        file = folder / "model.onnx"
        file.write_bytes(self.model)
        _ = self.digest
        self.model = file  # the bytes may go
        return file

    @cached_property
    def digest(self) -> str:
        """Of all bytes of the model, those in other files included."""
        if isinstance(self.model, bytes):
            return hashlib.sha256(self.model).hexdigest()
        found = [_digest(file) for file in (self.model, *external_files(self.model))]
        return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return "missing"  # reading the model reports it better


def external_files(path: Path) -> list[Path]:
    """Files that hold weights of the model at `path`."""
    if not _mentions(path, _EXTERNAL):
        return []
    from korch.fission.importer.load import load, tensors_of  # onnx takes tens of MB, which most sessions do without

    try:
        model = load(path)
    except ModelError:
        return []
    tensors = (t for part in (model.graph, *model.functions) for t in tensors_of(part))
    names = {e.value for t in tensors for e in t.external_data if e.key == "location"}
    return [path.parent / name for name in sorted(names)]


def _mentions(path: Path, text: bytes) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return mapped.find(text) >= 0
    except (OSError, ValueError):  # no file, or an empty one
        return False
