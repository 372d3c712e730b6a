"""Private folders that go when their owner does, files that appear whole or not at all, and the cache folder."""

from __future__ import annotations

import atexit
import os
import secrets
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from korch.errors import CacheError, FolderError
from korch.system.guardian import MARK, owner, remove_orphans

try:
    import fcntl
except ImportError:  # Windows: folders of processes that were killed stay
    fcntl = None


@contextmanager
def replaced(path: Path, private: bool = False) -> Generator[IO[bytes]]:
    """A new file to be written, which takes the place of `path`, and its permissions, at the end of the block: whoever
    has the old one open keeps it. Where the block fails, nothing has changed; after it, a power cut changes nothing
    either. A `private` file can be read and written by this user only.
    """
    partial = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        opened = os.open(partial, _NEW, 0o600 if private else 0o666)  # else the permissions that any new file gets
        with open(opened, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if not private:
            with suppress(FileNotFoundError):
                partial.chmod(stat.S_IMODE(path.stat().st_mode))
        partial.replace(path)
        _sync(path.parent)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def _sync(folder: Path) -> None:
    """Writes the names of `folder` to the disk. The file systems that cannot do that refuse it."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


ARCHIVES = "archives"
"""The folder of programs in the cache folder."""
_marks: dict[Path, IO[bytes]] = {}
"""Open files of the folders that are ours, which are locked for as long."""


def owned_folder(prefix: str) -> Path:
    """A new private folder among temporary ones; its name begins with `prefix`, which begins with `korch-`.

    It is somebody's for as long as this process lives, or a fork of it. Those that are nobody's go: processes that are
    killed leave theirs, weights and all. FolderError where it cannot be made.
    """
    if not _marks:
        remove_orphans(Path(tempfile.gettempdir()))
    try:
        folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{owner()}-"))
    except OSError as e:
        raise FolderError(f"cannot make a private folder: {e.strerror or e}; set TMPDIR to one with room") from None
    if fcntl:
        with suppress(OSError):
            _marks[folder] = mark = (folder / f"{MARK}.new").open("wb")
            fcntl.flock(mark, fcntl.LOCK_EX)
            (folder / f"{MARK}.new").replace(folder / MARK)  # who finds it, finds it locked
    return folder


def removed_with(owner: object, folder: Path) -> weakref.finalize[[Path, int], object]:
    """Removes `folder` when `owner` is collected, at the exit at the latest; never by a fork of this process, which has
    a copy of the owner."""
    return weakref.finalize(owner, _remove, folder, os.getpid())


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        discard(folder)


def discard(folder: Path) -> None:
    """Removes a folder that is ours; at the exit where that is not possible now, as with too many open files."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        atexit.register(_remove_rest, folder, os.getpid())
    if mark := _marks.pop(folder, None):
        mark.close()


def _remove_rest(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def default_folder() -> Path:
    """$KORCH_CACHE_DIR, else the platform's place for a user's caches."""
    if named := os.environ.get("KORCH_CACHE_DIR"):
        return Path(named)
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "korch"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "korch" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "korch"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise CacheError("this user has no home folder: set KORCH_CACHE_DIR to a folder for measurements") from None
