"""Linked plans give the reference's values, take only what fits, and can be used from several threads."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from tests.by_hand import by_hand, code
from tests.marks import slow_but, slow_but_every

from korch.backends.contract import Kernel
from korch.backends.cpu.c import Code
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.toolchain import find_toolchain
from korch.errors import ArchiveError, BackendError, Error, InputError
from korch.executable.plan import Plan
from korch.executable.runtime import Executable, load
from korch.ir import Builder, Cone, Primitive
from korch.ir.evaluate import evaluate_graph

from .small_plans import BODIES, LOOP, chain, feeds_of, host, native, plan_of, with_workspace


def assert_right(plan: Plan, seed: int = 0) -> None:
    feeds = feeds_of(plan, seed)
    expected = evaluate_graph(plan.graph, feeds, precision="float32")
    with Executable.link(plan) as e:
        found = e.run(feeds)
    assert list(found) == list(plan.graph.output_names)
    for name, y in expected.items():
        assert found[name].dtype == y.dtype and found[name].shape == y.shape
        np.testing.assert_array_equal(found[name], y)


@pytest.mark.parametrize("length", [1, 2, 7])
def test_chain(length: int) -> None:
    assert_right(chain(length))


def test_more_kernels_than_fit_one_unit() -> None:
    b = Builder()
    v = b.input("x", "float32", (4, 30))
    parts = []
    for n in range(1, 31):
        parts.append(b.op("Relu", b.op("Slice", v, starts=(0, 0), steps=(1, 1), lengths=(4, n))))
    assert_right(plan_of(b.graph([(f"y{i}", p) for i, p in enumerate(parts)])))


def test_outputs_that_are_inputs_constants_aliases_and_repeats() -> None:
    b = Builder()
    x = b.input("x", "float32", (5, 3))
    c = b.constant(np.arange(15, dtype=np.float32).reshape(5, 3), name="c")
    y = b.op("Relu", x + c)
    outputs = [
        ("same", x),
        ("flat_x", b.op("Reshape", x, shape=(15,))),
        ("c", c),
        ("y", y),
        ("flat_y", b.op("Reshape", y, shape=(3, 5))),
        ("y_again", y),
    ]
    assert_right(plan_of(b.graph(outputs)))


def test_names_that_c_would_misread() -> None:
    b = Builder()
    x = b.input('x"\\\n/é*/??/', "float32", (3,))
    assert_right(plan_of(b.graph([("y\\", b.op("Relu", x))])))


def test_zero_sized_and_scalar_tensors() -> None:
    b = Builder()
    empty, one = b.input("e", "float32", (0, 4)), b.input("s", "float32", ())
    assert_right(plan_of(b.graph([("e2", b.op("Relu", empty)), ("s2", b.op("Neg", one))])))


def test_a_graph_without_steps_or_inputs() -> None:
    b = Builder()
    assert_right(plan_of(b.graph([("c", b.constant(np.array([1, 2], np.int64)))])))


@pytest.mark.parametrize("repeats", [1, 40])
def test_an_index_outside_of_its_axis_is_an_error_of_that_run(repeats: int) -> None:
    """Whether the program is one unit of C or several."""
    b = Builder()
    table, i = b.input("table", "float32", (5, 3)), b.input("i", "int64", (2,))
    y = b.op("Take", table, i, axis=0, batch=0)
    for _ in range(repeats):
        y = b.op("Neg", y)
    plan = plan_of(b.graph([("y", y)]), lambda p: LOOPS.build(Cone.of([p]), 2)[0])
    feeds = {"table": np.arange(15, dtype=np.float32).reshape(5, 3), "i": np.asarray([-5, 4])}
    with Executable.link(plan) as e:
        for wrong in ([5, 0], [0, -6], [2**62, 0]):
            with pytest.raises(Error, match=r"step 0 .* index outside of the axis"):
                e.run(feeds | {"i": np.asarray(wrong)})
            np.testing.assert_array_equal(e.run(feeds)["y"], feeds["table"][[-5, 4]] * (-1) ** repeats)


def test_host_steps_between_native_ones() -> None:
    b = Builder()
    x = b.input("x", "float32", (4, 6))
    y = b.op("Transpose", b.op("Relu", x), perm=(1, 0))
    assert_right(plan_of(b.graph([("y", b.op("Neg", y)), ("greater", b.op("Greater", x, b.op("Neg", x)))])))


def test_a_failing_host_step_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    b = Builder()
    plan = plan_of(b.graph([("y", b.op("Exp", b.input("x", "float32", (3,))))]), host)
    with Executable.link(plan) as e:
        step = e._host._steps[0]
        e._host._steps[0] = replace(step, names=("nobody",))
        with pytest.raises(Error, match=r"step 0 \(\w+\).*nobody"):
            e.run(feeds_of(plan))
        e._host._steps[0] = step
        e.run(feeds_of(plan))


INIT = """if (in[0] || !in[1]) return 7;
    float *scaled = korch_aligned(12);
    for (int i = 0; i < 3; ++i) scaled[i] = 2 * ((const float *)in[1])[i];
    *state = scaled;
    return 0;"""
STATEFUL = """float *room = workspace;
    for (int i = 0; i < 3; ++i) room[i] = ((const float *)in[0])[i] + ((float *)state)[i];
    memcpy(out, room, 12);"""


def stateful(init: str = INIT) -> Plan:
    b = Builder()
    x = b.input("x", "float32", (3,))
    w = b.constant(np.array([1, 2, 3], np.float32), name="w")
    g = b.graph([("y", x + w), ("z", x + w * w)])
    made = code(STATEFUL, init=init, free="free(state);", workspace=12)
    return plan_of(g, lambda p: by_hand(native(p).cone, made))


def test_each_step_has_its_own_state_and_a_workspace() -> None:
    plan = stateful()
    with Executable.link(plan) as e:
        found = e.run({"x": np.ones(3, np.float32)})
    np.testing.assert_array_equal(found["y"], [3, 5, 7])
    np.testing.assert_array_equal(found["z"], [3, 9, 19])


def test_a_kernel_that_does_not_start_is_named() -> None:
    with pytest.raises(ArchiveError, match=r"kernel of step 0 \(.*\) failed to start: status 7"):
        Executable.link(stateful(INIT.replace("in[0] ||", "1 ||")))


def test_big_arena_and_misaligned_buffers() -> None:
    plan = with_workspace(chain(3, (1 << 20,)), {1: 1 << 22})
    feeds = feeds_of(plan)
    raw = np.empty((1 << 20) + 1, np.float32)[1:]
    raw[:] = feeds["x"]
    out = np.empty((1 << 20) + 3, np.float32)[3:]
    with Executable.link(plan) as e:
        y = e.run(feeds)["y"]
        assert e.run({"x": raw}, outputs={"y": out})["y"] is out
        assert e.peak_bytes >= 3 << 22
    np.testing.assert_array_equal(out, y)


@pytest.fixture(scope="module")
def small() -> Executable:
    return Executable.link(chain())


@pytest.mark.parametrize(
    ("feeds", "text"),
    [
        ({}, "input 'x' is missing: expected f32[3,50]"),
        ({"x": np.zeros((3, 50))}, "input 'x' must be f32[3,50], found f64[3,50]"),
        ({"x": np.zeros((3, 51), np.float32)}, "input 'x' must be f32[3,50], found f32[3,51]"),
        ({"x": [1.0]}, "input 'x' must be a numpy array f32[3,50], found list"),
        ({"x": np.zeros((3, 50), np.float32), "w": 1}, "the model has no input 'w'; it has x"),
    ],
)
def test_inputs_that_do_not_fit(small: Executable, feeds: dict, text: str) -> None:
    with pytest.raises(InputError, match=re.escape(text)):
        small.run(feeds)


def test_outputs_that_do_not_fit(small: Executable) -> None:
    feeds = feeds_of(small.plan)
    with pytest.raises(InputError, match="output 'y' must be f32"):
        small.run(feeds, {"y": np.zeros(3, np.float32)})
    with pytest.raises(InputError, match="output 'y' must be a contiguous array that can be written"):
        small.run(feeds, {"y": np.zeros((50, 3), np.float32).T})
    with pytest.raises(InputError, match="no output 'q'"):
        small.run(feeds, {"q": np.zeros(3, np.float32)})


def test_strided_inputs_are_taken(small: Executable) -> None:
    feeds = feeds_of(small.plan)
    strided = np.repeat(feeds["x"], 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(small.run({"x": strided})["y"], small.run(feeds)["y"])


def test_results_are_never_overwritten(small: Executable) -> None:
    results = [small.run(feeds_of(small.plan, i))["y"] for i in range(8)]
    copies = [r.copy() for r in results]
    views = [r[1:] for r in results[:2]]
    del results[0]
    small.run(feeds_of(small.plan, 99))
    np.testing.assert_array_equal(views[0], copies[0][1:])
    for r, c in zip(results, copies[1:], strict=True):
        np.testing.assert_array_equal(r, c)


def test_runs_are_bit_equal_from_any_thread(small: Executable) -> None:
    wanted = [small.run(feeds_of(small.plan, i))["y"].tobytes() for i in range(4)]

    def wrong(i: int) -> bool:
        return any(small.run(feeds_of(small.plan, i))["y"].tobytes() != wanted[i] for _ in range(50))

    with ThreadPoolExecutor(4) as pool:
        assert not any(pool.map(wrong, range(4)))


COUNT = code("""
#ifdef _OPENMP
    *(float *)out = omp_get_max_threads();
#else
    *(float *)out = -1;
#endif
""")


COUNT_TEAM = code(
    """
#pragma omp single
#ifdef _OPENMP
    *(float *)out = omp_get_num_threads();
#else
    *(float *)out = -1;
#endif
""",
    team=True,
)


def slow(waiting: str) -> Code:
    """A kernel that runs as long as a statement takes."""
    return code(f"extern int usleep(unsigned), access(const char *, int); {waiting}; *(float *)out = 7;")


def waits_for(file: Path) -> Code:
    """A kernel that runs until there is the file."""
    return slow(f'while (access("{file}", 0)) usleep(1000)')


def soon(file: Path) -> None:
    """Makes it when what is called next has begun to wait. (On a busy machine that may not have begun.)"""
    threading.Timer(0.4, file.touch).start()


@pytest.mark.parametrize("counting", [COUNT, COUNT_TEAM], ids=["one", "team"])
def test_the_threads_of_a_run_are_the_plans_or_fewer(counting: Code) -> None:
    b = Builder()

    def count(p: Primitive) -> Kernel:
        return by_hand(native(p).cone, counting)

    plan = plan_of(b.graph([("y", b.op("Neg", b.input("x", "float32", ())))]), count, threads=3)
    with Executable.link(plan) as e, Executable.link(plan, threads=2) as two:
        feeds, found = feeds_of(plan), []
        other = threading.Thread(target=lambda: found.append(e.run(feeds)["y"]))
        other.start()
        other.join()
        openmp = find_toolchain().openmp
        assert e.run(feeds)["y"] == found[0] == (3 if openmp else -1)
        assert two.run(feeds)["y"] == (2 if openmp else -1)


TEAM_LOOP = """const float *a = in[0], *b = in[{second}];
    float *y = out;
#pragma omp for schedule(static) nowait
    for (int k = 0; k < {size}; ++k) {{ int i = {index}; {body}; }}"""


def called_by(callers: str) -> Callable[[Primitive], Kernel]:
    """The kernel's caller by the step's number: (o)pens its own region, (t)eam forwards or (b)ackwards, (s)ingle."""
    turn = cycle(callers)

    def choose(p: Primitive) -> Kernel:
        kind, kernel = next(turn), native(p)
        if kind in "tb":
            index = "k" if kind == "t" else f"{p.output.size - 1} - k"
            text = TEAM_LOOP.format(second=len(p.inputs) - 1, size=p.output.size, index=index, body=BODIES[p.op])
            return by_hand(kernel.cone, code(text, team=True))
        second = len(p.inputs) - 1
        single = LOOP.format(second=second, size=p.output.size, body=BODIES[p.op]).replace(
            "#pragma omp parallel for simd", ""
        )
        return by_hand(kernel.cone, code(single)) if kind == "s" else kernel

    return choose


@pytest.mark.parametrize("callers", slow_but_every(3, ["tb", "tsb", "tssbo", "otbos", "sst", "bts", "os"]))
@pytest.mark.parametrize("threads", slow_but([2, 3], [2]))
def test_teams_wait_for_each_other(callers: str, threads: int) -> None:
    """Each step reads what another thread wrote in the one before; nobody may begin too early."""
    plan = plan_of(chain(24, (7, 1000)).graph, called_by(callers), threads)
    feeds = feeds_of(plan)
    expected = evaluate_graph(plan.graph, feeds, precision="float32")["y"]
    with Executable.link(plan) as e:
        for _ in range(200):
            np.testing.assert_array_equal(e.run(feeds)["y"], expected)
        profile = e.profile(feeds, runs=3)
    assert len(profile.steps) == 24 and all(s > 0 for s in profile.steps)


FAULTY = """if (omp_get_thread_num() == {thread} && *(const float *)in[0] == 7) korch_failure = 5;
#pragma omp single
    *(float *)out = 1;"""


@pytest.mark.skipif(not find_toolchain().openmp, reason="the compiler has no OpenMP")
@pytest.mark.parametrize("thread", [0, 1])
def test_a_call_that_fails_on_any_thread_of_a_team_is_an_error_of_that_run(thread: int) -> None:
    b = Builder()
    graph = b.graph([("y", b.op("Relu", b.op("Neg", b.input("x", "float32", ()))))])

    def by(p: Primitive) -> Kernel:
        return by_hand(native(p).cone, code(FAULTY.format(thread=thread), team=True))

    with Executable.link(plan_of(graph, by, threads=2)) as e:
        for _ in range(2):
            with pytest.raises(Error, match=r"the library that runs step 0 \(\w+\) failed: status 5"):
                e.run({"x": np.array(7, np.float32)})
            assert e.run({"x": np.array(3, np.float32)})["y"] == 1


@pytest.mark.skipif(not find_toolchain().openmp, reason="the compiler has no OpenMP")
@pytest.mark.parametrize("thread", [0, 1])
def test_an_index_that_any_thread_of_a_team_finds_outside_is_an_error_of_that_run(thread: int) -> None:
    b = Builder()
    graph = b.graph([("y", b.op("Relu", b.op("Neg", b.input("x", "float32", ()))))])
    source = FAULTY.format(thread=thread).replace("korch_failure = 5", "korch_out_of_range = 1")

    def by(p: Primitive) -> Kernel:
        return by_hand(native(p).cone, code(source, team=True))

    with Executable.link(plan_of(graph, by, threads=2)) as e:
        for _ in range(2):
            with pytest.raises(Error, match=r"step 0 .* index outside of the axis"):
                e.run({"x": np.array(7, np.float32)})
            assert e.run({"x": np.array(3, np.float32)})["y"] == 1


def test_a_profile_has_the_time_of_every_step() -> None:
    b = Builder()
    sleeping = slow("usleep(20000)")
    graph = b.graph([("y", b.op("Relu", b.op("Neg", b.input("x", "float32", ()))))])

    def by(p: Primitive) -> Kernel:
        return by_hand(native(p).cone, sleeping) if p.op == "Neg" else native(p)

    with Executable.link(plan_of(graph, by)) as e:
        profile = e.profile(feeds_of(e.plan), runs=3, blocks=2)
    assert profile.runs == 6 and profile.steps[0] >= 0.02 and profile.steps[1] > 0
    assert profile.total == pytest.approx(sum(profile.steps), rel=0.02)


def test_a_closed_executable_says_so() -> None:
    e = Executable.link(chain(1))
    folder = e.linked.folder
    e.close()
    e.close()
    assert not folder.exists()
    with pytest.raises(Error, match="closed"):
        e.run(feeds_of(e.plan))
    with pytest.raises(Error, match="closed"):
        e.save("/nonexistent/x.korch")


def test_outputs_that_share_memory_are_refused(small: Executable) -> None:
    x = np.zeros((3, 50), np.float32)
    with pytest.raises(InputError, match="output 'y' shares memory"):
        small.run({"x": x}, {"y": x})
    half = np.zeros((2, 3, 50), np.float32)
    found = small.run({"x": half[0]}, {"y": half[1]})["y"]
    np.testing.assert_array_equal(found, small.run({"x": x})["y"])


def test_nobody_closes_what_another_thread_runs(tmp_path: Path) -> None:
    """The model is freed when the run is over, not under it."""
    b = Builder()

    def waiting(p: Primitive) -> Kernel:
        return by_hand(native(p).cone, waits_for(tmp_path / "end"))

    e = Executable.link(plan_of(b.graph([("y", b.op("Neg", b.input("x", "float32", ())))]), waiting))
    feeds, found = feeds_of(e.plan), []
    other = threading.Thread(target=lambda: found.append(e.run(feeds)["y"]))
    other.start()
    _wait_for(e)
    soon(tmp_path / "end")
    e.close()
    other.join()
    assert found == [7]


def test_a_fork_runs_programs_on_threads_of_its_own(small: Executable, tmp_path: Path) -> None:
    """OpenMP's are not there, and waiting for them would never end; and it leaves the parent's files alone."""
    feeds = feeds_of(small.plan)
    wanted = small.run(feeds)["y"].tobytes()
    assert _in_a_fork(lambda: [small.run(feeds)["y"].tobytes() == wanted for _ in range(3)]) == "[True, True, True]"
    saved = small.save(tmp_path / "small.korch")
    assert _in_a_fork(lambda: load(saved).run(feeds)["y"].tobytes() == wanted) == "True"
    assert _in_a_fork(lambda: small.profile(feeds, runs=2).runs) == "2"
    assert "shares memory" in _in_a_fork(lambda: small.run(feeds, {"y": feeds["x"]}))
    assert _in_a_fork(small.close) == "None" and small.linked.library.exists()


def test_a_fork_waits_for_what_another_thread_runs(tmp_path: Path) -> None:
    """Nobody would end that run in the child, whose own would wait for ever."""
    b = Builder()

    def waiting(p: Primitive) -> Kernel:
        return by_hand(native(p).cone, waits_for(tmp_path / "end"))

    with Executable.link(plan_of(b.graph([("y", b.op("Neg", b.input("x", "float32", ())))]), waiting)) as e:
        feeds = feeds_of(e.plan)
        other = threading.Thread(target=lambda: e.run(feeds))
        other.start()
        _wait_for(e)
        soon(tmp_path / "end")
        assert _in_a_fork(lambda: e.run(feeds)["y"]) == "7.0"
        other.join()
        assert e.run(feeds)["y"] == 7


def _wait_for(e: Executable) -> None:
    """Until another thread runs it."""
    turn = e._native.turn
    while turn.acquire(blocking=False):
        turn.release()
        time.sleep(0.001)


def _in_a_fork(work: Callable[[], object], seconds: int = 300) -> str:
    """What came of `work` there within that time."""
    ours, theirs = os.pipe()
    if not (child := os.fork()):
        signal.alarm(seconds)
        try:
            told = str(work())
        except BaseException as e:
            told = str(e)
        os.write(theirs, told.encode())
        os._exit(0)
    os.close(theirs)
    os.waitpid(child, 0)
    with os.fdopen(ours) as pipe:
        return pipe.read()


def test_an_interrupt_in_a_host_step_stays_one(monkeypatch: pytest.MonkeyPatch) -> None:
    b = Builder()
    with Executable.link(plan_of(b.graph([("y", b.op("Exp", b.input("x", "float32", (3,))))]), host)) as e:

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(type(e._host._steps[0]), "run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            e.run(feeds_of(e.plan))


def test_a_step_that_onnxruntime_does_not_take_is_named() -> None:
    """It has no Conv of float64."""
    b = Builder()
    x, w = b.input("x", "float64", (1, 1, 9)), b.constant(np.ones((1, 1, 3)))
    attrs = {"strides": (1,), "dilations": (1,), "pads": (0, 0), "group": 1, "channels_last": 0}
    plan = plan_of(b.graph([("y", b.op("Conv", x, w, **attrs))]), host)
    with pytest.raises(BackendError, match="onnxruntime does not take the step"):
        Executable.link(plan)
