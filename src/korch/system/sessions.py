"""onnxruntime's own sessions, whatever programs have put in the place of their class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import onnxruntime as ort


def inference_session() -> type[ort.InferenceSession]:
    """onnxruntime's own class, also where `korch.onnxruntime` has replaced it."""
    from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession  # tens of MB, not always needed

    return InferenceSession


def plain_session(model: bytes | str, threads: int = 0) -> ort.InferenceSession:
    """A session of the model, bytes or a path, that runs each node as it is written, on so many threads or, at 0, as
    many as it takes. It logs nothing: what it raises says the same."""
    import onnxruntime

    ort: Any = onnxruntime  # its extension module has no types
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
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
