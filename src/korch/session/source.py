"""The model of a session: a file or bytes, its digest, and the files that it refers to."""

from __future__ import annotations

import hashlib
import mmap
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from korch.errors import ModelError, UnreadableModel
from korch.system.folders import owned_folder, removed_with
from korch.system.processor import memory_bytes

if TYPE_CHECKING:
    import onnx

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
    def locations(self) -> tuple[str, ...]:
        """The names of the files that hold weights of the model beside it; ModelError where one is there, but is no
        regular file in the model's folder: whoever reads it may wait forever."""
        return tuple(sorted(self._external))

    @cached_property
    def _external(self) -> dict[str, list[onnx.TensorProto]]:
        """The tensors whose bytes are in other files, by the names of these. A model of bytes has none: only
        onnxruntime reads its external data, from the working directory."""
        if isinstance(self.model, bytes):
            if _EXTERNAL in self.model:
                external_tensors(self.model, Path("model"))
            return {}
        return external_tensors(self.model, self.model) if _mentions(self.model, _EXTERNAL) else {}

    @cached_property
    def digest(self) -> str:
        """Of all bytes of the model, those in other files included."""
        if isinstance(self.model, bytes):
            return hashlib.sha256(self.model).hexdigest()
        others = (_external_digest(self.model, name, self._external[name]) for name in self.locations)
        found = [_digest(self.model), *others]
        return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()


def _missing() -> str:
    """The digest of a file that cannot be read, which is that of no other: it may be readable a moment later, and its
    program must not be another model's. Reading the model reports it better."""
    return f"missing {secrets.token_hex(16)}"


def _digest(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return _missing()


def _external_digest(model: Path, location: str, tensors: Sequence[onnx.TensorProto]) -> str:
    """The digest of what tensors read of a regular file beside the model: a sparse file may be of any size. More than
    memory holds is never read."""
    from korch.fission.importer.external import opened, regions

    total = hashlib.sha256()
    try:
        with opened(model, location, location) as file:
            read = sorted(set(regions(tensors, file)))
            if sum(length for _, length in read) > memory_bytes():
                return _missing()
            for offset, length in read:
                total.update(f"{offset} {length} ".encode())
                file.seek(offset)
                while length > 0 and (part := file.read(min(length, _PART))):
                    total.update(part)
                    length -= len(part)
    except (ModelError, OSError):
        return _missing()
    return total.hexdigest()


_PART = 1 << 20
"""Bytes that are read at a time."""


def external_tensors(source: bytes | Path, path: Path) -> dict[str, list[onnx.TensorProto]]:
    """The tensors of the model in `source`, as if at `path`, whose bytes are in other files, by the names of these.
    ModelError where a file is there, but may not be read. Empty for an unreadable model."""
    # onnx takes tens of MB, which most sessions do without
    from korch.fission.importer.external import MissingData, is_external, location_of, opened
    from korch.fission.importer.load import parsed, tensors_of

    try:
        model = parsed(source)
    except UnreadableModel:  # its digest would be that of a model without them
        raise
    except ModelError:
        return {}
    found: dict[str, list[onnx.TensorProto]] = {}
    for t in (t for part in (model.graph, *model.functions) for t in tensors_of(part) if is_external(t)):
        found.setdefault(location_of(t), []).append(alone := type(t)())
        alone.CopyFrom(t)  # the rest of the model may go
    for location, tensors in found.items():
        with suppress(MissingData), opened(path, location, tensors[0].name):  # reading the model reports it better
            pass
    return found


def _mentions(path: Path, text: bytes) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return mapped.find(text) >= 0
    except (FileNotFoundError, IsADirectoryError, PermissionError, ValueError):  # no file, or an empty one
        return False
    except OSError as e:
        raise UnreadableModel(f"{path}: cannot be read: {e.strerror or e}") from e
