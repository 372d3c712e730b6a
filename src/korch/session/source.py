"""The model of a session: a file or bytes, its digest, and the files that it refers to."""

from __future__ import annotations

import hashlib
import mmap
import secrets
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from korch.errors import ModelError, UnreadableModel
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
    def locations(self) -> tuple[str, ...]:
        """The names of the files that hold weights of the model beside it; ModelError where one is there, but is no
        regular file: whoever reads it may wait forever."""
        return () if isinstance(self.model, bytes) else external_locations(self.model)

    @cached_property
    def digest(self) -> str:
        """Of all bytes of the model, those in other files included."""
        if isinstance(self.model, bytes):
            return hashlib.sha256(self.model).hexdigest()
        found = [_digest(self.model), *(_external_digest(self.model, name) for name in self.locations)]
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


def _external_digest(model: Path, location: str) -> str:
    """The digest of a regular file beside the model."""
    from korch.fission.importer.external import opened

    try:
        with opened(model, location, location) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (ModelError, OSError):
        return _missing()


def external_locations(path: Path) -> tuple[str, ...]:
    """The names of files that hold weights of the model at `path`; ModelError where one is no regular file."""
    if not _mentions(path, _EXTERNAL):
        return ()
    # onnx takes tens of MB, which most sessions do without
    from korch.fission.importer.external import NoRegularFile, is_external, location_of, opened
    from korch.fission.importer.load import load, tensors_of

    try:
        model = load(path)
    except UnreadableModel:  # its digest would be that of a model without them
        raise
    except ModelError:
        return ()
    tensors = (t for part in (model.graph, *model.functions) for t in tensors_of(part))
    names = {location_of(t): t.name for t in tensors if is_external(t)}
    for location, name in names.items():
        try:
            with opened(path, location, name):
                pass
        except NoRegularFile:
            raise
        except ModelError:
            pass  # reading the model reports it better
    return tuple(sorted(names))


def _mentions(path: Path, text: bytes) -> bool:
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return mapped.find(text) >= 0
    except (FileNotFoundError, IsADirectoryError, PermissionError, ValueError):  # no file, or an empty one
        return False
    except OSError as e:
        raise UnreadableModel(f"{path}: cannot be read: {e.strerror or e}") from e
