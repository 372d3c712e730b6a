"""Locks between processes, held on files."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: processes there do without
    fcntl = None

_PAUSE = 0.003  # seconds between two attempts


@contextmanager
def locked(path: Path, shared: bool = False, patience: float = 60.0) -> Iterator[None]:
    """Holds the lock `path`, alone or `shared`; after `patience` seconds of waiting goes on without it.

    A stopped process may hold a lock for ever: costs may then be noisy, but tuning does not hang.
    """
    if fcntl is None:
        yield
        return
    with path.open("a") as file:
        _wait(file.fileno(), fcntl.LOCK_SH if shared else fcntl.LOCK_EX, patience)
        yield


def _wait(descriptor: int, kind: int, patience: float) -> None:
    assert fcntl
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE)


def machine_lock() -> Path:
    """What whoever times something on this machine holds, whichever cache it fills."""
    user = os.getuid() if hasattr(os, "getuid") else "all"
    return Path(tempfile.gettempdir()) / f"korch-machine-{user}.lock"
