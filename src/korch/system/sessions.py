"""onnxruntime's own sessions, whatever programs have put in the place of their class.

The module has no types and takes tens of MB: it is imported by name, where a session is made.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

DEFAULT, ERRORS, SILENT = -1, 3, 4
"""The log severities of a session: onnxruntime's own, errors alone, and none."""


def inference_session() -> Any:
    """onnxruntime's own class, also where `korch.onnxruntime` has replaced it."""
    return import_module("onnxruntime.capi.onnxruntime_inference_collection").InferenceSession


def session_options(threads: int = 0, log_severity: int = DEFAULT) -> Any:
    """Options of a session on so many threads or, at 0, as many as it takes."""
    options = import_module("onnxruntime").SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = threads, log_severity
    return options


def plain_session(model: bytes | str, threads: int = 0) -> Any:
    """A session of the model, bytes or a path, that runs each node as it is written. It logs nothing: what it raises
    says the same."""
    options = session_options(threads, SILENT)
    options.graph_optimization_level = import_module("onnxruntime").GraphOptimizationLevel.ORT_DISABLE_ALL
    return inference_session()(model, options, providers=["CPUExecutionProvider"])


def dtype_of(kind: str) -> str | None:
    """The name in numpy of an element type like `tensor(float)`; None for others than numbers."""
    return _DTYPES.get(kind)


_DTYPES = {
    **{f"tensor({kind}{bits})": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
    "tensor(float)": "float32",
    "tensor(double)": "float64",
    "tensor(float16)": "float16",
    "tensor(bool)": "bool",
}
