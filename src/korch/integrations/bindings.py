"""onnxruntime's `IOBinding` for a session whose runs may be answered by a program."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from korch.system.sessions import dtype_of

if TYPE_CHECKING:
    from korch.integrations.session import InferenceSession
    from korch.ir.ops.table import Array

ort: Any = import_module("onnxruntime")  # it has no types
_Call = tuple[str, tuple[Any, ...]]
"""A method of onnxruntime's IOBinding, and its arguments."""


class IOBinding(ort.IOBinding):
    """Inputs and outputs in memory of the caller. Bindings are recorded: a program takes it as arrays, onnxruntime
    through a binding of its own, made when it is needed."""

    def __init__(self, session: InferenceSession) -> None:
        self.owner = session
        self._inputs: dict[str, _Call] = {}
        self._outputs: dict[str, _Call] = {}
        self._native: tuple[Any, Any] | None = None
        self._results: list[Array] | None = None

    def bind_cpu_input(self, name: str, arr_on_cpu: Any) -> None:
        self._bind(self._inputs, "bind_cpu_input", name, arr_on_cpu)

    def bind_input(
        self, name: str, device_type: str, device_id: int, element_type: Any, shape: Any, buffer_ptr: int
    ) -> None:
        self._bind(self._inputs, "bind_input", name, device_type, device_id, element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name: str, ortvalue: Any) -> None:
        self._bind(self._inputs, "bind_ortvalue_input", name, ortvalue)

    def bind_output(
        self,
        name: str,
        device_type: str = "cpu",
        device_id: int = 0,
        element_type: Any = None,
        shape: Any = None,
        buffer_ptr: int | None = None,
    ) -> None:
        self._bind(self._outputs, "bind_output", name, device_type, device_id, element_type, shape, buffer_ptr)

    def bind_ortvalue_output(self, name: str, ortvalue: Any) -> None:
        self._bind(self._outputs, "bind_ortvalue_output", name, ortvalue)

    def _bind(self, side: dict[str, _Call], method: str, name: str, *arguments: Any) -> None:
        side[name] = method, (name, *arguments)
        self._native = None

    def synchronize_inputs(self) -> None:
        """Nothing to do: all memory is the processor's."""

    def synchronize_outputs(self) -> None:
        """Nothing to do."""

    def clear_binding_inputs(self) -> None:
        self._inputs.clear()
        self._native = None

    def clear_binding_outputs(self) -> None:
        self._outputs.clear()
        self._native = self._results = None

    def get_outputs(self) -> list[Any]:
        """The outputs of the last run, as OrtValues, in the order in which they were bound."""
        if self._results is None:
            return self.native().get_outputs()
        return [ort.OrtValue.ortvalue_from_numpy(x) for x in self._results]

    def get_outputs_as_ortvaluevector(self) -> Any:
        return self.native().get_outputs_as_ortvaluevector()

    def copy_outputs_to_cpu(self) -> list[Any]:
        """The outputs of the last run, as arrays."""
        return self.native().copy_outputs_to_cpu() if self._results is None else list(self._results)

    def feeds(self) -> dict[str, Array] | None:
        """The inputs as arrays; None where one is no plain array in memory."""
        return _arrays(self._inputs)

    def targets(self) -> dict[str, Array] | None:
        """Arrays for the outputs whose memory the caller gives; None where one is no plain array in memory."""
        given = {name: call for name, call in self._outputs.items() if not _is_open(call)}
        on_host = all(call[1][1:2] in ((), ("cpu",)) for call in self._outputs.values() if _is_open(call))
        return _arrays(given) if on_host else None

    def answer(self, results: Mapping[str, Array]) -> None:
        """Enters what a program has computed."""
        self._results = [results[name] for name in self._outputs]

    def native(self) -> Any:
        """onnxruntime's own binding of the same memory."""
        native = self.owner.native
        if self._native is None or self._native[0] is not native:
            made = ort.IOBinding(self.owner)
            for method, arguments in (*self._inputs.values(), *self._outputs.values()):
                getattr(made, method)(*arguments)
            self._native = native, made
        return self._native[1]

    def run_natively(self, run_options: Any) -> None:
        """Runs onnxruntime's session on the memory."""
        binding = self.native()
        self._results = None
        assert self._native
        self._native[0].run_with_iobinding(binding._iobinding, run_options)


def _is_open(call: _Call) -> bool:
    """Whether the output's memory is left to the run."""
    method, arguments = call
    return method == "bind_output" and arguments[-1] is None


def _arrays(calls: Mapping[str, _Call]) -> dict[str, Array] | None:
    """The bound memory as arrays; None where one is no plain array."""
    found = {name: x for name, call in calls.items() if (x := _array(*call)) is not None}
    return found if len(found) == len(calls) else None


def _array(method: str, arguments: tuple[Any, ...]) -> Array | None:
    """The bound memory as an array; None where it is not the processor's, or its elements are no numbers of numpy."""
    if method == "bind_cpu_input":
        return cast("Array", arguments[1]) if isinstance(arguments[1], np.ndarray) else None
    if method in ("bind_ortvalue_input", "bind_ortvalue_output"):
        value = arguments[1]
        if not value.is_tensor() or value.device_name().lower() != "cpu" or "string" in value.data_type():
            return None
        return _at(value.data_ptr(), dtype_of(value.data_type()), value.shape(), value)
    _, device, _, element, shape, pointer = arguments
    return _at(pointer, None if isinstance(element, int) or device != "cpu" else np.dtype(element).name, shape, None)


def _at(address: int, dtype: str | None, shape: Any, owner: Any) -> Array | None:
    """The array at an address, which keeps `owner` alive; None without a type."""
    if dtype is None:
        return None
    memory = (ctypes.c_char * (math.prod(shape) * np.dtype(dtype).itemsize)).from_address(address)
    setattr(memory, "owner", owner)  # noqa: B010
    return np.asarray(memory).view(dtype).reshape(shape)
