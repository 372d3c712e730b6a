"""Measuring: right kernels get costs, wrong ones reasons, and nothing that was measured is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from tests.backends.endless import all_gone, end_limits_once_started, endless_compiler

from korch.backends.contract import Host, Variant
from korch.backends.cpu.c import Code
from korch.backends.table import entry_of
from korch.errors import BackendError
from korch.ir import Builder, Cone
from korch.machine import Machine
from korch.profile import Database, Failed, Measurement, Profiler, calibrate, machine
from korch.profile.results import Unloadable
from korch.profile.task import Rates

from .fodder import relu, relu_cone, scaled_product, several, shared_relu


@pytest.fixture
def profiler(tmp_path: Path) -> Iterator[Profiler]:
    with Database(tmp_path) as database, Profiler(2, database) as profiler:
        yield profiler


def test_right_kernels_have_costs(profiler: Profiler) -> None:
    results = profiler.measure([relu(), scaled_product(), relu(), shared_relu("0", "shared")])
    assert all(isinstance(r, Measurement) and r.seconds > 0 and r.error < 1e-6 for r in results)
    assert profiler.measured == 3 and results[0] == results[2]


WRONG = {
    "wrong at": relu(loop="y[i] = x[i] > 0 ? x[i] : 0.01f;"),
    "loses NaN": relu(loop="y[i] = x[i] > 0 ? x[i] : 0;"),
    "never writes": relu(loop="if (i != 77) y[i] = x[i] > 0 ? x[i] : 0;"),
    "outside its output": relu(first="y[(1 << 14) + 3] = 0;"),
    "its leaf 0": relu(first="((float *)x)[4] = 0;"),
    "after many runs": relu(first="static int runs; if (runs++ > 1) { y[9] = 5; return; }"),
    "takes the turns of all": shared_relu("1e-9f"),
    "crashed with SIGSEGV": relu(first="*(volatile int *)0 = 1;"),
    "status 3": relu(first="exit(3);"),
    "undeclared": relu(first="absent;"),
    "implicit declaration": relu(first="absent();"),
}


def test_wrong_kernels_have_reasons_and_the_rest_continues(profiler: Profiler) -> None:
    kernels = [replace(k, variant=Variant(name)) for name, k in WRONG.items()]
    *failed, right = profiler.measure([*kernels, relu(form="right")])
    assert isinstance(right, Measurement)
    for name, result in zip(WRONG, failed, strict=True):
        assert isinstance(result, Failed) and name in result.reason
    count = profiler.measured
    assert profiler.measure(kernels) == failed and profiler.measured == count


def test_endless_kernel_is_stopped(tmp_path: Path) -> None:
    """The process runs by then: to start one may take longer on a busy machine. Whether the failure lasts depends on
    how much of a processor it got."""
    with Database(tmp_path) as database, Profiler(2, database) as profiler:
        (first,) = profiler.measure([relu(form="a")])
        profiler._worker._timeout = 1.5
        (endless,) = profiler.measure([relu(first="for (volatile int i = 0;; i++);", form="b")])
        profiler._worker._timeout = 600.0
        (right,) = profiler.measure([relu(form="c")])
    assert isinstance(endless, Failed) and endless.reason == "did not end within 1.5 s"
    assert isinstance(first, Measurement) and isinstance(right, Measurement)


def test_endless_compilation_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end_limits_once_started(tmp_path, monkeypatch)
    compiler = endless_compiler(tmp_path, "forever")
    kernels = [relu(first="/* forever */", form="0"), *(relu(form=str(i)) for i in range(1, 4))]
    with Database(tmp_path) as database, Profiler(2, database, compiler, limit=6) as profiler:
        endless, *others = profiler.measure(kernels)
    assert endless == Failed("cc did not end within 6 s", lasting=False)
    assert all(isinstance(r, Measurement) for r in others) and all_gone(tmp_path)


def test_one_endless_compilation_does_not_take_the_limit_again_and_again(
    profiler: Profiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    endless = several(96)[70].code

    def compile_library(toolchain: object, codes: list[Code], *_: object, limit: float, **__: object) -> None:
        if endless in codes:
            waits.append(limit)
            raise BackendError(f"cc did not end within {limit:g} s")

    monkeypatch.setattr(profiler.units, "compile_library", compile_library)
    monkeypatch.setattr(profiler, "_result", lambda *_: Measurement(1.0))
    results = profiler.measure(several(96))
    assert [i for i, r in enumerate(results) if isinstance(r, Failed)] == [70]
    assert waits[0] == 60 and sum(waits) < 100 and min(waits) >= 10


def test_a_kernel_that_cannot_be_loaded_is_tried_again(profiler: Profiler, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it lies nothing may run, perhaps."""
    with monkeypatch.context() as patch:
        patch.setattr(profiler._worker, "ask", lambda _: Unloadable("failed to map segment"))
        assert profiler.measure([relu()]) == [Failed("failed to map segment", lasting=False)]
    assert isinstance(profiler.measure([relu()])[0], Measurement)


@pytest.mark.parametrize(
    ("complaint", "lasting"),
    [
        ("unit0.c:12:3: error: 'absent' undeclared", True),
        ("korch_rt.h:7: error: so it is", True),
        ("collect2: error: ld returned 1 exit status", False),
        ("unit0.c:1: fatal error: error writing to x.s", False),
    ],
)
def test_only_what_compilers_say_of_a_line_is_remembered(
    profiler: Profiler, monkeypatch: pytest.MonkeyPatch, complaint: str, lasting: bool
) -> None:
    def compile_library(*_: object, **__: object) -> None:
        raise BackendError(f"cc failed: {complaint}")

    monkeypatch.setattr(profiler.units, "compile_library", compile_library)
    assert profiler.measure([relu()]) == [Failed(f"cc failed: {complaint}", lasting)]
    assert bool(profiler.known(relu())) is lasting


def test_a_machine_without_the_memory_for_a_kernel_says_nothing_about_it(profiler: Profiler) -> None:
    small = relu()
    large = replace(small, body=replace(small.body, workspace=1 << 50))
    (failed,) = profiler.measure([large])
    assert isinstance(failed, Failed) and "memory" in failed.reason.lower() and not profiler.known(large)
    assert isinstance(profiler.measure([relu(form="right")])[0], Measurement)


def test_host_kernel(profiler: Profiler) -> None:
    backend = entry_of("onnxruntime").backend
    assert backend
    (result,) = profiler.measure(backend.build(relu_cone(4096), 2))
    assert isinstance(result, Measurement)


def test_what_onnxruntime_raises_is_the_kernels_own_fault(profiler: Profiler) -> None:
    """Its exceptions share no base with others; the process goes on."""
    backend = entry_of("onnxruntime").backend
    assert backend
    (kernel,) = backend.build(relu_cone(4096), 2)
    broken = replace(kernel, body=Host(b"no model"), variant=Variant("broken"))
    failed, right = profiler.measure([broken, kernel])
    assert isinstance(failed, Failed) and failed.lasting and "INVALID_PROTOBUF" in failed.reason
    assert "ended its process" not in failed.reason and profiler.known(broken)
    assert isinstance(right, Measurement)


def test_inputs_suit_the_cone(profiler: Profiler) -> None:
    """A logarithm is measured on positive numbers, an arc cosine on small ones, a scalar root is no special case."""
    backend = entry_of("onnxruntime").backend
    assert backend
    for op, shape in (("Log", (1000,)), ("Acos", (1000,)), ("Exp", ())):
        b = Builder()
        b.op(op, b.input("x", "float32", shape))
        (result,) = profiler.measure(backend.build(Cone.of(b.primitives), 2))
        assert isinstance(result, Measurement)


def test_costs_in_place_are_kept_beside(profiler: Profiler) -> None:
    key = profiler.offer_key(relu().cone, "loops")
    profiler.database.record_in_place(key, 4e-6)
    assert profiler.database.in_place([key, "other"]) == {key: 4e-6}


def start(folder: Path, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.profile.fodder", str(folder), str(count)]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root)


def test_killed_and_resumed_measures_nothing_twice(tmp_path: Path) -> None:
    process = start(tmp_path, 12)
    assert process.stdout
    done = 0
    while done < 4:
        done = int(process.stdout.readline().split()[0])
    process.kill()
    process.wait()
    with Database(tmp_path) as database, Profiler(2, database) as profiler:
        before = {k.cone.key: r for k in several(12) if (r := profiler.known(k))}
        assert len(before) >= done
        after = dict(zip((k.cone.key for k in several(12)), profiler.measure(several(12)), strict=True))
        assert profiler.measured == 12 - len(before)
        assert after.items() >= before.items()


@pytest.mark.slow
def test_several_processes_share_the_work(tmp_path: Path) -> None:
    processes = [start(tmp_path, 10) for _ in range(3)]
    outputs = [p.communicate(timeout=600)[0] for p in processes]
    assert sum(int(o.split("measured ")[1]) for o in outputs) == 10


@pytest.mark.slow
def test_calibration_is_remembered(profiler: Profiler) -> None:
    first = machine(2, profiler.database, profiler)
    assert first.peak_flops > 1e7 and 0 < first.launch < 1  # the units; how fast the machine is others change
    rates = [rate for _, rate in first.bandwidths]
    assert rates == sorted(rates, reverse=True) and len(rates) == 7
    count = profiler.measured
    assert machine(2, profiler.database) == first and profiler.measured == count


def test_a_calibration_without_kernels_is_not_remembered(
    profiler: Profiler, monkeypatch: pytest.MonkeyPatch, calibrated_once: dict[str, Machine]
) -> None:
    monkeypatch.delitem(calibrated_once, calibrate._key(profiler), raising=False)
    monkeypatch.setattr(profiler, "calibrate", lambda: Rates(1e9, ((1 << 20, 1e9),), 1e-6))
    monkeypatch.setattr(profiler, "measure", lambda kernels: [Failed("no room")] * len(kernels))
    assert machine(2, profiler.database, profiler).moves == ()
    assert profiler.database.machine(calibrate._key(profiler)) is None


def test_a_calibration_without_a_later_field_counts(profiler: Profiler) -> None:
    first = machine(2, profiler.database, profiler)
    facts = {name: value for name, value in asdict(first).items() if name != "peaks"}
    profiler.database.record_machine(calibrate._key(profiler), json.dumps(facts))
    assert machine(2, profiler.database, profiler) == first
