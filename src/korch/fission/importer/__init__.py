"""A model file becomes a checked, self-contained ModelProto that `fission` can walk.

In: a path, bytes or a ModelProto, and shapes for dynamic inputs. Out: a model with static inputs, its weights
inside, functions inlined, nodes in order, float16 computed in float32. Whatever is wrong is a ModelError of one line.
Start with `read`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import onnx

from korch.fission.importer.functions import inline_functions
from korch.fission.importer.inputs import fix_shapes
from korch.fission.importer.invariants import free_invariants
from korch.fission.importer.load import load, with_data
from korch.fission.importer.structural import fix_values
from korch.fission.importer.structural import structural_inputs as structural_inputs
from korch.fission.importer.structure import check_control, check_names, put_in_order
from korch.fission.importer.versions import check_nodes, in_own_domain, settle_opset
from korch.fission.importer.weights import check_weights, make_dense
from korch.fission.importer.widen import single


def read(
    source: str | Path | bytes | onnx.ModelProto,
    shapes: Mapping[str, Sequence[int]] | None = None,
    values: Mapping[str, Any] | None = None,
) -> onnx.ModelProto:
    """The model, loaded, checked and prepared; `shapes` gives inputs static shapes, `values` makes constants of inputs.

    The given ModelProto stays as it is. Raises ModelError: unreadable or malformed files, external data that is
    missing or outside of the model's folder, undefined or doubly defined tensors, cycles, unknown operators,
    weights that are NaN, inputs without static shape.
    """
    model = ordered(source, values)
    check_nodes(model)
    check_weights(model)
    fix_shapes(model, shapes or {})
    single(model)
    return model


def ordered(source: str | Path | bytes | onnx.ModelProto, values: Mapping[str, Any] | None = None) -> onnx.ModelProto:
    """The model as `read` prepares it, whatever its nodes, weights and shapes are."""
    model = with_data(inline_functions(in_own_domain(load(source))), source)
    check_names(model.graph)
    check_control(model)
    fix_values(model, values or {})
    make_dense(model)
    free_invariants(model)
    put_in_order(model)
    return settle_opset(model)
