"""Products of few rows with weights of float16: right for any shape, and the weights stay narrow."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.marks import SLOW, slow_but

from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.forms import form_of, half_weights
from korch.backends.cpu.loops.tile import Registers
from korch.backends.footprint import footprint
from korch.executable import Executable, Plan, Step
from korch.ir import Cone, Graph
from korch.ir.evaluate import evaluate_graph

from .measured import measured, wrong
from .test_loops_narrow import Unfolded

RNG = np.random.default_rng(0)


def halves(*shape: int) -> np.ndarray:
    return (RNG.standard_normal(shape) / shape[0] ** 0.5).astype(np.float16)


def graph_of(rows: tuple[int, ...], steps: int, columns: int, turned: bool = False, behind: bool = False) -> Graph:
    """x times widened weights; `turned`: stored as [columns, steps], as a Gemm has them."""
    b = Unfolded()
    x = b.input("x", "float32", (*rows, steps))
    w = b.op("Cast", b.constant(halves(*((columns, steps) if turned else (steps, columns)))), to="float32")
    y = x @ (b.op("Transpose", w, perm=(1, 0)) if turned else w)
    if behind:
        y = b.op("Relu", y + b.constant(RNG.standard_normal(columns).astype(np.float32)))
    return b.graph([("y", y)])


GRAPHS = {
    "row": graph_of((1,), 300, 200),
    "turned": graph_of((1, 1), 129, 77, turned=True, behind=True),
    "rows": graph_of((5,), 64, 130, behind=True),
    "more rows": graph_of((2, 11), 33, 9, turned=True),
    "one": graph_of((1,), 1, 1),
}
CONES = {name: Cone.of(g.primitives) for name, g in GRAPHS.items()}


def output(graph: Graph, x: np.ndarray) -> np.ndarray:
    (kernel,) = BACKEND.build(Cone.of(graph.primitives), 2)
    with Executable.link(Plan(graph, (Step.of(kernel, 1e-6),), 2)) as program:
        return program.run({"x": x})["y"]


@pytest.mark.parametrize("threads", [1, 2, pytest.param(3, marks=SLOW)])
def test_right(threads: int, tmp_path: Path):
    assert all(form_of(c) is half_weights.FORM for c in CONES.values())
    assert not wrong(measured(BACKEND, list(CONES.values()), threads, tmp_path))


ANY_REGISTERS = {"sse": Registers(16, 4), "avx2": Registers(16, 8), "avx512": Registers(32, 16)}


@pytest.mark.parametrize("name", slow_but(ANY_REGISTERS, ("sse",)))
def test_right_with_any_registers(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(half_weights, "registers", lambda: ANY_REGISTERS[name])
    for graph in (GRAPHS["turned"], GRAPHS["more rows"]):
        x = RNG.standard_normal(graph.inputs[0].shape).astype(np.float32)
        np.testing.assert_allclose(output(graph, x), evaluate_graph(graph, {"x": x})["y"], atol=1e-5)


def test_as_exact_as_float32():
    graph = GRAPHS["row"]
    x = RNG.standard_normal((1, 300)).astype(np.float32)
    expected = evaluate_graph(graph, {"x": x})["y"]
    assert np.abs(output(graph, x) - expected).max() < 1e-6 * np.abs(expected).max()


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_operands_beyond_numbers_give_what_numpy_gives(special: float):
    graph, x = GRAPHS["turned"], RNG.standard_normal((1, 1, 129)).astype(np.float32)
    x[..., 5] = special
    with np.errstate(invalid="ignore"):
        expected = evaluate_graph(graph, {"x": x}, "float32")["y"]
    np.testing.assert_allclose(output(graph, x), expected, atol=1e-5)


def test_weights_are_read_as_they_are():
    moved, _ = footprint(CONES["row"])
    assert moved == 4 * 300 + 2 * 300 * 200 + 4 * 200


def test_other_cones_have_other_forms():
    assert form_of(Cone.of(graph_of((40,), 16, 16).primitives)) is not half_weights.FORM
