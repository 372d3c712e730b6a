"""A process that ends the children of a killed process, and removes its folders.

`python -I -S guardian.py PID OWNER FOLDER` waits for the end of PID. It then kills all processes with OWNER in their
variable `KORCH_OWNERS`. Children inherit that, grandchildren such as cc1 included, in whatever session they are. The
death signal of Linux (PR_SET_PDEATHSIG) is not enough: it comes when a thread ends, and does not reach grandchildren.

Imports only the standard library, so that it starts in milliseconds.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: folders of processes that were killed stay
    fcntl = None

OWNERS = "KORCH_OWNERS"
"""The variable with all processes of which one is a descendant, as `owner` names them, with spaces between."""
MARK = ".korch-owner"
"""The file in a folder that its owner has locked for as long as it lives."""
PROCESSES = Path("/proc")
_PAUSE, _QUIET_LOOKS, _MOST_LOOKS = 0.1, 10, 300
"""Seconds between two looks for processes, and how many in a row find none at the end: a child that was being started
when its parent was killed gets its variables a moment later. A process that cannot be killed is given up."""
_POLL = 0.2  # seconds, where the system has no descriptors of processes
_UNMARKED = 3600.0
"""Seconds for which a folder without a mark stays: its owner may be in another container with the same folder."""


def owner() -> str:
    """This process's number and the time at which it started: no other process has had both."""
    return f"{os.getpid()}-{_started(os.getpid())}"


def _started(process: int) -> str:
    """In ticks since the system started; empty where there is no such process, or none can be asked for."""
    try:
        return (PROCESSES / str(process) / "stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _descendants(owner: str) -> Iterator[int]:
    """The processes with `owner` among their owners."""
    for folder in PROCESSES.glob("[0-9]*"):
        with suppress(OSError):  # another user's, or it has ended
            variables = (folder / "environ").read_bytes().split(b"\0")
            named = [v.partition(b"=")[2] for v in variables if v.startswith(f"{OWNERS}=".encode())]
            if named and owner.encode() in named[0].split():
                yield int(folder.name)


def _end_descendants(owner: str) -> None:
    quiet = 0
    for _ in range(_MOST_LOOKS):
        found = list(_descendants(owner))
        for process in found:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
        quiet = 0 if found else quiet + 1
        if quiet == _QUIET_LOOKS:
            return
        time.sleep(_PAUSE)


def remove_orphans(parent: Path, of: str = "") -> None:
    """Removes Korch's folders in `parent` that are nobody's: nobody has locked their mark. Those without a mark go when
    their owner is `of`, or an hour old and no process here."""
    if not fcntl:
        return
    with suppress(OSError):  # of a file system that is gone
        for folder in parent.glob("korch-*-*"):
            with suppress(OSError):  # another has locked it, or removed it meanwhile
                about = folder.lstat()
                if stat.S_ISDIR(about.st_mode) and about.st_uid == os.getuid():
                    _remove_orphan(folder, time.time() - about.st_mtime, of)


def _remove_orphan(folder: Path, age: float, of: str) -> None:
    assert fcntl
    try:
        mark = os.open(folder / MARK, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        pid, _, start = "-".join(folder.name.split("-")[-3:-1]).partition("-")
        named = pid.isdigit() and start.isdigit()
        if named and (of == f"{pid}-{start}" or (age > _UNMARKED and _started(int(pid)) != start)):
            shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(mark)


def _wait_for_end(parent: int) -> None:
    with suppress(OSError, AttributeError):
        descriptor = os.pidfd_open(parent)
        if os.getppid() == parent:
            select.select([descriptor], [], [])
    while os.getppid() == parent:
        time.sleep(_POLL)


def main(parent: int, owner: str, folder: Path) -> None:
    """Waits for the end of `parent`; see above."""
    _wait_for_end(parent)
    _end_descendants(owner)
    remove_orphans(folder, owner)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
