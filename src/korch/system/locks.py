"""Locks between processes, held on files."""

from __future__ import annotations

import errno
import logging
import os
import stat
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from korch.system.deadline import NEVER, Deadline
from korch.system.folders import default_folder
from korch.system.private import private_folder
from korch.system.throttle import resting_after

try:
    import fcntl
except ImportError:  # Windows: processes there do without
    fcntl = None

PATIENCE = 120.0
"""Seconds after which one goes on without a lock."""
_PAUSE = 0.003  # seconds between two attempts
SAID_AFTER = 10.0
"""Seconds of waiting after which a line says for whom."""
log = logging.getLogger(__name__)
_warned = set[Path]()
_in_vain: set[Path] = set()
"""What was waited for in vain: nobody waits for it again until it is free."""


@contextmanager
def locked(path: Path, shared: bool = False, patience: float = PATIENCE, until: Deadline = NEVER) -> Generator[None]:
    """Holds the lock `path`, alone or `shared`; after `patience` seconds of waiting, at `until`, and where the system
    has no lock to give, goes on without it.

    A stopped process may hold a lock for ever: costs may then be noisy, but tuning does not hang.
    """
    if fcntl is None:
        yield
        return
    descriptor = _taken(path, shared, patience, until)
    try:
        yield
    finally:
        _close(descriptor)


def _taken(path: Path, shared: bool, patience: float, until: Deadline) -> int | None:
    """A descriptor of the lock, which is held unless that took too long; None where a full disk, too many open files or
    a file system without locks refuse it."""
    assert fcntl
    descriptor = None
    try:
        descriptor = _opened(path)
        left, most = until.left, 0.0 if path in _in_vain else patience
        if _held(descriptor, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, min(left, most), path):
            _in_vain.discard(path)
        elif most <= left:
            log.warning("going on without the lock %s after %.0f s: costs may be noisy", path, most)
            _in_vain.add(path)
        return descriptor
    except OSError as e:
        log.warning("going on without the lock %s (%s): costs may be noisy", path, e.strerror or e)
    except BaseException:
        _close(descriptor)
        raise
    _close(descriptor)
    return None


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)


def _opened(path: Path) -> int:
    """A descriptor of the lock; of one in the user's own folder where another user has spoilt one among the temporary
    files, which a line says once."""
    try:
        return _checked(path)
    except OSError as e:
        if path.parent != Path(tempfile.gettempdir()):
            raise
        other = default_folder() / path.name
        if path not in _warned:
            _warned.add(path)
            log.warning("the lock %s cannot be used (%s): %s is used instead", path, e.strerror or e, other)
        private_folder(other.parent)
        return _checked(other)


def _checked(path: Path) -> int:
    """A descriptor of a plain file of this user, which nobody else can lock; OSError where it is another thing."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1:
            raise OSError(errno.EINVAL, "it is no plain file")
        if path.parent == Path(tempfile.gettempdir()):
            if about.st_uid != os.getuid():
                raise PermissionError(errno.EPERM, "it is another user's")
            os.fchmod(descriptor, 0o600)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _held(descriptor: int, kind: int, patience: float, path: Path | None = None) -> bool:
    """Whether the lock was free within `patience` seconds. A line says for whom others wait long."""
    assert fcntl
    end, said = Deadline.after(patience), Deadline.after(SAID_AFTER)
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if end.passed:
                return False
            if path and said.passed:
                said = NEVER
                if holders := _holders(descriptor):
                    log.warning("waiting for the lock %s, held by %s", path, " and ".join(holders))
            time.sleep(_PAUSE)


def _holders(descriptor: int) -> list[str]:
    """The other processes that hold the lock, as far as Linux tells: their numbers and commands."""
    inode, found = str(os.fstat(descriptor).st_ino), list[str]()
    with suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            fields = line.split()
            holds = fields[1] == "FLOCK" and fields[5].endswith(f":{inode}")  # who waits has an arrow there
            if holds and fields[4] != str(os.getpid()):
                found.append(_process(fields[4]))
    return found


def _process(number: str) -> str:
    try:
        command = Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        command = ""
    return f"process {number} ({command[:80]})" if command else f"process {number}"


@contextmanager
def machine_held(path: Path, shared: bool = False, until: Deadline = NEVER) -> Generator[None]:
    """Holds a machine's lock; a process in the background rests after it, not meanwhile."""
    with resting_after(), locked(path, shared, until=until):
        yield


def machine_lock() -> Path:
    """What whoever times something on this machine holds, whichever cache it fills; shared by those whose work would
    spoil that."""
    user = os.getuid() if hasattr(os, "getuid") else "all"
    return Path(tempfile.gettempdir()) / f"korch-machine-{user}.lock"
