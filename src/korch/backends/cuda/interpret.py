"""Runs device kernels on the host, slowly: how they are checked where there is no device."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any

from korch.backends.contract import Kernel
from korch.backends.cuda.host import HOST
from korch.backends.cuda.triton.source import python_functions
from korch.backends.cuda.vendor.host import run_on_host
from korch.errors import BackendError
from korch.ir.ops.table import Array


def interpret(kernel: Kernel, buffers: Sequence[Array]) -> None:
    """Runs `kernel` on `buffers`, numbered as in `Launch.buffers`."""
    if kernel.call:
        run_on_host(kernel, buffers)
        return
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise BackendError("functions are only interpreted where TRITON_INTERPRET=1 is set before Triton is imported")
    interpreter = import_module("triton.runtime.interpreter")
    _widen_products()
    functions = python_functions(kernel.source, HOST)
    for launch in kernel.launches:
        run = interpreter.InterpretedFunction(functions[launch.function])
        run[launch.grid](*(_Host(buffers[i]) for i in launch.buffers))


@cache
def _widen_products() -> None:
    """The interpreter keeps bfloat16 as bits, which it multiplies as integers: factors become float32 first. And it
    does not know of products in parts of these, which it computes in float32, too."""
    interpreter = import_module("triton.runtime.interpreter")
    builder = interpreter.InterpreterBuilder
    plain = builder.create_dot

    def create_dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        wide = (self.create_fp_ext(x, self.get_float_ty()) if x.dtype == self.get_bf16_ty() else x for x in (a, b))
        return plain(self, *wide, *rest)

    builder.create_dot = create_dot
    known = interpreter.interpreter_builder.options
    wider = (*known.allowed_dot_input_precisions, "bf16x3")
    interpreter.interpreter_builder.options = replace(known, allowed_dot_input_precisions=wider)


@dataclass
class _Host:
    """As much of a torch tensor as Triton's interpreter asks for: memory of the host, which it need not copy."""

    array: Array

    @property
    def dtype(self) -> str:
        return self.array.dtype.name

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def untyped_storage(self) -> _Host:
        return self

    def cpu(self) -> _Host:
        return self

    def new_empty(self, size: int, device: str) -> _Host:
        return _Host(self.array)

    def set_(self, storage: _Host, offset: int, size: object, stride: object) -> None:
        self.array = storage.array

    def storage_offset(self) -> int:
        return 0

    def size(self) -> tuple[int, ...]:
        return self.array.shape

    def stride(self) -> tuple[int, ...]:
        return self.array.strides

    def copy_(self, other: _Host) -> None:
        """Nothing to do: the host's memory was worked on in place."""
