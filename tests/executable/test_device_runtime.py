"""Programs for a device from plan to results, on a GPU that only looks like one; and on a true one, where it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from threading import get_ident

import numpy as np
import pytest

from korch.backends.contract import Kernel, Launch, LibraryCall, Triton
from korch.backends.cuda.buffers import buffers_of
from korch.devices import DEVICES
from korch.errors import ArchiveError, BackendError, Error, InputError
from korch.executable import Executable, load
from korch.executable.cuda import DeviceExecutable, resident
from korch.executable.cuda.replays import changed_bits
from korch.executable.cuda.resident import pytorch
from korch.executable.memory import Room
from korch.executable.plan import Plan
from korch.ir import Builder, Primitive
from korch.ir.evaluate import evaluate_graph

from .device_plans import random_plan
from .fake_gpu import Event, FakeGpu, Tensor, gpu
from .small_plans import alias, chain, feeds_of, plan_of

__all__ = ["gpu"]


def launched(plan: Plan) -> Plan:
    """The plan with a function for every call."""
    steps = []
    for s in plan.steps:
        k = s.kernel
        count = len(buffers_of(k))
        if not k.alias:
            source, launch = f"{k.cone.signature} {k.workspace}", Launch("f", (1, 1, 1), tuple(range(count)))
            k = replace(k, body=Triton(source, (launch,), workspace=k.workspace))
        steps.append(replace(s, kernel=k))
    return replace(plan, steps=tuple(steps))


def opened(plan: Plan) -> DeviceExecutable:
    return DeviceExecutable.link(plan, DEVICES["H200"])


@pytest.fixture
def small(gpu: FakeGpu) -> Iterator[DeviceExecutable]:
    with opened(launched(random_plan(3))) as e:
        yield e


@pytest.mark.parametrize("seed", range(12))
def test_the_graph_gives_the_references_values_in_any_order_of_its_edges(gpu: FakeGpu, seed: int) -> None:
    plan = launched(random_plan(seed))
    with opened(plan) as e:
        for k in range(3):
            feeds = feeds_of(plan, k)
            for name, y in evaluate_graph(plan.graph, feeds, precision="float32").items():
                np.testing.assert_array_equal(e.run(feeds)[name], y)
        assert e.peak_bytes >= e.memory.arena_bytes + sum(t.nbytes for t in plan.graph.outputs)
    assert gpu.loaded == 0


def test_calls_are_given_every_buffer(gpu: FakeGpu) -> None:
    plan = random_plan(5)

    def told(k: Kernel) -> Kernel:
        return replace(k, body=replace(k.call, attrs=(("kernel", lambda: k),)) if k.call else k.body)

    steps = tuple(replace(s, kernel=told(s.kernel)) for s in plan.steps)
    feeds = feeds_of(plan)
    with opened(replace(plan, steps=steps)) as e:
        for name, y in evaluate_graph(plan.graph, feeds, precision="float32").items():
            np.testing.assert_array_equal(e.run(feeds)[name], y)


def test_what_is_on_a_device_stays_there(small: DeviceExecutable, gpu: FakeGpu) -> None:
    feeds = feeds_of(small.plan)
    expected = small.run(feeds)
    given = {name: Tensor(x, gpu) for name, x in feeds.items()}
    lent, copied = small.run_device(given, borrow=True), small.run_device(given)
    for name, y in expected.items():
        np.testing.assert_array_equal(copied[name].array, y)
        np.testing.assert_array_equal(lent[name].array, y)
    other = feeds_of(small.plan, 1)
    small.run_device(other)
    small.replay()
    for name, y in evaluate_graph(small.plan.graph, other, precision="float32").items():
        np.testing.assert_array_equal(lent[name].array, y)
        np.testing.assert_array_equal(copied[name].array, expected[name])


def test_outputs_go_where_the_caller_wants_them(small: DeviceExecutable) -> None:
    feeds, port = feeds_of(small.plan), small.outputs[0]
    mine = np.empty(port.shape, port.dtype)
    found = small.run(feeds, {port.name: mine})
    assert found[port.name] is mine
    np.testing.assert_array_equal(small.run(feeds)[port.name], mine)


@pytest.mark.parametrize(
    ("feeds", "text"),
    [
        ({}, "input 'x' is missing: expected f32[4,24]"),
        ({"x": np.zeros((4, 24))}, "input 'x' must be f32[4,24], found f64[4,24]"),
        ({"x": [1.0]}, "input 'x' must be a numpy array f32[4,24], found list"),
        ({"x": Tensor(np.zeros((4, 2), np.float32), FakeGpu())}, "input 'x' must be f32[4,24], found f32[4,2]"),
        ({"x": np.zeros((4, 24), np.float32), "w": 1}, "the model has no input 'w'; it has x"),
    ],
)
def test_inputs_that_do_not_fit(small: DeviceExecutable, feeds: dict, text: str) -> None:
    with pytest.raises(InputError, match=re.escape(text)):
        small.run(feeds)


def test_a_profile_has_every_step(small: DeviceExecutable) -> None:
    """A step takes its own time, without the start of the graph, which the total holds."""
    profile = small.profile(feeds_of(small.plan), runs=3, blocks=2)
    assert profile.runs == 6
    assert profile.steps == pytest.approx([0.0 if s.idle else 1e-3 for s in small.plan.steps])
    copies = len(small._layout.copies)  # pyright: ignore[reportPrivateUsage]
    assert profile.total == pytest.approx(sum(profile.steps) + 1e-3 * (Event.START + copies))


def test_no_kernel_finds_zeros_that_nobody_wrote(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(launched(random_plan(3))) as e:
        found: list[np.ndarray] = []
        monkeypatch.setattr(resident, "warmed", lambda torch, work: found.append(arena_of(work.__self__)))
        e.run(feeds_of(e.plan))
    assert found[0].size and (found[0] == resident.POISON).all()


def arena_of(program: resident.Resident) -> np.ndarray:
    return program.room(Room.ARENA).array.copy()


def test_a_program_is_recorded_by_the_thread_that_warmed_it_up(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries keep what they chose and allocated by thread."""
    threads = dict[str, int]()
    for name in ("warmed", "captured"):
        whole = getattr(resident, name)
        monkeypatch.setattr(
            resident, name, lambda *args, name=name, whole=whole: (threads.update({name: get_ident()}), whole(*args))[1]
        )
    with opened(launched(random_plan(3))) as e, ThreadPoolExecutor(1) as pool:
        pool.submit(e.run, feeds_of(e.plan)).result()
    assert threads["warmed"] == threads["captured"] != get_ident()


def test_binaries_that_the_device_refuses_are_found_when_the_archive_is_opened(tmp_path: Path, gpu: FakeGpu) -> None:
    with opened(launched(random_plan(7))) as e:
        path = e.save(tmp_path / "m.korch")
    gpu.refused = set(gpu.kernels)
    with pytest.raises(Error, match=r"was compiled elsewhere: .* image is invalid .* `korch optimize` again"):
        load(path)
    with load(path, runs=False) as e:
        assert e.plan.device == "H200"


def test_replays_give_the_same_bits_and_a_kernel_that_reads_its_own_output_does_not(gpu: FakeGpu) -> None:
    with opened(launched(random_plan(3))) as e:
        one, other = (feeds_of(e.plan, k) for k in (0, 1))
        assert not changed_bits(e, one, other, replays=10)
        kernels, runs = e.run, count()

        def drifting(feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            found = kernels(feeds)
            return {n: y + (y.dtype.type(1) if next(runs) >= 7 else y.dtype.type(0)) for n, y in found.items()}

        e.run = drifting  # pyright: ignore[reportAttributeAccessIssue]
        assert "replay" in changed_bits(e, one, other, replays=10)


def test_runs_take_turns(small: DeviceExecutable) -> None:
    wanted = [evaluate_graph(small.plan.graph, feeds_of(small.plan, i), precision="float32") for i in range(3)]

    def wrong(i: int) -> list[str]:
        runs = [small.run(feeds_of(small.plan, i)) for _ in range(10)]
        return [n for found in runs for n, y in wanted[i].items() if not np.array_equal(found[n], y)]

    with ThreadPoolExecutor(3) as pool:
        assert not any(pool.map(wrong, range(3)))


def test_a_closed_executable_says_so(small: DeviceExecutable) -> None:
    small.run(feeds_of(small.plan))
    small.close()
    small.close()
    assert not small.linked.folder.exists()
    feeds = feeds_of(small.plan)
    for work in (lambda: small.run(feeds), lambda: small.save("x.korch"), lambda: small.profile(feeds)):
        with pytest.raises(Error, match="closed"):
            work()


def test_an_archive_made_where_no_gpu_is_runs_where_one_is(tmp_path: Path, gpu: FakeGpu) -> None:
    plan = launched(random_plan(7))
    gpu.sm = 75
    with opened(plan) as e:
        path = e.save(tmp_path / "m.korch")
        assert not gpu.loaded
    gpu.sm = 90
    feeds = feeds_of(plan)
    with load(path) as e:
        assert isinstance(e, DeviceExecutable) and e.plan.steps == plan.steps
        assert (e.plan.target, e.plan.device) == ("cuda", "H200")
        for name, y in evaluate_graph(plan.graph, feeds, precision="float32").items():
            np.testing.assert_array_equal(e.run(feeds)[name], y)


def test_programs_for_a_device_are_not_for_c(small: DeviceExecutable, tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="C programs run plans for the CPU"):
        small.export(tmp_path)


def test_kernels_for_other_targets_are_refused(gpu: FakeGpu) -> None:
    with pytest.raises(Error, match=r"step 0 .* kernel of 'hand', which runs on no GPU"):
        opened(chain())


def test_calls_that_nobody_knows_are_named(gpu: FakeGpu) -> None:
    plan = random_plan(5)
    bodies = (LibraryCall("gone") if s.kernel.call else s.kernel.body for s in plan.steps)
    steps = tuple(replace(s, kernel=replace(s.kernel, body=b)) for s, b in zip(plan.steps, bodies, strict=True))
    with opened(replace(plan, steps=steps)) as e, pytest.raises(BackendError, match="calls 'gone', which this Korch"):
        e.run(feeds_of(plan))


def test_the_plan_says_where_it_is_linked_for(gpu: FakeGpu) -> None:
    with Executable.link(launched(random_plan(2))) as e:
        assert isinstance(e, DeviceExecutable) and e.linked.capability == 90


def test_without_pytorch_a_run_says_what_is_missing(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with opened(launched(random_plan(1))) as e, pytest.raises(BackendError, match="pip install torch"):
        e.run(feeds_of(e.plan))


def test_failures_of_the_device_are_one_line(gpu: FakeGpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("CUDA out of memory.\nmany\nlines")

    monkeypatch.setattr(pytorch(), "zeros", fail)
    with opened(launched(random_plan(1))) as e, pytest.raises(Error, match=r"does not start .*: CUDA out of memory\.$"):
        e.run(feeds_of(e.plan))


SOURCE = """\
def {name}(a, y):
    i = tl.arange(0, 128)
    tl.store(y + i, {body}, mask=i < 96)
"""


def triton_plan() -> Plan:
    """y = relu(-x), z = -x, by two functions of Triton, and a view."""
    b = Builder()
    x = b.input("x", "float32", (4, 24))
    n = b.op("Neg", x)
    graph = b.graph([("y", b.op("Relu", b.op("Reshape", n, shape=(96,)))), ("n", n)])
    bodies = {"Neg": "-tl.load(a + i, mask=i < 96)", "Relu": "tl.maximum(tl.load(a + i, mask=i < 96), 0.0)"}

    def kernel(p: Primitive) -> Kernel:
        made = alias(p)
        if p.op == "Reshape":
            return made
        source = SOURCE.format(name=p.op.lower(), body=bodies[p.op])
        return replace(made, body=Triton(source, (Launch(p.op.lower(), (1, 1, 1), (0, 1)),)))

    return plan_of(graph, kernel).on("cuda", "H200")


def test_binaries_are_made_for_a_device_that_is_not_here(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    with DeviceExecutable.link(triton_plan(), DEVICES["H200"], jobs=1) as e:
        made = [b for row in e.linked.binaries for b in row]
        assert [b.function for b in made] == ["neg", "relu"] and all(b.cubin[:4] == b"\x7fELF" for b in made)
        path = e.save(tmp_path / "m.korch")
    with pytest.raises(ArchiveError, match=r"m\.korch was made for an NVIDIA H200 \(sm_90\)"):
        load(path)


@pytest.mark.cuda
def test_a_plan_runs_on_a_gpu(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU here")
    from korch.backends.cuda.driver import driver
    from korch.devices import Device

    plan, found = triton_plan(), driver()
    device = Device(found.name(0), found.capability(0), found.multiprocessors(0), 0, DEVICES["H200"].machine)
    feeds = feeds_of(plan)
    expected = evaluate_graph(plan.graph, feeds, precision="float32")
    with DeviceExecutable.link(plan, device, jobs=2) as e:
        path = e.save(tmp_path / "m.korch")
        profile = e.profile(feeds, 5)
        assert profile.total > 0 and sum(profile.steps) <= profile.total
        assert not changed_bits(e, feeds, feeds_of(plan, 1))
        made = e.run_device({"x": torch.from_numpy(feeds["x"]).cuda()})
        np.testing.assert_array_equal(made["y"].cpu().numpy(), expected["y"])
    with load(path) as e:
        for name, y in e.run(feeds).items():
            np.testing.assert_array_equal(y, expected[name])
