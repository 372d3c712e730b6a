"""Kernels compiled ahead and measured on devices that only look like some: order, failures, deadlines, what stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from korch.backends.contract import Kernel, LibraryCall, Variant
from korch.backends.cuda.triton.compile import CompiledLaunch
from korch.errors import BackendError
from korch.profile.cuda import compiler
from korch.profile.cuda.installed import Installed
from korch.profile.cuda.pipeline import Pipeline
from korch.profile.cuda.profiler import DeviceProfiler, lock_of, setting_of
from korch.profile.cuda.ready import ReadyQueue
from korch.profile.cuda.tasks import BoardRates, Compile, Measure, MeasurePace, MeasureRates
from korch.profile.database import Database
from korch.profile.remembered import by_cone
from korch.profile.results import Failed, Measurement
from korch.system.deadline import NEVER, Deadline

from .fake_board import on_board, product_cone, relu_cone

H200 = Installed(0, "NVIDIA H200", 90, 132, 227 << 10, 50 << 20, 1.98e9, 4.8e12, "580.1")
BINARY = CompiledLaunch("f", b"cubin", "f", 0, 4, 4)


@dataclass
class Process:
    """Answers what `reply` says, and remembers what it was asked."""

    reply: Callable[[Any], object]
    asked: list[Any] = field(default_factory=list)
    interrupted: bool = False
    closed: bool = False

    def ask(self, task: object) -> Any:
        self.asked.append(task)
        return self.reply(task)

    def interrupt(self) -> None:
        self.interrupted = True

    def close(self) -> None:
        self.closed = True


def compiling(task: Compile) -> object:
    return Failed("does not compile") if task.kernel.variant.form == "poor" else (BINARY,)


def measuring(task: object) -> object:
    if isinstance(task, MeasureRates):
        return BoardRates((("ieee", 5e13), ("tf32", 4e14)), ((2048, 2e-6), (1 << 29, 1.5e-4)), 1.2e-6)
    assert isinstance(task, Measure)
    return Measurement(1e-6 * task.kernel.cone.root.size)


def pipeline(boards: int = 1, compilers: int = 3, reply: Callable[[Any], object] = measuring) -> Pipeline:
    return Pipeline([Process(compiling) for _ in range(compilers)], [Process(reply) for _ in range(boards)], 90)


def kernels(count: int = 20) -> list[Kernel]:
    return [on_board(relu_cone(64 * (i + 1)), compiling) for i in range(count)]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path) as opened:
        yield opened


def test_every_kernel_is_compiled_and_measured_once(database: Database):
    line = pipeline(boards=2)
    profiler, batch = DeviceProfiler([H200], database, pipeline=line), kernels()
    results = profiler.measure([*batch, batch[0]])
    assert results == [Measurement(64e-6 * (i + 1)) for i in range(20)] + [Measurement(64e-6)]
    assert profiler.measured == 20 == sum(len(b.asked) for b in line.boards)  # pyright: ignore
    assert sum(len(c.asked) for c in line.compilers) == 20  # pyright: ignore
    assert all(t.binaries == (BINARY,) for b in line.boards for t in b.asked)  # pyright: ignore


def test_what_is_known_is_not_measured_again_wherever_that_was(database: Database):
    DeviceProfiler([H200], database, pipeline=pipeline()).measure(kernels())
    other = pipeline()
    profiler = DeviceProfiler([replace(H200, index=3)], database, pipeline=other)
    assert len(profiler.measure(kernels())) == 20 and not profiler.measured
    newer = DeviceProfiler([replace(H200, driver="590.2")], database, pipeline=pipeline())
    newer.measure(kernels())
    assert newer.measured == 20


def test_the_setting_names_the_gpu_and_the_software():
    setting = setting_of(H200)
    assert setting.processor == "NVIDIA H200 sm_90 driver 580.1" and setting.threads == 132
    assert setting.compiler.startswith("triton ") and " torch " in setting.compiler


def test_what_does_not_compile_has_failed_and_the_rest_goes_on(database: Database):
    profiler = DeviceProfiler([H200], database, pipeline=pipeline())
    poor, good = on_board(relu_cone(), compiling, "poor"), on_board(relu_cone(), compiling, "good")
    assert profiler.measure([poor, good]) == [Failed("does not compile"), Measurement(4096e-6)]
    assert profiler.known(poor) == Failed("does not compile")


def test_calls_of_libraries_need_no_compiler(database: Database):
    line = pipeline()
    call = Kernel(product_cone(), "vendor", Variant(precision="tf32"), LibraryCall("product"))
    (result,) = DeviceProfiler([H200], database, pipeline=line).measure([call])
    assert isinstance(result, Measurement) and not any(c.asked for c in line.compilers)  # pyright: ignore


def test_devices_measure_while_others_compile(database: Database):
    measured = Event()

    def patient(task: Compile) -> object:
        assert task.kernel.variant.form != "late" or measured.wait(120), "nothing was measured meanwhile"
        return (BINARY,)

    def quick(task: Measure) -> object:
        measured.set()
        return Measurement(1e-6)

    line = Pipeline([Process(patient), Process(patient)], [Process(quick)], 90)
    batch = [on_board(relu_cone(), compiling, v) for v in ("early", "late")]
    assert DeviceProfiler([H200], database, pipeline=line).measure(batch) == [Measurement(1e-6)] * 2


def test_processes_that_number_the_boards_differently_share_a_lock(database: Database):
    first, second = replace(H200, uuid="5a"), replace(H200, index=1, uuid="5b")
    assert lock_of(second) == lock_of(replace(second, index=0)) != lock_of(first)


def test_the_pace_is_that_of_a_reference_kernel(database: Database):
    line = pipeline(reply=lambda task: 0.8 if isinstance(task, MeasurePace) else measuring(task))
    assert DeviceProfiler([H200], database, pipeline=line).pace() == 0.8


def test_at_the_deadline_the_rest_stays_open(database: Database, monkeypatch: pytest.MonkeyPatch):
    """It comes when ten are measured; the eleventh, which is being measured then, is the last."""
    measured, closed, close = list[object](), Event(), ReadyQueue.close

    def slow(task: Measure) -> object:
        assert len(measured) != 10 or closed.wait(120), "nobody looks at the clock"
        measured.append(task)
        return Measurement(1e-6)

    class AfterTen(Deadline):
        @property
        def passed(self) -> bool:
            return len(measured) >= 10

    monkeypatch.setattr(ReadyQueue, "close", lambda queue: (close(queue), closed.set()))
    line = pipeline(reply=slow)
    profiler = DeviceProfiler([H200], database, pipeline=line)
    results = profiler.measure_until(AfterTen(inf), kernels())
    done = [r for r in results if r]
    assert len(done) == 11 == profiler.measured
    assert profiler.measure_until(Deadline(0.0), kernels(1)) == [results[0]] or results[0] is None
    assert len([r for r in profiler.measure_until(NEVER, kernels()) if r]) == 20


def test_a_process_that_cannot_start_ends_the_search(database: Database):
    def broken(task: object) -> object:
        raise BackendError("the process korch.profile.cuda.worker does not start: no kernel image")

    line = pipeline(reply=broken)
    with pytest.raises(BackendError, match="no kernel image"):
        DeviceProfiler([H200], database, pipeline=line).measure(kernels())
    assert all(p.interrupted for p in line.boards)  # pyright: ignore


def test_closing_ends_all_processes_and_resting_none(database: Database):
    line = pipeline()
    with DeviceProfiler([H200], database, pipeline=line) as profiler:
        profiler.rest()
        assert not any(p.closed for p in (*line.boards, *line.compilers))  # pyright: ignore
    assert all(p.closed for p in (*line.boards, *line.compilers))  # pyright: ignore


def without_disk() -> BackendError:
    error = BackendError("f does not compile for sm_90: [Errno 28] No space left on device")
    error.__cause__ = OSError(28, "No space left on device")
    return error


@pytest.mark.parametrize(
    ("error", "lasting"),
    [
        (BackendError("f does not compile for sm_90: MemoryError"), False),
        (MemoryError(), False),
        (without_disk(), False),
        (RuntimeError("LLVM ERROR: out of memory"), False),
        (RuntimeError("std::bad_alloc"), False),
        (BackendError("Register allocation failed with register count of '255'"), True),
        (ValueError("no such"), True),
    ],
    ids=str,
)
def test_want_of_memory_while_compiling_is_not_the_fault_of_a_kernel(monkeypatch, error: Exception, lasting: bool):
    def failing(kernel: Kernel, capability: int) -> None:
        raise error

    monkeypatch.setattr(compiler, "compile_kernel", failing)
    result = compiler.answer(Compile(kernels(1)[0], 90))
    assert isinstance(result, Failed) and result.lasting is lasting and result.reason


def test_kernels_of_a_cone_come_by_precision():
    small, large = product_cone(8), product_cone(16)
    batch = {
        str(i): on_board((small, large)[i % 2], compiling, str(i), p)
        for i, p in enumerate(("tf32", "tf32", "ieee", "ieee", "tf32", "tf32", "fp16", "ieee"))
    }
    kinds = [(k.cone.signature, k.variant.precision) for _, k in by_cone(batch)]
    assert len(kinds) == 8 and len(list(dict.fromkeys(kinds))) == sum(a != b for a, b in pairwise([None, *kinds])) == 5
