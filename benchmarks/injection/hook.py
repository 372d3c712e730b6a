"""Decides which call of the C library, or of SQLite, fails in this process.

A *site* is a kind of call with the frames of Korch above it. A process logs each call that could fail, a line each; of
a planned fault it fails the n-th call at one site, and all later calls of a lasting one. Imports nothing of Korch:
`sitecustomize.py` arms it in children before they do.
"""

from __future__ import annotations

import atexit
import ctypes
import errno
import json
import os
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

SHIM, PLAN = "KORCH_FAULTS_SHIM", "KORCH_FAULTS_PLAN"
"""Variables with the preloaded library, and with the plan of a child."""
ERRORS: dict[str, tuple[int, ...]] = {
    "open": (errno.ENOSPC, errno.EMFILE),
    "read": (errno.EMFILE, errno.EIO),
    "write": (errno.ENOSPC, errno.EIO),
    "fsync": (errno.EIO,),
    "lock": (errno.ENOLCK,),
    "rename": (errno.EIO,),
    "mkdir": (errno.ENOSPC,),
    "chmod": (errno.EPERM,),
    "fork": (errno.EAGAIN, errno.ENOMEM),
    "pipe": (errno.EMFILE,),
    "thread": (errno.EAGAIN,),
    "mmap": (errno.ENOMEM,),
    "load": (errno.ENOMEM,),
    "sqlite": (errno.ENOSPC,),
}
"""The errors with which each kind of call fails."""
LASTING = frozenset({errno.ENOSPC, errno.EMFILE})
"""Those that stay: a full disk, too many open files."""
FIRED = "!"
_KORCH = f"{os.sep}korch{os.sep}"
_FRAMES = 5
"""Innermost frames of Korch by which sites differ."""
_HOOK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)


@dataclass(frozen=True)
class Plan:
    """Which call of a process fails. `number`: of those at the site, from 1; 0 for none. `error`: an errno. `role`: a
    text in the command of the child that it is for; empty for the process itself."""

    root: str
    log: str
    site: str = ""
    number: int = 0
    error: int = 0
    lasting: bool = False
    role: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @property
    def kind(self) -> str:
        return self.site.partition(" ")[0]


class _Decision:
    def __init__(self, plan: Plan) -> None:
        self.plan, self.counts, self.lasts, self.armed = plan, Counter[str](), False, True
        self.log = os.open(plan.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def error_of(self, kind: str) -> int:
        """The errno with which this call fails; 0 where it does not."""
        if not self.armed or not (site := _site(kind)):
            return 0
        self.counts[site] += 1
        plan = self.plan
        hit = site == plan.site and self.counts[site] == plan.number
        self.lasts = self.lasts or (hit and plan.lasting)
        fails = hit or (self.lasts and plan.error in ERRORS[kind])
        os.write(self.log, f"{FIRED if fails else ''}{site}\n".encode())
        return plan.error if fails else 0


def _site(kind: str) -> str:
    """The kind and the innermost frames of Korch; empty where none of them called."""
    names = list[str]()
    frame = sys._getframe(1)
    while frame is not None and len(names) < _FRAMES:
        if _KORCH in (file := frame.f_code.co_filename):
            names.append(f"{file.rpartition(_KORCH)[2]}:{frame.f_code.co_name}")
        frame = frame.f_back
    return f"{kind} {' < '.join(names)}" if names else ""


_kept: list[object] = []
"""Callbacks that C calls: they must not be collected."""


def arm(plan: Plan) -> Callable[[], None]:
    """From now on calls of this process are logged, and the planned one fails, until the result is called."""
    decision = _Decision(plan)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True

    def hook(kind: bytes, path: bytes) -> int:
        try:
            return decision.error_of(kind.decode())
        except BaseException:  # the interpreter ends
            return 0

    _kept.append(callback := _HOOK(hook))
    connect = sqlite3.connect
    sqlite3.connect = lambda *a, **k: connect(*a, factory=_connection(decision), **k)
    import subprocess

    subprocess._USE_VFORK = False  # returns twice, which no preloaded function may
    ctypes.CDLL(os.environ[SHIM]).faults_arm(callback, os.fsencode(plan.root))
    return lambda: setattr(decision, "armed", False)


def _connection(decision: _Decision) -> type[sqlite3.Connection]:
    def check() -> None:
        if decision.error_of("sqlite"):
            raise sqlite3.OperationalError("database or disk is full")

    class Connection(sqlite3.Connection):
        def __init__(self, *arguments: object, **named: object) -> None:
            check()
            super().__init__(*arguments, **named)

        def execute(self, *arguments: object) -> sqlite3.Cursor:
            check()
            return super().execute(*arguments)

        def executescript(self, text: str) -> sqlite3.Cursor:
            check()
            return super().executescript(text)

    return Connection


def arm_child() -> None:
    """Arms this process where it is the child that a plan in the environment is for."""
    if not (text := os.environ.get(PLAN)):
        return
    plan = Plan(**json.loads(text))
    command = Path("/proc/self/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    if plan.role in command:
        atexit.register(arm(plan))
