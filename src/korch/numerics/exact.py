"""What a model's outputs are: evaluated in float64, and by onnxruntime.

The float64 values are those of the model as it is written: its weights are widened before fission, so that nothing
that Korch folds into them is rounded, and the evaluation shares no code with any backend.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx

from korch.errors import ModelError, line_of
from korch.fission import fission
from korch.ir.evaluate import evaluate_graph
from korch.numerics.widen import widened

Arrays = Mapping[str, np.ndarray]


def float64_outputs(model: onnx.ModelProto, feeds: Arrays) -> dict[str, np.ndarray]:
    """The model's outputs, evaluated in float64; weights stay float32 where the model cannot be widened."""
    expected = [(o.name, _lengths(o)) for o in model.graph.output]
    try:
        with np.errstate(all="ignore"):
            outputs = evaluate_graph(fission(widened(model)), feeds)
        if all(lengths is None or outputs[name].shape == lengths for name, lengths in expected):
            return outputs
    except (ModelError, ValueError, TypeError):  # an operator that has no float64 form, so onnxruntime refuses it
        pass
    with np.errstate(all="ignore"):
        return evaluate_graph(fission(model), feeds)


def _lengths(info: onnx.ValueInfoProto) -> tuple[int, ...] | None:
    kind = info.type.tensor_type
    fixed = kind.HasField("shape") and all(d.HasField("dim_value") for d in kind.shape.dim)
    return tuple(d.dim_value for d in kind.shape.dim) if fixed else None


def onnxruntime_outputs(model: onnx.ModelProto, feeds: Arrays) -> dict[str, np.ndarray]:
    """The model's outputs by onnxruntime without optimisations."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    names = [o.name for o in model.graph.output]
    try:
        session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return dict(zip(names, map(np.asarray, session.run(names, dict(feeds))), strict=True))
    except Exception as e:  # onnxruntime's own exceptions share no base
        raise ModelError(f"onnxruntime cannot run the model: {line_of(e)}") from e
