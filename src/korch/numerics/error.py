"""What counts as an error, and how much of it numerics allow.

Errors are in units of the output's largest magnitude; of outputs that are no floats, the share of elements that differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from korch.numerics.bounds import BOUNDS, CEILING, own_bound

STRICT = 4.0
"""Of onnxruntime's own error: the bound of numerics `strict`."""


def bound_of(numerics: str, onnxruntime_error: float, dtype: np.dtype[Any]) -> float | None:
    """The error that `numerics` allow an output of `dtype`: never less than one rounding to that dtype, nor more than
    `CEILING`. None where onnxruntime errs so much that nobody can tell (see `too_ill`).

    Where the dtype rounds more coarsely than the class allows (float16), or onnxruntime itself errs more (quantized
    models, whose values at a step fall to either side), `strict` takes its place.
    """
    rounding = float(np.finfo(dtype).eps) if dtype.kind == "f" else 0.0
    strict, own = max(STRICT * onnxruntime_error, rounding), own_bound(numerics)
    if own is None or max(rounding, onnxruntime_error) > own:
        return strict if strict <= CEILING else None
    return own if dtype.kind == "f" else max(own, strict)


def amplifies(numerics: str, bound: float | None) -> bool:
    """Whether the model makes more of roundings than `numerics` allow, whoever runs it: an output's `bound` was raised
    to onnxruntime's error, or cannot be named."""
    return bound is None or bound > (own_bound(numerics) or BOUNDS["default"])


def too_ill(onnxruntime_error: float) -> str:
    """Why no bound can be named for an output on which onnxruntime errs by that much."""
    return f"onnxruntime itself errs by {onnxruntime_error:.1e} of the largest magnitude on these inputs"


def error_of(found: np.ndarray, exact: np.ndarray, single: np.ndarray) -> float:
    """The error of `found` against float64's `exact`.

    Where onnxruntime's `single` leaves the finite numbers and float64 does not, any value passes.
    """
    if not found.size:
        return 0.0
    if found.dtype.kind != "f":
        return float((found != exact).mean())
    a, b = found.astype(np.float64), exact.astype(np.float64)
    finite = np.isfinite(b)
    comparable = ~finite | np.isfinite(single)
    if not (np.array_equal(a[~finite], b[~finite], equal_nan=True) and np.isfinite(a[finite & comparable]).all()):
        return float("inf")
    distance = float(np.abs(a[finite & comparable] - b[finite & comparable]).max(initial=0.0))
    largest = float(np.abs(b[finite & comparable]).max(initial=0.0))
    return distance / largest if largest else distance
