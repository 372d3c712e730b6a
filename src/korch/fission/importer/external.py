"""External data: tensors whose bytes are regions of files in the model's folder.

`opened` is the one place that opens such a file. It opens first and checks the descriptor, so nothing can be exchanged
between check and read; and it opens without waiting, as a pipe would block it forever.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

import onnx

from korch import limits
from korch.errors import ModelError, UnreadableModel
from korch.fission.importer.sizes import dense_bytes

_READ = os.O_RDONLY | sum(getattr(os, f"O_{flag}", 0) for flag in ("NONBLOCK", "NOCTTY", "CLOEXEC", "BINARY"))
"""Not every system has all of these flags."""
_DESCRIPTORS = Path("/proc/self/fd")


class MissingData(ModelError):
    """The file of external data is not there."""


def is_external(t: onnx.TensorProto) -> bool:
    """Whether the tensor's bytes are in another file."""
    return t.data_location == onnx.TensorProto.EXTERNAL


def location_of(t: onnx.TensorProto) -> str:
    """The name of the file that a tensor with external data refers to; empty where it names none."""
    return _entries(t).get("location", "")


def fetch(tensors: Iterable[onnx.TensorProto], model: Path) -> None:
    """Moves the external data of tensors of the model in the file `model` into them. Each name is opened once, and each
    region of it is read once; a file may have several names.

    ModelError: a file that is missing, outside of the model's folder, no regular file or too short, and data that do
    not fit the tensor's shape.
    """
    files: dict[str, list[onnx.TensorProto]] = {}
    for t in tensors:
        files.setdefault(location_of(t), []).append(t)
    read = Counter[tuple[int, int]]()
    for location, readers in files.items():
        with opened(model, location, readers[0].name) as file:
            _fetch(file, location, readers, read)


def regions(tensors: Iterable[onnx.TensorProto], file: BufferedReader) -> list[tuple[int, int]]:
    """Offset and length of all that tensors read of the file; ModelError where one does not fit."""
    size = os.fstat(file.fileno()).st_size
    return [_region(t, location_of(t), size) for t in tensors]


def _fetch(
    file: BufferedReader, location: str, readers: list[onnx.TensorProto], read: Counter[tuple[int, int]]
) -> None:
    """Reads the file for those tensors. `read`: the bytes that were read of each file, by device and number."""
    about, wanted = os.fstat(file.fileno()), regions(readers, file)
    size, key = about.st_size, (about.st_dev, about.st_ino)
    read[key] += sum(length for _, length in wanted)
    if (total := read[key]) > limits.REGION_READS * size:
        much, there = limits.size_text(total), limits.size_text(size)
        raise ModelError(
            f"tensors read {much} of {location!r}, which has {there}: each byte may be read "
            f"{limits.REGION_READS} times; let them share an initializer"
        )
    last = {region: i for i, region in enumerate(wanted)}
    kept: dict[tuple[int, int], bytes] = {}
    for i, (t, region) in enumerate(zip(readers, wanted, strict=True)):
        data = kept[region] = kept.get(region) or _bytes(file, *region, t.name)
        t.raw_data = data
        del t.external_data[:]
        t.data_location = onnx.TensorProto.DEFAULT
        if last[region] == i:
            del kept[region]


def _region(t: onnx.TensorProto, location: str, size: int) -> tuple[int, int]:
    """Offset and length of the tensor's bytes in a file of `size` bytes."""
    entries = _entries(t)
    try:
        offset = int(entries.get("offset", 0))
        length = int(entries.get("length", size - offset))
    except ValueError as e:
        raise ModelError(f"the external data of {t.name!r} has a malformed offset or length") from e
    if offset < 0 or length < 0 or offset + length > size:
        raise ModelError(
            f"the external data of {t.name!r} ends at byte {offset + length} of {location!r}, which has {size}"
        )
    if length > (fits := dense_bytes(t.name, t.data_type, t.dims)):
        raise ModelError(f"initializer {t.name!r} is malformed: its shape needs {fits} bytes, its data have {length}")
    return offset, length


def _bytes(file: BufferedReader, offset: int, length: int, name: str) -> bytes:
    try:
        file.seek(offset)
        data = file.read(length)
    except OSError as e:
        raise ModelError(f"the external data of {name!r} cannot be read: {e.strerror or e}") from e
    if len(data) != length:
        raise ModelError(f"the external data of {name!r} became shorter while they were read")
    return data


@contextmanager
def opened(model: Path, location: str, name: str) -> Generator[BufferedReader]:
    """The file `location` beside the model, for the tensor `name`: a regular file in the model's folder, links
    followed; or, as in caches that keep files under other names and link to them, in the folder that the model itself
    is in. ModelError for others."""
    path, bases = _path(model, location, name)
    try:
        descriptor = os.open(path, _READ)
    except FileNotFoundError as e:
        raise MissingData(f"the external data of {name!r} is missing: {path}") from e
    except OSError as e:
        if e.errno == errno.ENAMETOOLONG:
            raise _unusable(location, name) from e
        raise UnreadableModel(f"the external data of {name!r} cannot be read: {path}: {e.strerror or e}") from e
    with open(descriptor, "rb") if _is_regular(descriptor) else _refused(descriptor, name, path) as file:
        link = _DESCRIPTORS / str(descriptor)
        if link.exists() and not _is_in(link.readlink(), bases):
            raise _outside(location, name)
        yield file


def _is_regular(descriptor: int) -> bool:
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def _path(model: Path, location: str, name: str) -> tuple[Path, tuple[Path, Path]]:
    """The path that `location` names, which is in one of the folders."""
    try:
        bases = model.parent.resolve(), model.resolve().parent
        path = (bases[0] / location).resolve()
    except (OSError, ValueError, RuntimeError, TypeError) as e:  # no name of a file, no text, or a link to itself
        raise _unusable(location, name) from e
    if not location or Path(location).is_absolute() or not _is_in(path, bases):
        raise _outside(location, name)
    return path, bases


def _is_in(path: Path, folders: Iterable[Path]) -> bool:
    return any(map(path.is_relative_to, folders))


def _outside(location: str, name: str) -> ModelError:
    return ModelError(f"the external data of {name!r} lies outside of the model's folder: {location[:200]!r}")


def _unusable(location: str, name: str) -> ModelError:
    return ModelError(f"the external data of {name!r} has no usable file name: {location[:40]!r}")


def _refused(descriptor: int, name: str, path: Path) -> BufferedReader:
    os.close(descriptor)
    raise ModelError(f"the external data of {name!r} is no regular file: {path}")


def _entries(t: onnx.TensorProto) -> dict[str, str]:
    return {e.key: e.value for e in t.external_data}
