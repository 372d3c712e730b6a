"""Processes that answer: they are started again after what they did not survive."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from korch.errors import BackendError
from korch.profile.process import WorkerProcess
from korch.profile.results import Failed
from korch.system.processes import plain_environment


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerProcess]:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    worker = WorkerProcess("echo", (), 600.0, plain_environment(KORCH_TEST=""))
    yield worker
    worker.close()


def test_one_process_answers_all_questions(process: WorkerProcess):
    assert process.ask("a")[0] == "a" and process.ask("b")[1] == process.ask("c")[1]


@pytest.mark.parametrize(
    ("task", "reason"), [("hang", "did not end within 0.5 s"), ("die", "status 3: dying"), ("lose", "lost")]
)
def test_another_takes_over(process: WorkerProcess, task: str, reason: str, monkeypatch: pytest.MonkeyPatch):
    process.ask("die")  # whose complaint is not this one's
    before = process.ask("a")[1]
    with monkeypatch.context() as patch:
        if task == "hang":
            patch.setattr(process, "_timeout", 0.5)
        failed = process.ask(task)
    assert isinstance(failed, Failed) and reason in failed.reason
    assert process.ask("b")[1] != before


def test_an_interrupted_question_has_failed_for_no_reason_of_its_own(process: WorkerProcess, tmp_path: Path):
    hangs = tmp_path / "hangs"

    def interrupt() -> None:
        while not hangs.exists():
            time.sleep(0.01)
        process.interrupt()

    interrupting = Thread(target=interrupt, daemon=True)
    interrupting.start()
    assert process.ask(f"hang {hangs}") == Failed("crashed with SIGKILL", lasting=False)
    interrupting.join()


@pytest.mark.parametrize(("task", "lasting"), [("die", True), ("starve", False)])
def test_a_process_without_memory_says_nothing_about_the_kernel(process: WorkerProcess, task: str, lasting: bool):
    failed = process.ask(task)
    assert isinstance(failed, Failed) and failed.lasting is lasting


@pytest.mark.parametrize(
    ("number", "lasting"),
    [(signal.SIGSEGV, True), (signal.SIGFPE, True), (signal.SIGBUS, False), (signal.SIGTERM, False)],
)
def test_signals_of_the_surroundings_say_nothing_about_the_kernel(
    process: WorkerProcess, number: signal.Signals, lasting: bool
):
    """A file without room on a full disk is SIGBUS."""
    assert process.ask(f"signal {int(number)}") == Failed(f"crashed with {number.name}", lasting)


def test_an_answer_that_stops_in_the_middle_is_not_waited_for(process: WorkerProcess, monkeypatch: pytest.MonkeyPatch):
    process.ask("a")
    monkeypatch.setattr(process, "_timeout", 0.5)
    assert process.ask("half") == Failed("did not end within 0.5 s", lasting=False)


def test_a_question_that_nobody_reads_is_given_up(process: WorkerProcess, monkeypatch: pytest.MonkeyPatch):
    process.ask("a")
    assert process._process
    os.kill(process._process.pid, signal.SIGSTOP)
    monkeypatch.setattr(process, "_timeout", 0.2)
    assert process.ask("a" * (8 << 20)) == Failed("did not end within 0.2 s", lasting=False)


@pytest.mark.parametrize(("task", "asleep", "lasting"), [("spin", 0.0, True), ("spin", 9.0, False)])
def test_a_suspended_machine_is_not_the_kernels_fault(
    process: WorkerProcess, task: str, asleep: float, lasting: bool, monkeypatch: pytest.MonkeyPatch
):
    process.ask("a")
    slept, used = iter((100.0, 100.0 + asleep)), iter((0.0, 1.0))
    monkeypatch.setattr("korch.profile.process.asleep", lambda: next(slept))
    monkeypatch.setattr(process, "_used", lambda: next(used))
    monkeypatch.setattr(process, "_timeout", 0.5)
    assert process.ask(task) == Failed("did not end within 0.5 s", lasting)


def test_a_processes_time_is_that_of_its_busiest_thread(process: WorkerProcess):
    """All of a team wait for each other: their sum says little of how long that was."""
    process.ask("a")
    before, times = process._used(), 0.0
    assert process._process
    with suppress(OSError):
        os.sched_setaffinity(process._process.pid, {min(os.sched_getaffinity(0))})
    asking = Thread(target=process.ask, args=("team",), daemon=True)
    asking.start()
    while times < 1.0:
        time.sleep(0.02)
        stat = Path(f"/proc/{process._process.pid}/stat").read_text().rpartition(")")[2].split()
        times = (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK") - before
    assert process._used() - before < times / 2
    process.interrupt()
    asking.join()  # it closes the process too


@pytest.mark.parametrize("scarce", ["subprocess.Popen", "tempfile.TemporaryFile"])
def test_a_machine_that_has_no_process_left_is_named(
    process: WorkerProcess, scarce: str, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr(scarce, _none_left)
        with pytest.raises(BackendError, match="the process echo does not start: Resource temporarily unavailable"):
            process.ask("a")
    assert process.ask("a")[0] == "a"


def _none_left(*_: object, **__: object) -> None:
    raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def test_what_does_not_start_is_named(process: WorkerProcess):
    with pytest.raises(BackendError, match="the process no_such_module does not start"):
        WorkerProcess("no_such_module", (), 1.0, plain_environment()).ask("a")
    assert sys.executable
