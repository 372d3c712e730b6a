"""The opaque primitive: one ONNX operator that is not taken apart; onnxruntime runs it.

It and onnx, tens of MB, are imported only where there is one: a program that was loaded needs neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.errors import ModelError, line_of
from korch.ir.ops.table import Array, Category, Emit, Op, Pull, Region, Shape, add, whole
from korch.ir.tensor import Tensor
from korch.system.sessions import plain_session

if TYPE_CHECKING:
    import onnx

    from korch.ir.primitive import Primitive


_session = lru_cache(maxsize=64)(plain_session)


def _model(text: bytes) -> onnx.ModelProto:
    import onnx

    return onnx.load_from_string(text)


@lru_cache(maxsize=1024)
def _operator(model: bytes) -> str:
    return _model(model).graph.node[0].op_type


def opaque_operator(p: Primitive) -> str:
    """The operator of ONNX, or of another domain, that an opaque primitive is."""
    return _operator(p.attr("model"))


def _infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    from onnx.helper import tensor_dtype_to_np_dtype

    index: int = attrs["index"]
    output = _model(attrs["model"]).graph.output[index].type.tensor_type
    return tensor_dtype_to_np_dtype(output.elem_type).name, tuple(d.dim_value for d in output.shape.dim)


def _evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
    """Evaluated whole and in the dtype of the model: there is no definition to evaluate otherwise."""
    session = _session(p.attr("model"))
    feeds = {
        i.name: pull(k, whole(t.shape)).astype(t.dtype)
        for k, (i, t) in enumerate(zip(session.get_inputs(), p.inputs, strict=True))
    }
    try:
        y: Array = session.run(None, feeds)[p.attr("index")]
    except Exception as e:  # onnxruntime's own exceptions share no base
        raise ModelError(f"onnxruntime cannot compute {p.output.name}: {line_of(e)}") from e
    if y.shape != p.output.shape:
        raise ModelError(
            f"{opaque_operator(p)} of {p.output.name} gives {list(y.shape)}, ONNX's shape inference says "
            f"{list(p.output.shape)}: it cannot be compiled"
        )
    y = y[np.ix_(*region)] if y.ndim else y
    return y.astype(np.float64) if p.output.is_float else y


def _write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """The node of the stored model; outputs of other primitives are unused."""
    emit.opaque(_model(p.attr("model")), names, p.output.name, p.attr("index"))


add(Op("Opaque", Category.OPAQUE, _infer, _evaluate, _write))
