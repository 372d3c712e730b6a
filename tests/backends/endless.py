"""A compiler that never ends where the text has a certain word."""

from __future__ import annotations

import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from korch.backends.toolchain import Toolchain, find_toolchain

SCRIPT = """\
#!/bin/sh
for file; do case "$file" in *.c)
  if grep -q {word} "$file"; then
    sleep 3600 &
    echo $$ $! >> {folder}/started
    wait
  fi;;
esac; done
exec {compiler} "$@"
"""


def endless_compiler(folder: Path, word: str) -> Toolchain:
    """The compiler of this machine, but with a text that has the `word` it waits for a process that it starts."""
    real = find_toolchain()
    script = folder / "cc"
    script.write_text(SCRIPT.format(word=word, folder=folder, compiler=" ".join(real.command)))
    script.chmod(0o755)
    return replace(real, command=(str(script),))


def end_limits_once_started(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """The limit of a compiler is over when it has begun to wait for ever, and not before: no clock is asked."""
    communicate = subprocess.Popen.communicate

    def until_it_waits(process: subprocess.Popen[str], timeout: float | None = None) -> tuple[str, str]:
        while timeout is None or process.pid not in started(folder):
            try:
                return communicate(process, timeout=timeout and 0.05)
            except subprocess.TimeoutExpired:
                pass
        raise subprocess.TimeoutExpired(process.args, timeout)

    patch.setattr(subprocess.Popen, "communicate", until_it_waits)


def started(folder: Path) -> list[int]:
    """The processes of the compilers that do not end."""
    file = folder / "started"
    return [int(number) for number in file.read_text().split()] if file.exists() else []


def all_gone(folder: Path, patience: float = 120.0) -> bool:
    """Whether there were such processes, and some time later none of them is left."""
    end = time.monotonic() + patience
    while any(map(_runs, started(folder))) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(started(folder)) and not any(map(_runs, started(folder)))


def _runs(process: int) -> bool:
    """Whether it is there, and not only because nobody has asked how it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
