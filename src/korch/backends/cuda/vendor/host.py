"""Runs calls on host arrays, with torch: how they are checked where there is no device."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from korch.backends.contract import Kernel
from korch.backends.cuda.vendor.calls import CALLS
from korch.errors import BackendError
from korch.ir.ops.table import Array


def find_torch() -> Any:
    """The module; BackendError where it is not installed."""
    try:
        return import_module("torch")
    except ImportError:
        raise BackendError(
            "calls of cuBLAS and cuDNN go through torch, which is not installed: pip install torch"
        ) from None


def run_on_host(kernel: Kernel, buffers: Sequence[Array]) -> None:
    """Runs the call of `kernel` on `buffers`, numbered as in `Launch.buffers`; BackendError where it has none."""
    if kernel.call is None:
        raise BackendError(f"the kernel {str(kernel.variant)!r} of the backend {kernel.backend} has no call")
    torch = find_torch()
    CALLS[kernel.call.function](torch, [_tensor(torch, x) for x in buffers], kernel.call.attrs)


def _tensor(torch: Any, x: Array) -> Any:
    """A tensor of the same memory; numpy's bfloat16 goes by its bytes."""
    if x.dtype.name == "bfloat16":
        return torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(x)
