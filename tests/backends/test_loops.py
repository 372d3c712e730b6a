"""Generated C against the float64 reference: the same cones for one and two threads, and random chains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from korch.backends.contract import Declined
from korch.backends.cpu.loops import tile
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.schedule import schedule
from korch.backends.cpu.loops.spell import table_name, tables_of
from korch.backends.program import named_for
from korch.executable import Executable
from korch.executable.plan import Plan, Step
from korch.ir import Builder, Cone, Value
from korch.profile import Database, Measurement, Profiler

from .cones import (
    CONES,
    cone_of,
    depthwise,
    direct,
    normalised,
    random_cone,
    softmax,
    total,
)
from .measured import THREADS

SUMS = {
    "all": (total((0, 1)), (7, 30011)),
    "rows": (total((1,)), (3, 40000)),
    "more rows": (total((1,)), (12, 20000)),
    "columns": (total((0,)), (40000, 5)),
    "images": (total((1, 2)), (1, 150, 170, 6)),
    "norm": (normalised((1,)), (2, 60000)),
    "softmax": (softmax(1), (3, 50000)),
    "softmax across": (softmax(0), (50000, 3)),
    "softmax of many columns": (softmax(0), (2000, 512)),
    "norm of many channels": (normalised((1, 2)), (2, 20, 25, 512)),
    "sums of many columns": (total((0,)), (1500, 700)),
}


@pytest.fixture(scope="module", params=[1, 2])
def profiler(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profiler]:
    with Profiler(request.param, Database(tmp_path_factory.mktemp("cache"))) as p:
        yield p


def wrong(cones: dict[str, Cone], profiler: Profiler) -> dict[str, object]:
    """The results that are no measurements. One batch: compiling together is what keeps this quick."""
    kernels = [BACKEND.build(cone, profiler.setting.threads)[0] for cone in cones.values()]
    results = profiler.measure(kernels)
    return {name: r for name, r in zip(cones, results, strict=True) if not isinstance(r, Measurement)}


def test_conformance(profiler: Profiler):
    assert not wrong(CONES, profiler)


def test_random_cones(profiler: Profiler):
    cones = [random_cone(seed) for seed in range(60)]
    kernels = [BACKEND.build(c, profiler.setting.threads)[0] for c in cones]
    for seed, result in enumerate(profiler.measure(kernels)):
        assert isinstance(result, Measurement), f"seed {seed}: {result}\n{cones[seed]}"


@pytest.mark.parametrize("threads", THREADS)
def test_no_stage_is_computed_beyond_its_tensor(threads: int):
    """Where nobody uses what it finds there, no other test would see that it reads beyond its leaves."""
    for name, cone in CONES.items():
        for stage in schedule(cone, threads).stages:
            for at, length in zip(stage.axes, stage.tensor.shape, strict=True):
                low, high = at.range()
                assert low >= 0 and high < length, name


def test_tables_that_are_equal_in_python_are_not_in_c():
    weights, places = table_name((0.0, 1.0)), table_name((0, 1))
    assert "float" in tables_of(weights)[0] and "int32_t" in tables_of(places)[0]


def test_norms_compute_roots_once_a_channel():
    source = BACKEND.build(CONES["instance norm pad last"], 2)[0].source
    root = next(i for i, line in enumerate(source.splitlines()) if "sqrtf(" in line)
    assert "out[" not in "".join(source.splitlines()[root : root + 4])


def test_nests_of_a_row_are_no_reason_for_chunks():
    assert BACKEND.build(CONES["maximum of a padded image"], 2)[0].workspace == 0


def test_refusals_say_why():
    x, y = cone_of(lambda b, x, y: x @ y, (3, 4), (4, 5)), cone_of(lambda b, x: x + x, (0, 4))
    few = "MatMul with fewer than 4 columns or steps, or rows where the second operand is computed"
    assert BACKEND.declines(x) == Declined(few)
    declined = BACKEND.declines(y)
    assert declined and "without elements" in declined.reason


def test_a_reshape_is_a_view():
    kernel = BACKEND.build(cone_of(lambda b, x: b.op("Reshape", x, shape=(20,)), (4, 5)), 2)[0]
    assert kernel.alias and not kernel.source


def test_the_source_reads_like_the_cone():
    source = BACKEND.build(CONES["softmax last"], 1)[0].source
    assert source.startswith("// t1 = reduce_max(x0, axes=(3,), keepdims=1)")
    assert "part = KORCH_MAX(part, v0);" in source
    assert source.count("korch_exp_belowf(") == 1  # of what is never above zero; kept for the sum and the quotient


def test_the_maximum_of_another_row_may_be_smaller():
    def crossed(b: Builder, x: Value) -> Value:
        return b.op("Exp", x - b.op("ReduceMax", x, axes=(1,), keepdims=False))

    assert "korch_exp_belowf" not in BACKEND.build(cone_of(crossed, (8, 8)), 1)[0].source


@pytest.mark.parametrize("name", ["one pass rows", "one pass image", "one pass image last", "range"])
def test_reductions_of_the_same_elements_share_a_loop_nest(name: str):
    source = BACKEND.build(CONES[name], 1)[0].source
    assert source.count("in0[") == 2  # once for the reductions, once for what follows
    assert "(part1)" in source or "acc1[" in source or name == "range"


def test_a_reduction_that_waits_for_another_has_its_own_loop_nest():
    source = BACKEND.build(CONES["layer norm"], 1)[0].source
    assert source.count("in0[") == 3 and "acc1" not in source


@pytest.mark.parametrize("name, function", [("gelu", "korch_geluf"), ("mish", "korch_mishf")])
def test_functions_of_several_primitives_are_one(name: str, function: str):
    source = BACKEND.build(CONES[name], 1)[0].source
    assert source.count(f"{function}(") == source.count("korch_") == 1


@pytest.mark.parametrize(
    ("cone", "functions"),
    [
        (CONES["silu of rows"], {"silu"}),
        (CONES["silu and mish joined"], {"silu", "mish"}),
        (CONES["mish"], set[str]()),
        (depthwise((1, 20, 21, 48), behind="mish"), {"mish"}),
        (direct((1, 9, 9, 3), 32, (3, 3), behind="silu"), {"silu"}),
    ],
)
def test_functions_of_whole_vectors_are_of_vectors(cone: Cone, functions: set[str]):
    source, lanes = BACKEND.build(cone, 1)[0].source, tile.registers().lanes
    assert {f for f in ("silu", "mish") if f"korch_{f}{lanes}(" in source} == functions


@pytest.mark.parametrize(
    ("name", "squares"),
    [
        ("four channels", 1),
        ("scaled channels", 4),
        ("many channels", 18),
        ("padded channels", 6),
        ("channels of a product", 0),
        ("halves of an image", 3),
        ("halves", 0),
        ("halves of an odd image", 0),
        ("few channels", 0),
    ],
)
def test_channels_change_places_in_registers(name: str, squares: int):
    assert BACKEND.build(CONES[name], 1)[0].source.count("korch_interleave") == squares


def test_a_sigmoid_is_of_vectors_where_there_are_faster_ones():
    lanes = tile.registers().lanes
    source = BACKEND.build(cone_of(lambda b, x: b.op("Sigmoid", x) + 1.0, (3, 5, 64)), 1)[0].source
    assert f"korch_sigmoid{lanes}(" in source


@pytest.mark.parametrize("half, whole", [(0.6, 1.0), (0.5, 2.0)])
def test_what_only_looks_like_gelu_is_not(half: float, whole: float):
    cone = cone_of(lambda b, x: x * half * (b.op("Erf", x * 0.7071067811865475) + whole), (9, 64))
    assert "korch_erff(" in BACKEND.build(cone, 1)[0].source


@pytest.mark.parametrize(("name", "turns"), [("heads of 16", 1), ("heads of 21", 1), ("layer norm", 0)])
def test_turns_too_short_to_find_ones_place_for_are_unrolled(name: str, turns: int):
    assert BACKEND.build(CONES[name], 2)[0].source.count("#pragma GCC unroll 4") == turns


@pytest.mark.parametrize(("channels", "run", "asked"), [(576, 16, 1), (576, 128, 8), (48, 16, 0), (4096, 1024, 0)])
def test_short_runs_that_lie_apart_are_asked_for_ahead(channels: int, run: int, asked: int):
    def some(b: Builder, x: Value) -> Value:
        y = b.op("Slice", x, starts=(0, 0, 16), steps=(1, 1, 1), lengths=(4, 2000, run))
        return b.op("Relu", y)

    source = BACKEND.build(cone_of(some, (4, 2000, channels)), 1)[0].source
    assert source.count("__builtin_prefetch(in0 + ") == asked


@pytest.mark.parametrize(("channels", "asked"), [(576, True), (192, False)])
def test_short_runs_that_shared_loops_read_are_asked_for_ahead(channels: int, asked: bool):
    def normed(b: Builder, x: Value) -> Value:
        y = b.op("Reshape", x, shape=(4000, 12, channels // 12))
        y = b.op("Relu", b.op("Slice", y, starts=(0, 0, 0), steps=(1,) * 3, lengths=(4000, 12, 16)))
        return y / (b.op("ReduceSum", y, axes=(2,), keepdims=1) + 1.0)

    found = [
        line
        for line in BACKEND.build(cone_of(normed, (4000, channels)), 1)[0].source.splitlines()
        if "__builtin_prefetch(in0 + " in line
    ]
    assert bool(found) == asked and len(set(found)) == len(found)


@pytest.mark.parametrize(("heads", "asked"), [(12, 0), (64, 1)])
def test_nothing_beyond_a_loop_is_asked_for(heads: int, asked: int):
    """It would be another tensor, or no memory at all."""
    cone = cone_of(lambda b, x: b.op("Relu", b.op("Transpose", x, perm=(0, 2, 1, 3))), (1, heads, 2000, 16))
    assert BACKEND.build(cone, 1)[0].source.count("__builtin_prefetch(in0 + ") == asked


def turned(b: Builder, x: Value, y: Value) -> Value:
    return b.op("Relu", b.op("Transpose", x, perm=(0, 2, 1))) * b.op("Transpose", y, perm=(0, 2, 1))


PAGES_APART = {
    f"{shape}": cone_of(turned, shape, shape) for shape in ((1, 1600, 16), (2, 1024, 19), (1, 2064, 5), (3, 1600, 33))
} | {"integers": cone_of(lambda b, x: b.op("Transpose", x, perm=(1, 0)), (1040, 9), dtype="int32")}


def test_squares_whose_rows_are_written_pages_apart_turn_in_registers(profiler: Profiler):
    assert not wrong(PAGES_APART, profiler)
    for name, cone in PAGES_APART.items():
        expected = 0 if name == "integers" else 2
        assert BACKEND.build(cone, 1)[0].source.count("korch_turn(") == expected, name


def test_parts_of_a_row_are_written_side_by_side():
    source = BACKEND.build(CONES["concat last"], 2)[0].source
    assert source.count("for (int i0_1") == 1 and source.count("] = v") == 2


def test_even_steps_need_no_table():
    def picked(*indices: int) -> str:
        return BACKEND.build(cone_of(lambda b, x: b.op("Gather", x, axis=0, indices=indices), (9, 4)), 1)[0].source

    assert "KERNEL_table" not in BACKEND.build(CONES["windows"], 1)[0].source
    for even in ((0, 0, 0), (1, 3, 5), (2, 2, 3, 3), (0, 1, 2, 2, 3, 4, 4, 5, 6), (8, 7, 6, 5)):
        assert "KERNEL_table" not in picked(*even), even
    for odd in ((0, 1, 3), (0, 0, 1, 2, 2, 3), (0, 1, 2, 2, 3, 5)):
        assert "KERNEL_table" in picked(*odd), odd


@pytest.mark.parametrize("name", ["x\n} #error code", "x\\", "x\u2028}", "KERNEL_run"])
def test_names_of_a_model_are_no_code(name: str, tmp_path: Path):
    """They stand in comments, of one kernel for all cones that are equal but for them."""
    b = Builder()
    x, i = b.input(name, "float32", (7, 48)), b.input(f"{name}i", "int64", (3,))
    cones = {
        "map": b.op("Exp", x),
        "sums": b.op("ReduceSum", b.op("Exp", x), axes=(1,), keepdims=1),
        "take": b.op("Take", x, i, axis=0, batch=0),
        "product": x @ b.constant(np.ones((48, 64), np.float32)),
    }
    with Profiler(1, Database(tmp_path)) as profiler:
        assert not wrong({n: Cone.of(b.graph([("y", y)]).primitives) for n, y in cones.items()}, profiler)
    plain, named = (
        Cone.of(c.graph([("y", c.op("Exp", c.input(n, "float32", (9,))))]).primitives)
        for c, n in ((Builder(), "plain"), (Builder(), name))
    )
    source = named_for(BACKEND.build(plain, 1)[0], named).source
    assert len(source.splitlines()) == len(BACKEND.build(plain, 1)[0].source.splitlines()) and "\\\n" not in source


def test_products_of_too_many_elements_are_declined():
    b = Builder()
    x, w = b.input("x", "float32", (1 << 16, 64)), b.constant(np.ones((64, 1 << 16), np.float32))
    declined = BACKEND.declines(Cone.of(b.graph([("y", x @ w)]).primitives))
    assert isinstance(declined, Declined) and "2^31" in declined.reason


@pytest.mark.parametrize("name", SUMS)
def test_sums_have_the_same_bits_on_any_number_of_threads(name: str):
    """Few outputs are added up in a fixed number of parts, whoever takes them."""
    build, shape = SUMS[name]
    b = Builder()
    y = build(b, b.input("x", "float32", shape))
    cone = Cone.of(b.graph([("y", y)]).primitives)
    x = np.random.default_rng(5).standard_normal(shape).astype(np.float32)
    found = []
    for threads in (1, 2, 3, 7, 9, 20):
        kernel = BACKEND.build(cone, threads)[0]
        plan = Plan(b.graph([("y", y)]), (Step.of(kernel, 1e-6, None),), threads, "default", 1e-6, 0.0)
        with Executable.link(plan) as e:
            found.append(e.run({"x": x})["y"].tobytes())
    assert len(set(found)) == 1
