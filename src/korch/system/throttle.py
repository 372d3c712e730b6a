"""Pauses of a process that works in the background, while the process that it works for is busy.

A low priority is not enough: threads that wait for each other are held up by whatever runs on one of their processors.
(Calls of 11 ms took 41 beside a search of the lowest priority.)
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, local

REST = 4.0
"""Seconds of rest for each second of work: the median of calls is then one that nothing disturbs."""

_lock = Lock()
_flag: Path | None = None
_resting, _since, _rested = 0, 0.0, 0.0
_own = local()
"""`owed`: seconds that this thread is to rest when it holds no lock any more; None while it holds none."""


def follow(flag: Path) -> None:
    """From now on this process rests after each piece of work while the file exists."""
    global _flag
    _flag = flag


def now() -> float:
    """time.monotonic() without the rests: what deadlines are measured by."""
    with _lock:
        return (_since if _resting else time.monotonic()) - _rested


def asleep() -> float:
    """Seconds for which the machine has been suspended since it started, as far as the system tells."""
    if not hasattr(time, "CLOCK_BOOTTIME"):
        return 0.0
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)


@contextmanager
def paced() -> Generator[None]:
    """A piece of work, after which this thread rests if the process that it works for is busy."""
    start = time.monotonic()
    try:
        yield
    finally:
        if _flag is not None and _flag.exists():
            seconds = REST * (time.monotonic() - start)
            if _owed() is None:
                _rest(seconds)
            else:
                _own.owed += seconds


@contextmanager
def resting_after() -> Generator[None]:
    """A block in which this thread holds what others wait for: its rests come at the end. (Searches beside a server
    waited for a lock whose owner rested.)"""
    before, _own.owed = _owed(), _owed() or 0.0
    try:
        yield
    finally:
        owed, _own.owed = _own.owed, before
        if before is not None:
            _own.owed = owed
        elif owed:
            _rest(owed)


def _owed() -> float | None:
    return getattr(_own, "owed", None)


def _rest(seconds: float) -> None:
    """Threads that rest at the same time stop the clock once."""
    global _resting, _since, _rested
    with _lock:
        _since = _since if _resting else time.monotonic()
        _resting += 1
    try:
        time.sleep(seconds)
    finally:
        with _lock:
            _resting -= 1
            if not _resting:
                _rested += time.monotonic() - _since
