"""Libraries that the system cannot load, and calls that are interrupted."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from korch.errors import ArchiveError
from korch.executable import native


@pytest.mark.parametrize(("complaint", "way"), [
    ("libgomp.so.1: cannot open shared object file", "install the OpenMP runtime (libgomp1)"),
    ("/tmp/program.so: failed to map segment from shared object", "set TMPDIR to a folder where programs may run"),
    ("/tmp/program.so: file too short", "run `korch optimize` again"),
])  # fmt: skip
def test_what_helps_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, complaint: str, way: str):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(complaint)

    monkeypatch.setattr(native.ctypes, "CDLL", refuse)
    with pytest.raises(ArchiveError) as caught:
        native.NativeModel(tmp_path / "program.so", tmp_path / "weights", 1, ())
    assert str(caught.value) == f"cannot load the compiled program: {complaint}; {way}"


def test_an_interrupt_waits_for_what_another_thread_runs():
    """In a fork: what runs there has addresses of arrays that the interrupted call would let go."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(time.sleep, 0.5)
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(KeyboardInterrupt):
                native._finished(future)
            assert future.done()
    finally:
        signal.signal(signal.SIGALRM, before)
