"""The members of an archive, which may come from a stranger: their number, names and sizes are checked before any is
read, and nothing is read that has not been checked."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from math import inf
from pathlib import Path

from korch.errors import ArchiveError, DamagedArchive, line_of

MOST_MEMBERS = 20_000
"""Programs for GPUs have some members for each kernel, of which the largest models have a thousand."""
MOST_DIRECTORY_BYTES = MOST_MEMBERS * 512
"""The directory of so many members with long names; `zipfile` reads it as a whole before anything can be checked."""
MOST_PACKED_BYTES = 1 << 31
"""Of all members that are compressed, unpacked: texts and graphs, which are read into memory. A plan has some
megabytes, a graph at most those of a protobuf; its zeros are packed a thousand times. Weights and programs are stored
as they are."""
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, LookupError, ValueError, RuntimeError, OverflowError)
"""Errors of `zipfile`, and of readers of its members, on damaged files."""
AGAIN = ": copy it again, or run `korch optimize` again"


class _Reader(io.FileIO):
    """A file of which no single read gives more than `most` bytes."""

    most: float = MOST_DIRECTORY_BYTES

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or size < 0:
            size = max(os.fstat(self.fileno()).st_size - self.tell(), 0)
        if size > self.most:
            raise zipfile.BadZipFile(f"its directory has more than {self.most:.0f} bytes")
        return super().read(size) or b""


@contextmanager
def opened(path: Path) -> Generator[zipfile.ZipFile]:
    """The archive, whose members have been checked; ArchiveError names what is wrong with them."""
    try:
        file = _Reader(path)
    except OSError as e:
        raise ArchiveError(f"cannot read {path}: {e.strerror or e}") from None
    with file:
        try:
            z = zipfile.ZipFile(file)
        except OSError as e:
            raise ArchiveError(f"cannot read {path}: {e.strerror or e}") from None
        except DAMAGE as e:
            raise DamagedArchive(f"{path} is not a Korch archive, or cut short ({line_of(e)}){AGAIN}") from None
        with z:
            if reason := _refusal(z.infolist(), path.stat().st_size):
                raise DamagedArchive(f"{path} is damaged: {reason}{AGAIN}")
            file.most = inf
            yield z


def _refusal(members: list[zipfile.ZipInfo], size: int) -> str:
    """Why an archive of `size` bytes with such members is not read; empty where it is."""
    if len(members) > MOST_MEMBERS:
        return f"it has {len(members)} members, at most {MOST_MEMBERS} are read"
    for member in members:
        if reason := _fault(member):
            return f"{member.orig_filename!r} {reason}"
    name, count = Counter(m.filename for m in members).most_common(1)[0] if members else ("", 1)
    if count > 1:
        return f"{name!r} is in it {count} times"
    if sum(m.compress_size for m in members) > size:
        return "its members have more bytes than the file"
    return texts_refusal(packed_bytes(members))


def texts_refusal(packed: int) -> str:
    """Why so many bytes of texts are not read; empty where they are."""
    return f"its texts have {packed} bytes, at most {MOST_PACKED_BYTES} are read" if packed > MOST_PACKED_BYTES else ""


def packed_bytes(members: Iterable[zipfile.ZipInfo]) -> int:
    """Bytes of all that are compressed, unpacked."""
    return sum(m.file_size for m in members if m.compress_type != zipfile.ZIP_STORED)


def _fault(member: zipfile.ZipInfo) -> str:
    """Why a member is not read; empty where it is. Its size is the declared one, and `zipfile` reads no byte more."""
    parts = member.orig_filename.split("/")
    if any(part in ("", ".", "..") for part in parts) or not member.orig_filename.isprintable():
        return "is no name of a file inside an archive"
    if any(c in member.orig_filename for c in "\\:"):
        return "is no name of a file inside an archive"
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        return "is no plain file"
    if member.compress_type == zipfile.ZIP_STORED:
        return "" if member.compress_size == member.file_size else "is stored with another size than its own"
    if member.compress_type != zipfile.ZIP_DEFLATED:
        return "is compressed otherwise than archives are"
    return ""
