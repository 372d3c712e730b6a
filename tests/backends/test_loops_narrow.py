"""Products of few rows with weights of four and eight bits: right for any shape, and for operands beyond numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.marks import SLOW, Part, parts, slow_but

from korch.backends.cpu.loops import dots, narrow_dots
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.forms import form_of
from korch.backends.cpu.loops.forms.narrow import FORM
from korch.backends.cpu.loops.narrow_weights import NarrowWeights, narrow_weights
from korch.backends.footprint import footprint
from korch.executable import Executable, Plan, Step
from korch.fission.blocks import dequantized_by_blocks
from korch.ir import Builder, Cone, Graph, Primitive, Tensor
from korch.ir.builder import Value
from korch.ir.evaluate import evaluate_graph

from .measured import measured, wrong

RNG = np.random.default_rng(0)


class Unfolded(Builder):
    """Keeps primitives of constants."""

    def _fold(self, op: str, inputs: Any, attrs: Any, dtype: str, shape: tuple[int, ...]) -> Value:
        p = Primitive(op, inputs, Tensor(f"w{len(self.primitives)}", dtype, tuple(shape)), attrs)
        return Value(self, self.append(p))


def widened(
    rows: int,
    steps: int,
    columns: int,
    block: int = 32,
    bits: int = 4,
    zero: str = "",
    signed: bool = False,
    behind: bool = False,
) -> Graph:
    """x times weights by blocks; `zero`: none, bytes or floats."""
    b, blocks = Unfolded(), -(-steps // block)
    x = b.input("x", "float32", (rows, steps))
    codes = b.constant(RNG.integers(0, 256, (columns, blocks, block * bits // 8)).astype(np.uint8))
    if bits == 4:
        codes = b.op("Unpack", codes, bits=4, signed=int(signed))
    elif signed:
        codes = b.constant(RNG.integers(-128, 128, (columns, blocks, block)).astype(np.int8))
    wide = b.op("Cast", codes, to="float32")
    each = (columns, blocks, 1)
    match zero:
        case "bytes":
            wide = wide - b.op("Cast", b.constant(RNG.integers(0, 16, each).astype(np.uint8)), to="float32")
        case "floats":
            wide = wide - b.constant(RNG.uniform(0, 15, each).astype(np.float32))
        case number if number:
            wide = wide - float(number)
        case _:
            pass
    wide = wide * b.constant(RNG.uniform(0.01, 0.1, each).astype(np.float32))
    flat = b.op("Reshape", wide, shape=(columns, blocks * block))
    cut = b.op("Slice", flat, starts=(0, 0), steps=(1, 1), lengths=(columns, steps))
    y = x @ b.op("Transpose", cut, perm=(1, 0))
    if behind:
        y = b.op("Relu", y + b.constant(RNG.standard_normal(columns).astype(np.float32)))
    return b.graph([("y", y)])


GRAPHS = [
    widened(1, 64, 48),
    widened(1, 300, 77, zero="bytes", behind=True),
    widened(2, 257, 33, zero="floats"),
    widened(5, 96, 130, 16, zero="8"),
    widened(3, 129, 20, 128, bits=8, zero="bytes"),
    widened(1, 512, 90, 32, bits=8, signed=True, behind=True),
    widened(16, 70, 9, 64, signed=True, zero="bytes"),
    widened(1, 1, 1),
    widened(4, 520, 25, 256, bits=8, zero="128"),
]
CONES = [Cone.of(g.primitives) for g in GRAPHS]


def by_columns() -> Graph:
    """Weights [steps, columns] of eight bits with one scale a column."""
    b = Unfolded()
    x = b.input("x", "float32", (1, 1, 700))
    codes = b.op("Cast", b.constant(RNG.integers(-128, 128, (700, 40)).astype(np.int8)), to="float32")
    return b.graph([("y", x @ (b.constant(RNG.uniform(0.01, 0.1, (40,)).astype(np.float32)) * codes))])


def outputs(graph: Graph, x: np.ndarray, threads: int = 1) -> np.ndarray:
    (kernel,) = BACKEND.build(Cone.of(graph.primitives), threads)
    with Executable.link(Plan(graph, (Step.of(kernel, 1e-6),), threads)) as program:
        return program.run({"x": x})["y"]


def found(graph: Graph) -> NarrowWeights:
    weights = narrow_weights(Cone.of(graph.primitives))
    assert weights
    return weights


@pytest.mark.parametrize("part", parts(2), ids=str)
@pytest.mark.parametrize("threads", [1, 2, pytest.param(3, marks=SLOW)])
def test_right(part: Part, threads: int, tmp_path: Path):
    assert all(form_of(cone) is FORM for cone in CONES)
    assert not wrong(measured(BACKEND, part(CONES), threads, tmp_path))


def test_blocks_and_codes_are_found():
    assert [found(g).block for g in GRAPHS] == [32, 32, 32, 16, 128, 32, 64, 16, 256]
    assert [found(g).bits for g in GRAPHS] == [4, 4, 4, 4, 8, 8, 4, 4, 8]
    assert [found(g).center for g in GRAPHS] == [0, 8, 8, 8, 128, 128, 8, 0, 128]
    assert found(by_columns()).block == 256


def test_scales_by_columns():
    graph = by_columns()
    x = RNG.standard_normal((1, 1, 700)).astype(np.float32)
    want = evaluate_graph(graph, {"x": x})["y"]
    np.testing.assert_allclose(outputs(graph, x), want, rtol=0, atol=1e-6 * np.abs(want).max())


@pytest.mark.parametrize("scale", [1e-38, 1e-6, 1.0, 1e30])
def test_as_exact_as_float32_at_any_size(scale: float):
    graph = GRAPHS[1]
    x = (scale * RNG.standard_normal((1, 300))).astype(np.float32)
    x[0, ::32] *= 64
    want, single = (evaluate_graph(graph, {"x": x}, p)["y"] for p in ("float64", "float32"))
    got = outputs(graph, x)
    size = np.abs(want).max()
    assert np.abs(got - want).max() <= max(np.abs(single - want).max(), 4 * np.finfo(np.float32).eps * size, 1e-36)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_activations_that_are_no_numbers(value: float):
    graph = widened(2, 100, 40, zero="bytes")
    x = RNG.standard_normal((2, 100)).astype(np.float32)
    x[1, 3] = value
    with np.errstate(all="ignore"):
        want = evaluate_graph(graph, {"x": x})["y"]
    np.testing.assert_allclose(outputs(graph, x, 2), want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_scales_that_are_no_numbers(value: float):
    graph = widened(1, 64, 40, zero="8")
    (name,) = [t.name for p in graph.primitives for t in p.inputs if t.const and t.dtype == "float32" and t.size > 1]
    graph.constants[name][3, 1] = value
    x = RNG.standard_normal((1, 64)).astype(np.float32)
    with np.errstate(all="ignore"):
        want = evaluate_graph(graph, {"x": x})["y"]
    np.testing.assert_allclose(outputs(graph, x), want, rtol=1e-5, atol=1e-4)


ANY_REGISTERS = {"sse": (16, 4), "avx2": (16, 8), "avx512": (32, 16)}


@pytest.mark.parametrize("name", slow_but(ANY_REGISTERS, ("sse",)))
def test_right_with_any_registers(name: str, monkeypatch: pytest.MonkeyPatch):
    registers = type(dots.registers())(*ANY_REGISTERS[name])
    monkeypatch.setattr(narrow_dots, "registers", lambda: registers)
    for graph in (GRAPHS[1], GRAPHS[4]):
        x = RNG.standard_normal(graph.inputs[0].shape).astype(np.float32)
        want = evaluate_graph(graph, {"x": x})["y"]
        np.testing.assert_allclose(outputs(graph, x), want, rtol=0, atol=1e-6 * np.abs(want).max())


def test_the_bound_counts_packed_bytes():
    cone = CONES[0]
    assert footprint(cone)[0] == 4 * 64 + 48 * (32 + 4 * 2) + 4 * 48


@pytest.mark.parametrize(
    "graph",
    [widened(1, 64, 48, 8), widened(64, 64, 48)],
    ids=["short blocks", "many rows"],
)
def test_other_products_have_another_form(graph: Graph):
    assert form_of(Cone.of(graph.primitives)) is not FORM


@pytest.mark.parametrize("steps", [64, 50])
@pytest.mark.parametrize("axis", [0, 1])
def test_all_that_fission_makes_of_blocks_is_found(axis: int, steps: int):
    """Blocks along either axis of the weights, the last one cut off."""
    b, shape = Unfolded(), (steps, 24) if axis == 0 else (24, steps)
    each = tuple(-(-n // 16) if a == axis else n for a, n in enumerate(shape))
    codes, zero = (b.constant(RNG.integers(-128, 128, s).astype(np.int8)) for s in (shape, each))
    scale = b.constant(RNG.uniform(0.01, 0.1, each).astype(np.float32))
    w = dequantized_by_blocks(b, codes, scale, zero, axis, 16)
    y = b.input("x", "float32", (1, steps)) @ (w if axis == 0 else b.op("Transpose", w, perm=(1, 0)))
    graph = b.graph([("y", y)])
    assert (found(graph).block, found(graph).bits) == (16, 8)
    x = RNG.standard_normal((1, steps)).astype(np.float32)
    want = evaluate_graph(graph, {"x": x})["y"]
    np.testing.assert_allclose(outputs(graph, x), want, rtol=0, atol=1e-6 * np.abs(want).max())
