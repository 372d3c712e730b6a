"""Child processes: how they are started, with which variables, and how they end; folders for their files.

All of Korch's children start here. Each has a session of its own, so that the terminal's Ctrl-C does not reach it and
`end` reaches all that it has started; all end when this process does, however it ends (see `guardian`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from korch.system import guardian
from korch.system.folders import discard, owned_folder
from korch.system.guardian import OWNERS, owner

Stream = int | IO[bytes]
Child = subprocess.Popen[bytes]
_guarded = set[str]()
"""Owners that have a guardian: this process, and those of which it is a fork."""


def plain_environment(**changes: str) -> dict[str, str]:
    """This process's variables, with `changes`, and its imports: a child takes nothing from the working directory that
    this process would not. Changes that are empty take a variable away."""
    paths = os.pathsep.join(p or os.getcwd() for p in sys.path)
    own = {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    return {k: v for k, v in {**os.environ, **changes, **own}.items() if v or k not in changes}


def start(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = subprocess.DEVNULL,
    stderr: Stream | None = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
) -> Child:
    """The started child, which ends with this process; OSError where it cannot be started. Without an `environment` it
    has this process's."""
    guard()
    variables = dict(os.environ if environment is None else environment)
    variables[OWNERS] = " ".join(filter(None, (os.environ.get(OWNERS), owner())))
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        pass_fds=pass_fds,
        env=variables,
        start_new_session=True,
    )


def guard() -> None:
    """Starts this process's guardian, if it has none. There is none where the system does not tell the variables of
    processes (macOS, Windows): children that read a pipe end there when it closes."""
    me = owner()
    if me in _guarded or not (guardian.PROCESSES / "self" / "environ").exists():
        return
    _guarded.add(me)
    command = [sys.executable, "-I", "-S", guardian.__file__, str(os.getpid()), me, tempfile.gettempdir()]
    nothing = subprocess.DEVNULL
    own = {k: v for k, v in os.environ.items() if k != OWNERS}  # it outlives what it guards
    try:
        process = subprocess.Popen(
            command, stdin=nothing, stdout=nothing, stderr=nothing, env=own, cwd="/", start_new_session=True
        )
    except OSError:  # no process is left: the next start tries again
        _guarded.discard(me)
        return
    process.returncode = 0  # nobody waits for it


def end(child: Child) -> None:
    """Kills a child that has not been waited for, and all of its session; does not wait for it."""
    if child.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)


@contextmanager
def work_folder(prefix: str) -> Generator[Path]:
    """An owned folder for the files of a block; it goes at the end, at the latest a second after this process is
    killed."""
    guard()
    folder = owned_folder(prefix)
    try:
        yield folder
    finally:
        discard(folder)
