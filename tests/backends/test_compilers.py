"""Compilers are ended in time, and with all that they have started."""

from __future__ import annotations

import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread, main_thread

import pytest

from korch.backends.compilers import Compilers
from korch.backends.toolchain import Toolchain
from korch.errors import BackendError

from .endless import all_gone, end_limits_once_started, endless_compiler, started

FINE, ENDLESS, WRONG = "int f;\n", "int endless;\n", "int wrong(\n"


@pytest.fixture
def compiler(tmp_path: Path) -> Toolchain:
    return endless_compiler(tmp_path, "endless")


def wait_for(folder: Path, compilers: int) -> None:
    while len(started(folder)) < 2 * compilers:  # each with its child
        time.sleep(0.01)


@pytest.mark.parametrize("texts", [{"a.c": ENDLESS}, {"a.c": FINE, "b.c": ENDLESS}], ids=len)
def test_beyond_the_limit_it_is_ended_with_its_children(
    texts: dict[str, str], compiler: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    end_limits_once_started(tmp_path, monkeypatch)
    with pytest.raises(BackendError, match=r"^cc did not end within 0\.5 s$"):
        compiler.compile_library(texts, tmp_path / "a.so", jobs=2, limit=0.5)
    assert all_gone(tmp_path) and not (tmp_path / "a.so").exists()


def test_within_the_limit_nothing_happens(compiler: Toolchain, tmp_path: Path):
    compiler.compile_library({"a.c": FINE, "b.c": ""}, tmp_path / "a.so", jobs=2, limit=600)
    assert (tmp_path / "a.so").exists() and not started(tmp_path)


@pytest.fixture
def interrupted_by_signal() -> Iterator[signal.Signals]:
    """A signal that does what Ctrl-C does, for whoever runs tests in the background ignores that one."""
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    yield signal.SIGUSR1
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize(("texts", "jobs"), [(1, 1), (2, 2), (3, 2)])
def test_an_interrupted_build_leaves_no_compiler_behind(
    texts: int, jobs: int, compiler: Toolchain, tmp_path: Path, interrupted_by_signal: signal.Signals
):
    def interrupt() -> None:
        wait_for(tmp_path, jobs)
        identity = main_thread().ident
        assert identity
        signal.pthread_kill(identity, interrupted_by_signal)

    Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        compiler.compile_library({f"{i}.c": ENDLESS for i in range(texts)}, tmp_path / "a.so", jobs=jobs)
    assert len(started(tmp_path)) == 2 * jobs and all_gone(tmp_path)


def test_one_that_fails_ends_the_others(compiler: Toolchain, tmp_path: Path):
    def late() -> str:
        wait_for(tmp_path, 1)
        return WRONG

    with pytest.raises(BackendError, match=r"^cc failed: a\.c:1.*error"):
        compiler.compile_library({"a.c": late, "b.c": ENDLESS}, tmp_path / "a.so", jobs=2)
    assert all_gone(tmp_path)


def test_none_starts_when_the_build_has_ended():
    with Compilers() as compilers:
        pass
    with pytest.raises(BackendError, match="the build has ended"):
        compilers.run(["cc", "--version"])


def test_temporary_files_of_compilers_go_with_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Those of one that is killed, too."""
    script, temporary = tmp_path / "cc", tmp_path / "temporary"
    script.write_text('#!/bin/sh\ntouch "$TMPDIR/cc123.s"\nexit 1\n')
    script.chmod(0o755)
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with pytest.raises(BackendError, match="cc failed"):
        Toolchain((str(script),), (), False, "").compile_library({"a.c": FINE}, tmp_path / "a.so")
    assert not list(temporary.iterdir())
