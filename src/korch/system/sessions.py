"""onnxruntime as it is asked for values: without optimisations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import onnxruntime as ort


def plain_session(model: bytes | str, threads: int = 0) -> ort.InferenceSession:
    """A session of the model, bytes or a path, that runs each node as it is written, on so many threads or, at 0, as
    many as it takes. It says nothing: what it raises says the same."""
    import onnxruntime as ort  # tens of MB, which a program that was loaded needs not

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    return ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
