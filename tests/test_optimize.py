"""The search as a whole: a program that errs more than it may is searched for again without what errs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper, numpy_helper
from tests.marks import slow_but_every

from korch.errors import CacheError
from korch.executable import Executable
from korch.executable.feeds import random_feeds
from korch.executable.recall import Recall
from korch.ir import Graph, Primitive, Tensor
from korch.ir.primitive import APPROXIMATE, EXACT
from korch.numerics.exact import Arrays, onnxruntime_outputs
from korch.numerics.judge import Judge
from korch.numerics.verdict import Verdict
from korch.optimize import Summary, optimized
from korch.options import Options
from korch.profile import Database
from korch.report.explain import Explanation, explain
from korch.rewrite import table
from korch.rewrite.table import Rewrite
from korch.search.model import Search

ROWS, SIZE, RANK, NOISE = 512, 256, 8, 1.5e-4


def product_model() -> onnx.ModelProto:
    """y = x w, where w is of rank 8 but for noise."""
    r = np.random.default_rng(0)
    low = r.standard_normal((SIZE, RANK)) @ r.standard_normal((RANK, SIZE))
    w = (low + NOISE * np.abs(low).max() * r.standard_normal(low.shape)).astype(np.float32)
    return model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], (ROWS, SIZE), (ROWS, SIZE), w)


def model_of(nodes: list[onnx.NodeProto], x: tuple[int, ...], y: tuple[int, ...], w: np.ndarray) -> onnx.ModelProto:
    ends = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", x), ("y", y))]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [numpy_helper.from_array(w, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def low_rank(graph: Graph) -> Graph:
    """x w = (x a) b with the largest singular values of w only: far cheaper, and wrong by the others."""
    (p,) = (p for p in graph.primitives if p.op == "MatMul")
    x, w = p.inputs
    u, s, v = np.linalg.svd(graph.constants[w.name].astype(np.float64))
    parts = {"a__": (u[:, :RANK] * s[:RANK]).astype(np.float32), "b__": v[:RANK].astype(np.float32)}
    a, b = (Tensor(name, "float32", value.shape, True) for name, value in parts.items())
    m = Tensor("thin__", "float32", (ROWS, RANK))
    steps = [((x, a), m), ((m, b), p.output)]
    return graph.add([Primitive("MatMul", i, o, (), APPROXIMATE, p.origin, "low_rank") for i, o in steps], parts)


@dataclass(frozen=True)
class Found:
    executable: Executable
    summary: Summary
    explanation: Explanation

    @property
    def rules(self) -> set[str]:
        return {p.rule for s in self.executable.plan.steps for p in s.kernel.cone.primitives}


def search(model: onnx.ModelProto, numerics: str) -> Found:
    executable, summary, _ = optimized(model, Options(1, 10.0, numerics), lambda state: None)
    return Found(executable, summary, explain(executable))


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path))


@pytest.fixture
def poor_rule(own_cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    table.all_rewrites()
    monkeypatch.setitem(table._TABLE, "low_rank", Rewrite("low_rank", 0, low_rank))


@pytest.mark.slow
@pytest.mark.usefixtures("poor_rule")
def test_a_choice_that_errs_too_much_is_dropped():
    found = search(product_model(), "default")
    assert "low_rank" not in found.rules
    assert any("low_rank" in d for d in found.summary.dropped)
    assert found.summary.error_bound == 1e-4 and found.summary.error < 1e-5
    assert "which erred too much" in str(found.explanation)


@pytest.mark.slow
@pytest.mark.usefixtures("poor_rule")
def test_a_choice_that_errs_as_much_as_allowed_is_kept():
    found = search(product_model(), "fast")
    assert "low_rank" in found.rules and not found.summary.dropped
    assert 1e-4 < found.summary.error < 1e-3
    (choice,) = (c for c in found.explanation.choices if "low_rank: MatMul" in c.picked)
    assert choice.won_by_us and choice.won_by_us > 0 and "as written: MatMul" in choice.others
    counts = found.explanation.multiply_adds
    assert counts["chosen"] == counts["executed"] == ROWS * SIZE * RANK * 2 < counts["as_written"] == ROWS * SIZE**2


@pytest.mark.usefixtures("poor_rule")
def test_a_remembered_program_is_not_judged_again(monkeypatch: pytest.MonkeyPatch):
    first = search(product_model(), "fast").summary
    monkeypatch.setattr(Judge, "verdict", None)
    again = search(product_model(), "fast").summary
    assert (again.error, again.error_bound, again.dropped) == (first.error, first.error_bound, first.dropped)


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("errs", [False, True])
def test_a_remembered_program_of_other_code_is_judged_again(errs: bool, monkeypatch: pytest.MonkeyPatch):
    search(product_model(), "default")
    with Database() as database:
        (key,) = (key for table, key, _, _ in database.contents() if table == "plans")
        kept = json.loads(database.plan(key) or "")
        database.record_plan(key, json.dumps(kept | {"program": "the digest of other code"}))
    verdict, run, judged, searched = Judge.verdict, Search.run, list[Verdict](), list[Search]()

    def first_errs(judge: Judge, outputs: Callable[[Arrays], Arrays]) -> Verdict:
        judged.append(Verdict("y", 1.0, 1e-4) if errs and not judged else verdict(judge, outputs))
        return judged[-1]

    monkeypatch.setattr(Judge, "verdict", first_errs)
    monkeypatch.setattr(Search, "run", lambda s: searched.append(s) or run(s))
    again = search(product_model(), "default")
    assert again.summary.passed and bool(searched) == errs and len(judged) >= 1 + errs
    judged.clear()
    assert search(product_model(), "default").summary.passed and not judged, "the verdict is recorded"


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("numerics", [pytest.param(n, marks=pytest.mark.slow) for n in ("strict", "default")])
def test_strict_numerics_take_no_winograd(numerics: str):
    channels, size = 128, 24
    w = np.random.default_rng(0).standard_normal((channels, channels, 3, 3)).astype(np.float32) / 30
    shape = (1, channels, size, size)
    conv = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    found = search(model_of([conv], shape, shape, w), numerics)
    assert ("winograd" in found.rules) == (numerics == "default")
    if numerics == "strict":  # four times what onnxruntime errs, and nothing that could be dropped to keep to it
        assert found.summary.error_bound and found.summary.error_bound < 1e-5
        assert {p.error for s in found.executable.plan.steps for p in s.kernel.cone.primitives} == {EXACT}
    else:
        assert found.summary.error <= found.summary.error_bound == 1e-4
    counts = found.explanation.multiply_adds
    assert counts["chosen"] == counts["as_written"]
    assert (counts["executed"] < 0.5 * counts["as_written"]) == (numerics == "default")
    if not found.summary.gap:
        assert all(c.won_by_us is None or c.won_by_us > -0.01 for c in found.explanation.choices)


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_a_program_that_cannot_be_remembered_is_not_lost(monkeypatch: pytest.MonkeyPatch, caplog):
    def full(*_: object) -> None:
        raise CacheError("the disk is full")

    monkeypatch.setattr(Recall, "keep", full)
    found = search(product_model(), "default")
    assert found.summary.kernels and "the disk is full" in caplog.text


OPAQUE = {
    "indices of an axis of one row": """(float[1,30,4] x, float[1,30] s) => (float[1,9,4] y)
        <int64[1] k = {9}, int64[3] shape = {1, 9, 1}> {
            v, i = TopK(s, k)  column = Reshape(i, shape)  zeros = Sub(column, column)
            at = Concat<axis = 2>(zeros, column)  y = GatherND(x, at)
        }""",
    "a size": """(float[1,3,16,16] x) => (float[1,3,8,8] y) <int64[4] size = {1, 3, 8, 8}> {
            a = Relu(x)  b = Resize<mode = "linear", antialias = 1>(a, , , size)  y = Neg(b)
        }""",
    "a past of no length": """(float[1,2,0,4] past, float[1,2,3,4] x) => (float[1,2,3,4] y, float[1,2,3,4] present) {
            present = Concat<axis = 2>(past, x)  t = Transpose<perm = [0, 1, 3, 2]>(present)
            s = MatMul(x, t)  p = Softmax<axis = 3>(s)  y = MatMul(p, present)
        }""",
}


@pytest.mark.usefixtures("own_cache")
@pytest.mark.parametrize("name", slow_but_every(3, OPAQUE))
def test_whole_models_with_what_rules_do_not_reach(name: str):
    source = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 18]> g {OPAQUE[name]}')
    executable, summary, _ = optimized(source, Options(1, 2.0), lambda state: None)
    feeds = random_feeds(executable.plan.graph)
    assert summary.passed
    with executable as e:
        found = e.run(feeds)
    for output, y in onnxruntime_outputs(source, feeds).items():
        np.testing.assert_allclose(found[output], y, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
@pytest.mark.usefixtures("own_cache")
def test_weights_of_four_bits_stay_so():
    """A row by weights as MatMulNBits has them, in one kernel that reads the packed bytes."""
    steps, columns, block = 2048, 1024, 32
    r = np.random.default_rng(0)
    weights = {
        "w": r.integers(0, 256, (columns, steps // block, block // 2)).astype(np.uint8),
        "s": r.uniform(1e-3, 1e-2, (columns, steps // block)).astype(np.float32),
        "z": r.integers(0, 256, (columns, steps // block // 2)).astype(np.uint8),
    }
    attrs = {"K": steps, "N": columns, "bits": 4, "block_size": block}
    node = helper.make_node("MatMulNBits", ["x", *weights], ["y"], domain="com.microsoft", **attrs)
    ends = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, (1, k)) for n, k in (("x", steps), ("y", columns))]
    initial = [numpy_helper.from_array(v, n) for n, v in weights.items()]
    graph = helper.make_graph([node], "g", ends[:1], ends[1:], initial)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    source = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    executable, summary, _ = optimized(source, Options(2, 20.0), lambda state: None)
    (step,) = executable.plan.steps
    assert summary.passed and sum(t.nbytes for t in step.kernel.cone.leaves) < steps * columns
    feeds = random_feeds(executable.plan.graph)
    with executable as e:
        found = e.run(feeds)["y"]
    expected = onnxruntime_outputs(source, feeds)["y"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5 * np.abs(expected).max())
