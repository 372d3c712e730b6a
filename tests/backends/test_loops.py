"""Generated C against the float64 reference: the same cones for one and two threads, and random chains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.marks import Part, parts, slow_but_every

from korch.backends.contract import Refusal
from korch.backends.cpu.c import own, run_function
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.language import table_name, tables_of
from korch.backends.cpu.loops.schedule import schedule
from korch.backends.maps.index import Index, Lookup, Var
from korch.backends.maps.trace import lookup
from korch.executable import Executable
from korch.executable.plan import Plan, Step
from korch.ir import Builder, Cone, Value
from korch.profile import Database, Measurement, Profiler

from .cones import (
    CONES,
    cone_of,
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


@pytest.mark.parametrize("part", parts(4), ids=str)
def test_conformance(part: Part, profiler: Profiler):
    assert not wrong(part.named(CONES), profiler)


@pytest.mark.parametrize("part", parts(4), ids=str)
def test_random_cones(part: Part, profiler: Profiler):
    assert not wrong({f"seed {seed}": random_cone(seed) for seed in part(range(60))}, profiler)


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
    (first, second) = tables_of([run_function(False, [f"{own(name)};"]) for name in (weights, places)])
    assert (first.ctype, second.ctype) == ("float", "int32_t")


def test_nests_of_a_row_are_no_reason_for_chunks():
    assert BACKEND.build(CONES["maximum of a padded image"], 2)[0].workspace == 0


def test_refusals_say_why():
    x, y = cone_of(lambda b, x, y: x @ y, (3, 4), (4, 5)), cone_of(lambda b, x: x + x, (0, 4))
    few = "MatMul with fewer than 4 columns or steps, or rows where the second operand is computed"
    assert BACKEND.refuses(x) == Refusal(few)
    refusal = BACKEND.refuses(y)
    assert refusal and "without elements" in refusal.reason


def test_a_reshape_is_a_view():
    kernel = BACKEND.build(cone_of(lambda b, x: b.op("Reshape", x, shape=(20,)), (4, 5)), 2)[0]
    assert kernel.alias and not kernel.source


def turned(b: Builder, x: Value, y: Value) -> Value:
    return b.op("Relu", b.op("Transpose", x, perm=(0, 2, 1))) * b.op("Transpose", y, perm=(0, 2, 1))


PAGES_APART = {
    f"{shape}": cone_of(turned, shape, shape) for shape in ((1, 1600, 16), (2, 1024, 19), (1, 2064, 5), (3, 1600, 33))
} | {"integers": cone_of(lambda b, x: b.op("Transpose", x, perm=(1, 0)), (1040, 9), dtype="int32")}

LIKE_GELU = {
    f"{half} {whole}": cone_of(
        lambda b, x, half=half, whole=whole: x * half * (b.op("Erf", x * 0.7071067811865475) + whole), (9, 64)
    )
    for half, whole in ((0.6, 1.0), (0.5, 2.0))
}


def test_squares_whose_rows_are_written_pages_apart(profiler: Profiler):
    assert not wrong(PAGES_APART, profiler)


def test_what_only_looks_like_gelu_is_not(profiler: Profiler):
    assert not wrong(LIKE_GELU, profiler)


@pytest.mark.parametrize("even", [(0, 0, 0), (1, 3, 5), (2, 2, 3, 3), (0, 1, 2, 2, 3, 4, 4, 5, 6), (8, 7, 6, 5)])
def test_even_steps_need_no_table(even: tuple[int, ...]):
    assert not any(isinstance(atom, Lookup) for atom in position(even).atoms())


@pytest.mark.parametrize("odd", [(0, 1, 3), (0, 0, 1, 2, 2, 3), (0, 1, 2, 2, 3, 5)])
def test_odd_steps_need_a_table(odd: tuple[int, ...]):
    assert any(isinstance(atom, Lookup) for atom in position(odd).atoms())


def position(indices: tuple[int, ...]) -> Index:
    """The element of `indices` in a turn of a loop around all of them."""
    return lookup(indices, Index.of(Var("i", 0, len(indices))))


@pytest.mark.parametrize("name", ["x\n} #error code", "x\\", "x\u2028}", "${run}"])
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
    source = BACKEND.build(plain, 1)[0].placed(named).source
    assert len(source.splitlines()) == len(BACKEND.build(plain, 1)[0].source.splitlines()) and "\\\n" not in source


def test_products_of_too_many_elements_are_refused():
    b = Builder()
    x, w = b.input("x", "float32", (1 << 16, 64)), b.constant(np.ones((64, 1 << 16), np.float32))
    refusal = BACKEND.refuses(Cone.of(b.graph([("y", x @ w)]).primitives))
    assert isinstance(refusal, Refusal) and "2^31" in refusal.reason


@pytest.mark.parametrize("name", slow_but_every(6, SUMS))
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
