"""What generated C makes of NaN, infinities, zero divisors and the ends of integers: what the reference does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.executable.small_plans import plan_of

from korch.backends.contract import Kernel, Refusal
from korch.backends.cpu.loops.backend import BACKEND
from korch.errors import Error
from korch.executable import Executable
from korch.executable.plan import Plan, Step
from korch.ir import Builder, Cone, Primitive, Value
from korch.ir.evaluate import evaluate_graph

FLOATS = (0.0, 1.0, -2.5, 3.0, np.inf, -np.inf, np.nan)
UNARY: dict[str, Callable[[Builder, Value], Value]] = {
    "Relu": lambda b, x: b.op("Relu", x),
    "clipped": lambda b, x: b.op("Min", b.op("Max", x, -1.0), 2.0),
    "clipped the other way": lambda b, x: b.op("Max", b.op("Min", x, 2.0), -1.0),
    "IsInf": lambda b, x: b.op("Cast", b.op("IsInf", x), to="float32"),
    "IsNaN": lambda b, x: b.op("Cast", b.op("IsNaN", x), to="float32"),
    "infinite": lambda b, x: b.op("IsInf", x),
    "LeakyRelu": lambda b, x: b.op("LeakyRelu", x, alpha=0.1),
    "SiLU": lambda b, x: x * b.op("Sigmoid", x),
    "Tanh": lambda b, x: b.op("Tanh", x),
    "Exp": lambda b, x: b.op("Exp", x),
    "Sign": lambda b, x: b.op("Sign", x),
}
BINARY = ("Max", "Min", "Add", "Less", "Equal")


def built(p: Primitive) -> Kernel:
    return BACKEND.build(Cone.of([p]), 1)[0]


def assert_like_reference(b: Builder, outputs: list[tuple[str, Value]], feeds: dict[str, np.ndarray]) -> None:
    graph = b.graph(outputs)
    with np.errstate(all="ignore"):
        expected = evaluate_graph(graph, feeds, precision="float32")
    with Executable.link(plan_of(graph, built, threads=1)) as e:
        found = e.run(feeds)
    for name, _ in outputs:
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-5, err_msg=name)
        if found[name].dtype == bool:
            assert set(found[name].view(np.uint8).tolist()) <= {0, 1}, name


def test_halves_are_rounded_like_numpys():
    """Ties, numbers below and beyond the range, infinities; and rows of halves that are moved."""
    near = np.float32([1 + 2**-11, 1 + 3 * 2**-11, 2**-25, 3 * 2**-26, 65519, 65520, 1e-40, 7e4, -np.inf, np.nan, 0.1])
    b = Builder()
    x, h = b.input("x", "float32", (len(near),)), b.input("h", "float16", (2, 31))
    moved = b.op("Transpose", h, perm=(1, 0))
    outputs = [("down", b.op("Cast", x, to="float16")), ("up", b.op("Cast", h, to="float32")), ("moved", moved)]
    half = np.random.default_rng(0).integers(0, 1 << 16, (2, 31)).astype(np.uint16).view(np.float16)
    with Executable.link(plan_of(b.graph(outputs), built, threads=1)) as e:
        found = e.run({"x": near, "h": half})
    with np.errstate(over="ignore"):
        expected = {"down": near.astype(np.float16), "up": half.astype(np.float32), "moved": half.T}
    for name, y in expected.items():
        np.testing.assert_array_equal(found[name], y, err_msg=name)


def test_numbers_that_are_none():
    """In loops, of which compilers make vectors and what is left over."""
    b = Builder()
    x, y = (b.input(name, "float32", (len(FLOATS) ** 2,)) for name in "xy")
    outputs = [(name, build(b, x)) for name, build in UNARY.items()] + [(op, b.op(op, x, y)) for op in BINARY]
    outputs.append(("Mod", b.op("Mod", x, y, fmod=0)))
    grid = np.array([(u, v) for u in FLOATS for v in FLOATS], np.float32)
    assert_like_reference(b, outputs, {"x": grid[:, 0].copy(), "y": grid[:, 1].copy()})


@pytest.mark.parametrize("function", ["Relu", "clipped", "clipped the other way", "LeakyRelu", "SiLU"])
def test_what_is_no_number_stays_so_behind_a_product(function: str):
    """There it is in vectors."""
    b = Builder()
    x, w = b.input("x", "float32", (12, 8)), b.constant(np.eye(8, 40, dtype=np.float32))
    cone = Cone.of(b.graph([("y", UNARY[function](b, x @ w))]).primitives)
    values = np.ones((12, 8), np.float32)
    values[3, 2] = np.nan
    with Executable.link(whole(b, cone)) as e:
        (found,) = e.run({"x": values}).values()
    assert np.isnan(found[3]).all() and np.isfinite(np.delete(found, 3, 0)).all()


def whole(b: Builder, cone: Cone) -> Plan:
    """A plan of one kernel."""
    plan = plan_of(b.graph([("y", Value(b, cone.root))]), built, threads=1)
    return replace(plan, steps=(Step.of(BACKEND.build(cone, 1)[0], 1e-6, plan.steps[-1].runner_up),))


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8", "uint32"])
def test_integers_wrap_around_and_divide_by_anything(dtype: str):
    limits = np.iinfo(dtype)
    numbers = sorted(
        {limits.min, limits.min + 1, limits.max, limits.max // 3 * 2, 0, 1, 2, 3, 7}
        | ({-1, -2, -7} if limits.min else set())
    )
    grid = np.array([(u, v) for u in numbers for v in numbers], dtype)
    b = Builder()
    x, y = (b.input(name, dtype, (len(grid),)) for name in "xy")
    outputs = [
        ("Div", b.op("Div", x, y)),
        ("fmod", b.op("Mod", x, y, fmod=1)),
        ("mod", b.op("Mod", x, y, fmod=0)),
        ("Abs", b.op("Abs", x)),
        *((op, b.op(op, x, y)) for op in ("Add", "Sub", "Mul")),
        ("Neg", b.op("Neg", x)),
    ]
    assert_like_reference(b, outputs, {"x": grid[:, 0].copy(), "y": grid[:, 1].copy()})


@pytest.mark.parametrize("dtype", ["int32", "int64", "int8", "uint8", "uint32"])
@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
def test_sums_and_products_of_integers_wrap_around(dtype: str, axes: tuple[int, ...]):
    """Along memory, across it, and over all, which threads share. The sanitizers see what the results do not show."""
    limits, shape = np.iinfo(dtype), (40, 1000)
    b = Builder()
    x = b.input("x", dtype, shape)
    outputs = [(op, b.op(op, x, axes=axes, keepdims=0)) for op in ("ReduceSum", "ReduceProd")]
    numbers = np.random.default_rng(0).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    assert_like_reference(b, outputs, {"x": numbers | 1})


@pytest.mark.parametrize("epilogue", ["Greater", "Cast", "Where"])
@pytest.mark.parametrize(("weights", "group"), [((8, 1, 3, 3), 8), ((16, 3, 3, 3), 1)], ids=["depthwise", "direct"])
def test_kernels_of_floats_refuse_other_types_beside_them(epilogue: str, weights: tuple[int, ...], group: int):
    """Such convolutions write and read nothing but floats."""
    b = Builder()
    x = b.input("x", "float32", (1, 9, 9, weights[1] * group))
    w = b.constant(np.ones(weights, np.float32))
    y = b.op("Conv", x, w, strides=(1, 1), dilations=(1, 1), pads=(1,) * 4, group=group, channels_last=1)
    assert BACKEND.refuses(Cone.of(b.primitives)) is None
    match epilogue:
        case "Greater":
            b.op("Greater", y, 0.0)
        case "Cast":
            b.op("Cast", y, to="uint8")
        case _:
            b.op("Where", b.input("mask", "bool", y.shape), y, 0.0)
    assert isinstance(BACKEND.refuses(Cone.of(b.primitives)), Refusal)


def test_indices_beside_a_product():
    """Whichever thread finds one outside of its axis, the run learns of it."""
    b = Builder()
    product = b.op("Relu", b.input("x", "float32", (64, 32)) @ b.constant(np.ones((32, 32), np.float32)))
    table, at = b.input("table", "float32", (10, 32)), b.input("at", "int64", (8,))
    joined = b.op("Concat", product, b.op("Take", table, at, axis=0, batch=0), axis=0)
    cone = Cone.of(b.graph([("y", joined)]).plain().primitives)
    feeds = {"x": np.ones((64, 32), np.float32), "table": np.arange(320, dtype=np.float32).reshape(10, 32)}
    with Executable.link(whole(b, cone)) as e:
        found = e.run(feeds | {"at": np.arange(-4, 4)})["y"]
        np.testing.assert_array_equal(found[64:], feeds["table"][np.arange(-4, 4)])
        with pytest.raises(Error, match="index outside of the axis"):
            e.run(feeds | {"at": np.arange(3, 11)})


def test_a_zero_keeps_its_sign_when_all_lanes_have_it():
    b = Builder()
    x, s, w = b.input("x", "float32", (12, 8)), b.input("s", "float32", (1,)), np.eye(8, 40, dtype=np.float32) + 1
    cone = Cone.of(b.graph([("y", (x @ b.constant(w)) / s)]).primitives)
    with Executable.link(whole(b, cone)) as e:
        (found,) = e.run({"x": np.ones((12, 8), np.float32), "s": np.array([-0.0], np.float32)}).values()
    assert (found == -np.inf).all()


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("last", ["byte", "float"])
@pytest.mark.parametrize("zero", [0, 5])
def test_rounding_to_bytes_is_one_function(dtype: str, last: str, zero: int):
    """Ties, far numbers and infinities; behind elementwise primitives and behind a product."""
    limits, scale = np.iinfo(dtype), np.float32(0.3)
    b = Builder()
    x, w = b.input("x", "float32", (40, 16)), b.constant(np.eye(16, dtype=np.float32))
    feeds = {"x": (np.arange(640).reshape(40, 16) - 320).astype(np.float32) / 2}
    feeds["x"][3, :4] = np.inf, -np.inf, 3e38, -0.0

    def quantized(y: Value) -> Value:
        codes = b.op("Round", y) + float(zero)
        codes = b.op("Cast", b.op("Min", b.op("Max", codes, float(limits.min)), float(limits.max)), to=dtype)
        return codes if last == "byte" else (b.op("Cast", codes, to="float32") - float(zero)) * scale

    for y in (x, x / 0.7, x @ w):
        cone = Cone.of(b.graph([("y", quantized(y))]).plain().primitives)
        finite = {"x": np.nan_to_num(feeds["x"], posinf=1e30, neginf=-1e30)} if y.tensor != x else feeds
        made = b.graph([("y", Value(b, cone.root))])
        expected = evaluate_graph(made, finite, precision="float32")["y"]
        with Executable.link(whole(b, cone)) as e:
            found = e.run(finite)["y"]
        np.testing.assert_allclose(found, expected, rtol=1e-6)
