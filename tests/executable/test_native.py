"""Libraries that the system cannot load, and calls that are interrupted."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event

import pytest

from korch.errors import ArchiveError
from korch.executable import native


@pytest.mark.parametrize(
    ("complaint", "way"),
    [
        ("libgomp.so.1: cannot open shared object file", "install the OpenMP runtime (libgomp1)"),
        ("/tmp/program.so: failed to map segment from shared object", "set TMPDIR to a folder where programs may run"),
        ("/tmp/program.so: file too short", "run `korch optimize` again"),
    ],
)
def test_what_helps_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, complaint: str, way: str):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(complaint)

    monkeypatch.setattr(native.ctypes, "CDLL", refuse)
    with pytest.raises(ArchiveError) as caught:
        native.NativeModel(tmp_path / "program.so", tmp_path / "weights", 1, ())
    assert str(caught.value) == f"cannot load the compiled program: {complaint}; {way}"


def test_an_interrupt_waits_for_what_another_thread_runs(monkeypatch: pytest.MonkeyPatch):
    """In a fork: what runs there has addresses of arrays that the interrupted call would let go. It runs until somebody
    waits a second time."""
    waits, again = list[object](), Event()

    def interrupted(futures: Iterable[Future[bool]]) -> object:
        waits.append(futures)
        if len(waits) == 1:
            raise KeyboardInterrupt
        again.set()
        return wait(futures)

    monkeypatch.setattr(native, "wait", interrupted)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(again.wait, 60)
        with pytest.raises(KeyboardInterrupt):
            native._finished(future)
        assert future.done() and future.result()
