"""What generated kernels call besides Triton itself, as numpy computes it: stand-ins where kernels are interpreted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

NUMPY = {
    "pow": "power",
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
FOLDS: dict[str, Callable[..., Any]] = {"largest": np.max, "smallest": np.min, "product": np.prod, "total": np.sum}


class _Library:
    """The device's library of functions, as far as generated kernels call it."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(np, NUMPY.get(name, name))

        def call(*args: Any) -> Any:
            tl = import_module("triton.language")
            first = next(a for a in args if isinstance(a, tl.tensor))
            values = [a.handle.data if isinstance(a, tl.tensor) else a for a in args]
            return _tensor(function(*values), first)

        return call


class _Folds:
    """The folds of `korch.backends.cuda.triton.folds`: whole arrays at once, where the interpreter takes scalars."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in FOLDS:
            return partial(_folded, FOLDS[name])
        tl = import_module("triton.language")
        return tl.maximum if name == "larger" else tl.minimum


def _folded(fold: Callable[..., Any], x: Any, axis: int, keep: bool) -> Any:
    """The fold of all of `x` along an axis."""
    return _tensor(fold(x.handle.data, axis=axis, keepdims=keep), x)


def _tensor(result: Any, like: Any) -> Any:
    """`result` as a value of the interpreter, with the dtype of `like`."""
    tl = import_module("triton.language")
    interpreter = import_module("triton.runtime.interpreter")
    scalar = like.dtype.scalar
    shape = np.shape(result)
    data = np.asarray(result).astype(like.handle.data.dtype)
    if not shape or not like.shape:  # numbers are arrays of one element
        return tl.tensor(interpreter.TensorHandle(data.reshape(1), scalar), scalar)
    return tl.tensor(interpreter.TensorHandle(data, scalar), tl.block_type(scalar, list(shape)))


HOST: dict[str, object] = {"libdevice": _Library(), "folds": _Folds()}
