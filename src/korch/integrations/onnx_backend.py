"""Korch behind `onnx.backend.base.Backend`, the interface that onnx's own conformance suite runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import onnx
from onnx.backend.base import Backend, BackendRep

from korch.errors import InputError
from korch.fission.opaque import IR_VERSION
from korch.integrations.session import InferenceSession
from korch.ir.opsets import OPSET


class KorchBackendRep(BackendRep):
    """A model made ready to run."""

    def __init__(self, session: InferenceSession) -> None:
        self.session = session

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """All outputs, of inputs by name or in the model's order; None leaves out an optional one."""
        names = [a.name for a in self.session.get_inputs()]
        if isinstance(inputs, dict):
            given = cast("dict[str, Any]", inputs)
        else:
            values = list(cast("Sequence[Any]", inputs)) if isinstance(inputs, list | tuple) else [inputs]
            if len(values) > len(names):
                raise InputError(f"{len(values)} inputs are given, the model has {len(names)}")
            given = dict(zip(names, values, strict=False))
        return tuple(self.session.run(None, {name: x for name, x in given.items() if x is not None}))


class KorchBackend(Backend):
    """`prepare` and `run_model` take the arguments of `InferenceSession`, `tune` and `time_budget` among them."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> KorchBackendRep:
        """A session for `model`."""
        return KorchBackendRep(InferenceSession(model, **kwargs))

    @classmethod
    def run_model(cls, model: onnx.ModelProto, inputs: Any, device: str = "CPU", **kwargs: Any) -> tuple[Any, ...]:
        """The outputs of one run."""
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Any,
        device: str = "CPU",
        outputs_info: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """The outputs of one node; `outputs_info`: their types and shapes, which are not needed."""
        arrays = dict(zip(filter(None, node.input), inputs, strict=True))
        kinds = {name: onnx.helper.np_dtype_to_tensor_dtype(x.dtype) for name, x in arrays.items()}
        given = [onnx.helper.make_tensor_value_info(name, kinds[name], x.shape) for name, x in arrays.items()]
        made = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], "node", given, made)
        opset = onnx.helper.make_opsetid("", kwargs.pop("opset_version", OPSET))
        model = onnx.helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)  # onnx's own may be too new
        return cls.run_model(onnx.shape_inference.infer_shapes(model), arrays, device, **kwargs)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Sessions run on processors."""
        return device.split(":")[0] == "CPU"
