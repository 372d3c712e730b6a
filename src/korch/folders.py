"""Private folders that go when their owner does, and files that appear whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """A new file to be written, which takes the place of `path` at the end of the block: whoever has the old one open
    keeps it. Where the block fails, nothing has changed."""
    handle, partial = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(partial, 0o666 & ~_umask())
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def removed_with(owner: object, folder: Path) -> weakref.finalize:
    """Removes `folder` when `owner` is collected, at the exit at the latest; never by a fork of this process, which has
    a copy of the owner."""
    return weakref.finalize(owner, _remove, folder, os.getpid())


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
