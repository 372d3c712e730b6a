"""The constants of a model: sparse ones made dense, damaged ones refused."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import numpy_helper

from korch import limits
from korch.errors import ModelError
from korch.fission.importer.load import subgraphs_of, tensors_of
from korch.fission.importer.sizes import dense_bytes
from korch.fission.importer.structure import title


def make_dense(model: onnx.ModelProto) -> None:
    """Turns sparse initializers into plain ones, also in the bodies of control flow."""
    todo = [model.graph]
    while todo:
        graph = todo.pop()
        graph.initializer.extend(_dense(s) for s in graph.sparse_initializer)
        del graph.sparse_initializer[:]
        todo.extend(subgraphs_of(graph))


def _dense(s: onnx.SparseTensorProto) -> onnx.TensorProto:
    name, shape = s.values.name, tuple(s.dims)
    nbytes = dense_bytes(name, s.values.data_type, shape)
    if nbytes > limits.FOLDED_BYTES:
        raise ModelError(
            f"sparse initializer {name!r} of shape {list(shape)} takes {limits.size_text(nbytes)} as a dense one; the "
            f"most are {limits.size_text(limits.FOLDED_BYTES)}: store it densely"
        )
    try:
        values, indices = numpy_helper.to_array(s.values), numpy_helper.to_array(s.indices)
        dense = np.zeros(shape, values.dtype)
        dense[np.unravel_index(indices, shape) if indices.ndim == 1 else tuple(indices.T)] = values
    except (ValueError, IndexError, TypeError) as e:
        raise ModelError(f"sparse initializer {name!r} is malformed: {e}") from e
    return numpy_helper.from_array(dense, name)


def check_weights(model: onnx.ModelProto) -> None:
    """Refuses tensors whose data do not fill their shape, or hold NaN; infinities are legitimate (masks)."""
    for t in tensors_of(model.graph):
        what = f"initializer {t.name!r}" if t.name else "a constant"
        if any(n < 0 for n in t.dims):
            raise ModelError(f"{what} is malformed: its shape {list(t.dims)} has a negative length")
        try:
            array = numpy_helper.to_array(t)
        except (ValueError, TypeError, KeyError) as e:
            raise ModelError(f"{what} is malformed: {e}") from e
        if array.dtype.kind == "f" and np.isnan(array).any():
            raise ModelError(f"{what} holds NaN; mend the weights before compiling")
    for node in model.graph.node:
        if node.op_type == "Constant" and any(math.isnan(x) for a in node.attribute for x in (a.f, *a.floats)):
            raise ModelError(f"{title(node)} holds NaN; mend the weights before compiling")
