"""onnx's own suite, a part of it, by sessions that have no programs; `benchmarks/conformance.py` runs all with them."""

from __future__ import annotations

import warnings

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.runner import Runner

import korch.onnx_backend as backend
from korch.errors import InputError

EVERY = 12


def cases():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sorted((c for c in collect_testcases(None) if c.model is not None), key=lambda c: c.name)
    return found[::EVERY]


def outcome(run, case) -> str:
    """Empty where the case passes."""
    try:
        for inputs, outputs in case.data_sets:
            Runner.assert_similar_outputs(list(outputs), list(run(list(inputs))), case.rtol, case.atol)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return ""


def test_what_onnxruntime_passes_a_session_passes():
    """One test of many cases: making them takes ten seconds."""

    def theirs(case, inputs):
        session = ort.InferenceSession(case.model.SerializeToString())
        names = [a.name for a in session.get_inputs()]
        return session.run(None, {n: x for n, x in zip(names, inputs, strict=False) if x is not None})

    passed = [case for case in cases() if not outcome(lambda inputs, c=case: theirs(c, inputs), case)]
    assert len(passed) > 50
    failed = {c.name: outcome(backend.prepare(c.model, tune="off").run, c) for c in passed}
    assert not {name: reason for name, reason in failed.items() if reason}


def test_nodes_and_inputs_by_name():
    node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
    (found,) = backend.run_node(node, [np.ones(3, np.float32), np.ones(3, np.float32)], tune="off")
    assert found.tolist() == [2, 2, 2]
    assert backend.supports_device("CPU") and not backend.supports_device("CUDA:0")
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Neg(x) }'
    rep = backend.prepare(onnx.parser.parse_model(text), tune="off")
    assert rep.run({"x": np.ones(2, np.float32)})[0].tolist() == rep.run(np.ones(2, np.float32))[0].tolist() == [-1, -1]
    with pytest.raises(InputError, match="2 inputs are given, the model has 1"):
        rep.run([np.ones(2, np.float32)] * 2)
