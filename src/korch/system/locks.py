"""Locks between processes, held on files."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from korch.system.deadline import NEVER, Deadline
from korch.system.throttle import resting_after

try:
    import fcntl
except ImportError:  # Windows: processes there do without
    fcntl = None

PATIENCE = 120.0
"""Seconds after which one goes on without a lock."""
_PAUSE = 0.003  # seconds between two attempts
_in_vain: set[Path] = set()
"""What was waited for in vain: nobody waits for it again until it is free."""


@contextmanager
def locked(path: Path, shared: bool = False, patience: float = PATIENCE, until: Deadline = NEVER) -> Generator[None]:
    """Holds the lock `path`, alone or `shared`; after `patience` seconds of waiting, and at `until`, goes
    on without it.

    A stopped process may hold a lock for ever: costs may then be noisy, but tuning does not hang.
    """
    if fcntl is None:
        yield
        return
    with open(path, "a", opener=_private) as file:
        left, most = until.left, 0.0 if path in _in_vain else patience
        if _held(file.fileno(), fcntl.LOCK_SH if shared else fcntl.LOCK_EX, min(left, most)):
            _in_vain.discard(path)
        elif most <= left:
            _in_vain.add(path)
        yield


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _held(descriptor: int, kind: int, patience: float) -> bool:
    """Whether the lock was free within `patience` seconds."""
    assert fcntl
    end = Deadline.after(patience)
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if end.passed:
                return False
            time.sleep(_PAUSE)


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
