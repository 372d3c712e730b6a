"""What generated kernels call besides Triton itself, as numpy computes it: stand-ins where kernels are interpreted."""

from __future__ import annotations

from collections.abc import Callable
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
FOLDS = {"largest": np.max, "smallest": np.min, "product": np.prod, "total": np.sum}


class _Library:
    """The device's library of functions, as far as generated kernels call it."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(np, NUMPY.get(name, name))

        def call(*args: Any) -> Any:
            import triton.language as tl  # pyright: ignore[reportMissingImports]

            first = next(a for a in args if isinstance(a, tl.tensor))
            values = [a.handle.data if isinstance(a, tl.tensor) else a for a in args]
            return _tensor(function(*values), first)

        return call


class _Folds:
    """The folds of `korch.backends.cuda.triton.folds`: whole arrays at once, where the interpreter takes scalars."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in FOLDS:
            return lambda x, axis, keep: _tensor(FOLDS[name](x.handle.data, axis=axis, keepdims=keep), x)
        import triton.language as tl  # pyright: ignore[reportMissingImports]

        return tl.maximum if name == "larger" else tl.minimum


def _tensor(result: Any, like: Any) -> Any:
    """`result` as a value of the interpreter, with the dtype of `like`."""
    import triton.language as tl  # pyright: ignore[reportMissingImports]
    from triton.runtime.interpreter import TensorHandle  # pyright: ignore[reportMissingImports]

    scalar = like.dtype.scalar
    shape = np.shape(result)
    data = np.asarray(result).astype(like.handle.data.dtype)
    if not shape or not like.shape:  # numbers are arrays of one element
        return tl.tensor(TensorHandle(data.reshape(1), scalar), scalar)
    return tl.tensor(TensorHandle(data, scalar), tl.block_type(scalar, list(shape)))


HOST: dict[str, object] = {"libdevice": _Library(), "folds": _Folds()}
