"""What onnxruntime is given to compute a model's outputs."""

from __future__ import annotations

import numpy as np
import onnx.parser
import pytest

from korch.numerics import exact


def test_a_model_that_is_too_large_for_a_message_is_read_from_a_file(monkeypatch: pytest.MonkeyPatch):
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
        g (float[2] x) => (float[2] y) <float[2] w = {2, 3}> { y = Add(x, w) }""")
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array([2, 3], np.float32), "w"))
    before = model.SerializeToString()
    monkeypatch.setattr(exact, "_serialized", lambda _: None)
    found = exact.onnxruntime_outputs(model, {"x": np.array([1, 1], np.float32)})
    np.testing.assert_array_equal(found["y"], [3, 4])
    assert model.SerializeToString() == before
