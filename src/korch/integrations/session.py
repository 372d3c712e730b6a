"""onnxruntime's `InferenceSession`, run by Korch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from korch.errors import InputError
from korch.executable import Executable
from korch.integrations.archives import Source, keep, place_of, recall
from korch.options import Options

_ONNX_NAMES = {"float32": "float", "float64": "double"}


@dataclass(frozen=True)
class NodeArg:
    """An input or output as onnxruntime describes it: `type` is like `tensor(float)`."""

    name: str
    shape: list[int]
    type: str


class InferenceSession:
    """Optimises the model when it is made, or finds the program that it made before.

    `threads` is taken from `sess_options.intra_op_num_threads` where it is not given; `providers` and further
    arguments of onnxruntime's are accepted and mean nothing here. With `cache` the program is kept in Korch's cache
    folder, and the next session for the same model and options starts at once.
    """

    def __init__(
        self,
        path_or_bytes: Source,
        sess_options: Any = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
        *,
        threads: int | None = None,
        time_budget: float | None = None,
        numerics: str = "default",
        shapes: Mapping[str, Sequence[int]] | None = None,
        cache: bool = True,
        **kwargs: Any,
    ) -> None:
        wanted = int(getattr(sess_options, "intra_op_num_threads", 0)) if threads is None else threads
        self.executable = _program(path_or_bytes, Options(wanted, time_budget, numerics, dict(shapes or {})), cache)

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, np.ndarray], run_options: Any = None
    ) -> list[np.ndarray]:
        """The outputs named, in that order; all of them where none is named. InputError names what does not fit."""
        known = [port.name for port in self.executable.outputs]
        names = output_names or known
        if unknown := [name for name in names if name not in known]:
            raise InputError(f"the model has no output {unknown[0]!r}; it has {', '.join(known)}")
        results = self.executable.run(input_feed)
        return [results[name] for name in names]

    def get_inputs(self) -> list[NodeArg]:
        """Name, shape and type of each input."""
        return [_described(port) for port in self.executable.inputs]

    def get_outputs(self) -> list[NodeArg]:
        """Name, shape and type of each output."""
        return [_described(port) for port in self.executable.outputs]

    def get_providers(self) -> list[str]:
        """What runs the model."""
        return ["KorchExecutionProvider"]


def _program(model: Source, options: Options, cache: bool) -> Executable:
    place = place_of(model, options) if cache else None
    if place and (kept := recall(place)):
        return kept
    from korch.optimize import optimized

    executable, _ = optimized(model, options, lambda state: None)
    if place:
        keep(executable, place)
    return executable


def _described(port: Any) -> NodeArg:
    return NodeArg(port.name, list(port.shape), f"tensor({_ONNX_NAMES.get(port.dtype, port.dtype)})")
