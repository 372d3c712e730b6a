"""Backends that write loops decline a primitive whose table entry holds its meaning only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cuda.triton.backend import BACKEND as TRITON
from korch.backends.onnxruntime.backend import BACKEND as ONNXRUNTIME
from korch.ir import Builder, Cone
from korch.ir.evaluate import evaluate_graph
from korch.ir.ops import table
from korch.ir.ops.table import Op, op_named
from korch.ir.ranges import ANY, ranges

KNOWN = {"Transpose": {"perm": (1, 0)}, "ReduceSum": {"axes": (1,), "keepdims": 1}, "StrassenInput": {}}


def bare(name: str) -> Op:
    """The operator with all but its meaning left out."""
    op = op_named(name)
    return Op(f"Bare{name}", op.category, op.infer, op.evaluate, lambda p, n, e: op.write(replace(p, op=name), n, e))


@pytest.mark.parametrize("name", KNOWN)
def test_bare_primitives_are_left_to_onnxruntime(name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(table._TABLE, f"Bare{name}", bare(name))  # pyright: ignore[reportPrivateUsage]
    b = Builder()
    x = b.input("x", "float32", (4, 6))
    graph = b.graph([("y", b.op(f"Bare{name}", x, **KNOWN[name]))])
    cone = Cone.of(graph.primitives)
    assert LOOPS.refuses(cone) and TRITON.refuses(cone)
    assert ONNXRUNTIME.refuses(cone) is None
    assert ranges(graph)[graph.outputs[0]] == ANY
    values = np.arange(24, dtype=np.float32).reshape(4, 6)
    plain = Builder()
    known = plain.graph([("y", plain.op(name, plain.input("x", "float32", (4, 6)), **KNOWN[name]))])
    found, expected = (evaluate_graph(g, {"x": values})["y"] for g in (graph, known))
    np.testing.assert_array_equal(found, expected)
