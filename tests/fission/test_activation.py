"""Activations against ONNX's own definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.ir.evaluate import evaluate_graph

from .oracle import check, values

X = np.concatenate([values(40, low=-6, high=6), np.asarray([0, -0.5, 0.5, 1, -1, 80, -80], np.float32)])
NAMES = {
    "Relu": [],
    "Sigmoid": [],
    "Softplus": [],
    "Tanh": [],
    "Softsign": [],
    "LeakyRelu": ["alpha"],
    "ThresholdedRelu": ["alpha"],
    "Elu": ["alpha"],
    "Selu": ["alpha", "gamma"],
    "Celu": ["alpha"],
    "HardSigmoid": ["alpha", "beta"],
    "HardSwish": [],
    "Mish": [],
    "Shrink": ["bias", "lambd"],
}
OPSET = {"HardSwish": 14, "Mish": 18}


@pytest.mark.parametrize("op", NAMES)
@settings(max_examples=5, deadline=None)
@given(data=st.data())
def test_activation_is_its_definition(op, data):
    attrs = {n: data.draw(st.floats(0.125, 2, width=32)) for n in NAMES[op] if data.draw(st.booleans())}
    check(op, X, opset=OPSET.get(op, 15), **attrs)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu(approximate):
    check("Gelu", X, opset=20, approximate=approximate)


@pytest.mark.parametrize("alpha", [1.0, 1.702])
def test_swish(alpha):
    check("Swish", X, opset=24, alpha=alpha)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_integers_shrink_by_fractions(dtype):
    """-4 + 1.5 and 4 - 1.5, cut to whole numbers; 1.75 is more than 1."""
    graph = check("Shrink", np.asarray([-4, -1, 0, 1, 4], dtype), bias=1.5, lambd=1.75)
    (y,) = evaluate_graph(graph, {"x0": np.asarray([-4, -1, 0, 1, 4], dtype)}).values()
    assert y.tolist() == [-2, 0, 0, 0, 2]


def test_gelu_is_five_primitives():
    ops = [p.op for p in check("Gelu", X, opset=20).primitives]
    assert sorted(ops) == ["Add", "Erf", "Mul", "Mul", "Mul"]
