"""The size of the cache folder is limited: programs that were used least recently go first, then old measurements."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from korch.errors import Error
from korch.profile.database import Database, own_files
from korch.system.folders import ARCHIVES

VARIABLE = "KORCH_CACHE_LIMIT"
USUAL = 10_000_000_000
"""Bytes of a cache folder where the user sets no limit."""
LEFT = 0.9
"""The share of the limit that is left, so that not every new program removes another."""
RECENT = 600.0
"""Seconds for which a program stays after its last use: the process that made it opens it next."""
ROUNDS = 10
"""Each of them removes half of the measurements."""
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Evictable:
    """Something that can be removed. `used`: in seconds since the epoch; `size`: in bytes."""

    used: float
    size: int
    remove: Callable[[], object]


def bytes_of(text: str) -> int:
    """`500MB`, `2.5 GB` or a plain number, in bytes; Error where it is none."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip(), re.IGNORECASE)
    if not found:
        raise Error(f"{text!r} is no size: write for example 500MB or 10GB")
    return int(float(found[1]) * _UNITS[found[2].upper()])


def limit() -> int:
    """Bytes that the cache folder may have, from $KORCH_CACHE_LIMIT; Error where that is no size."""
    try:
        return bytes_of(os.environ.get(VARIABLE) or str(USUAL))
    except Error as e:
        raise Error(f"{VARIABLE}: {e}") from None


def folder_bytes(folder: Path) -> int:
    """Bytes of everything that Korch keeps in the cache folder."""
    return sum(_size(file) for file in (*own_files(folder), *_archived(folder)))


def trim(database: Database, most: int | None = None, spared: float = RECENT) -> int:
    """Removes programs and plans that were not used within `spared` seconds, then the oldest measurements, until the
    cache folder has at most `most` bytes (else the limit). Returns the bytes that are left."""
    try:
        most = limit() if most is None else most
    except Error as e:
        log.warning("%s; the limit is %d bytes", e, USUAL)
        most = USUAL
    left = folder_bytes(database.folder)
    if left <= most:
        return left
    for kept in sorted(_evictable(database), key=lambda k: k.used):
        if left <= LEFT * most or time.time() - kept.used < spared:
            break
        kept.remove()
        left -= kept.size
    database.shrink()
    for _ in range(ROUNDS):
        if folder_bytes(database.folder) <= most:
            break
        database.forget_old_measurements()
        database.shrink()
    return folder_bytes(database.folder)


def _evictable(database: Database) -> Iterator[Evictable]:
    """Plans and libraries, archives with the files beside them, and databases of other schemas."""
    for table, key, size, used in database.contents():
        yield Evictable(used, size, partial(database.forget, table, key))
    for _, files in groupby(_archived(database.folder), _stem):
        yield _together(list(files))
    for file in own_files(database.folder):
        if file.name == "profile.lock" or file.name in {f"{database.file.name}{end}" for end in _PARTS}:
            continue
        yield _together([file])


_PARTS = ("", "-wal", "-shm", "-journal")
"""Files of an SQLite database."""


def _together(files: list[Path]) -> Evictable:
    def remove() -> None:
        for file in files:
            with suppress(OSError):
                file.unlink()

    return Evictable(max(map(_time, files)), sum(map(_size, files)), remove)


def _archived(folder: Path) -> list[Path]:
    """The files of the folder of archives; those of one program are neighbours."""
    return sorted((f for f in (folder / ARCHIVES).glob("*") if f.is_file()), key=_stem)


def _stem(file: Path) -> str:
    """The program's name: the names of unfinished files begin with a dot."""
    return file.name.lstrip(".").partition(".")[0]


def _size(file: Path) -> int:
    with suppress(OSError):  # another process has removed it
        return file.stat().st_size
    return 0


def _time(file: Path) -> float:
    with suppress(OSError):
        return file.stat().st_mtime
    return 0.0
