"""The near side of a comparison: starts one runtime's process, asks it, ends it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from korch.errors import Error
from korch.system.processes import start

PACKAGES = Path(__file__).resolve().parents[2]
"""Where `korch` is imported from, and perhaps all that is installed beside it."""
_RUN = "import runpy, sys; sys.path.append(sys.argv.pop(1)); runpy.run_module(sys.argv.pop(1), run_name='__main__')"


def module_command(python: str, module: str, *arguments: str) -> list[str]:
    """What has the interpreter `python` run a module of Korch with these arguments.

    `PACKAGES` is the last of its path: it finds Korch there, and all else, such as its own numpy and the runtime that
    it is asked to time, where it finds that without Korch.
    """
    return [python, "-c", _RUN, str(PACKAGES), module, *arguments]


class RuntimeFailed(Error):
    """A runtime is missing, refused the model, failed or hung; the text says which."""


class RuntimeProcess:
    """One runtime that answers `serving`'s questions. Close it, or use it as a context manager."""

    def __init__(self, name: str, command: Sequence[str], threads: int) -> None:
        self.name = name
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long-lived as the process, closed with it
        self._buffer = b""
        own = {"PYTHONSAFEPATH": "1"}  # nothing of the working directory
        self._process = start(
            command,
            {**os.environ, **own, "OMP_NUM_THREADS": str(threads)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
        )

    def __enter__(self) -> RuntimeProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, what: str, *, limit: float, **details: Any) -> Any:
        """The answer's value; RuntimeFailed with the reason if there is none within `limit` seconds."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"ask": what, **details}).encode() + b"\n")
            self._process.stdin.flush()
            answer = json.loads(self._line(limit))
        except (BrokenPipeError, EOFError):
            raise RuntimeFailed(f"{self.name}: {self._death()}") from None
        if "reason" in answer:
            raise RuntimeFailed(f"{self.name}: {answer['reason']}")
        return answer["value"]

    def close(self, patience: float = 5.0) -> None:
        """Ends the process and its children: at once if it does not end by itself within `patience` seconds. Closing
        twice does nothing."""
        if self._said.closed:
            return
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # torch.compile leaves workers behind
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        self._said.close()

    def _line(self, limit: float) -> bytes:
        assert self._process.stdout is not None
        descriptor, end = self._process.stdout.fileno(), time.monotonic() + limit
        while b"\n" not in self._buffer:
            if not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
                raise RuntimeFailed(f"{self.name}: no answer within {limit:.0f} s")
            piece = os.read(descriptor, 1 << 16)
            if not piece:
                raise EOFError
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _death(self) -> str:
        """How the process ended, with the last line it wrote."""
        try:
            status = self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            return "closed its output without ending"
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").strip().splitlines()
        end = f"killed by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return f"{end}: {lines[-1].strip()}" if lines else end
