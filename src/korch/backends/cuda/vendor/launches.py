"""Functions that a library starts for one call, and the temporary memory between them, as `device.py` asks for them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from korch.backends.cuda.vendor.operands import CallOperand
from korch.backends.precision import HALVES

FACTORS = ("a", "b", "x", "w", "q", "k", "v")
COPIED = ("transposed_convolution", "attention")
"""Functions whose result torch cannot be told where to write."""
FLOAT, HALF = 4, 2


@dataclass(frozen=True, slots=True)
class Passes:
    """So many launches, and bytes that are written by one and read by a later one."""

    launches: int = 0
    temporary: int = 0

    def __add__(self, other: Passes) -> Passes:
        return Passes(self.launches + other.launches, self.temporary + other.temporary)


def passes(function: str, operands: Mapping[str, CallOperand | None], attrs: Mapping[str, Any]) -> Passes:
    """The library's own function and what runs before and after it."""
    half = attrs["precision"] in HALVES if "precision" in attrs else False
    given = {name: o for name, o in operands.items() if o}
    casts = [o for name, o in given.items() if half and name in FACTORS and not o.prepared]
    found = Passes(_products(given) if function == "product" else 1)
    for o in casts:
        found += Passes(1, HALF * _size(o))
    return found + _after(function, given, attrs, half, _size(given["out"]))


def _after(function: str, given: Mapping[str, CallOperand], attrs: Mapping[str, Any], half: bool, size: int) -> Passes:
    """The launches after the library's own function; a pass over the output reads it and writes it again."""
    again = Passes(1, FLOAT * size)
    match function:
        case "product":
            scaled, added = half and attrs["scale"] != 1.0, "add" in given and (half or not _is_vector(given["add"]))
            return _times(again, scaled + added + bool(half and attrs["activation"]))
        case "convolution" if attrs["relu"]:
            casts = _times(Passes(1), half) + _times(Passes(1, HALF * size), half and "residual" in given)
            return casts + Passes(1, (HALF if half else FLOAT) * size)
        case "convolution":
            return Passes(1, HALF * size) if half else _times(again, "bias" in given)
        case _:
            return Passes(1, (HALF if half else FLOAT) * size) if function in COPIED else Passes()


def _times(some: Passes, count: int) -> Passes:
    return Passes(some.launches * count, some.temporary * count)


def _products(given: Mapping[str, CallOperand]) -> int:
    """Products of matrices, or of matrices along one batch axis, that a product with several batch axes is made of."""
    return math.prod(given["out"].view.shape[:-3])


def _is_vector(add: CallOperand) -> bool:
    """Whether cuBLASLt adds it in the product's own kernel."""
    return len(add.view.shape) == 1


def _size(o: CallOperand) -> int:
    """Elements, those that are repeated along an axis once."""
    return math.prod(n for n, stride in zip(o.view.shape, o.view.strides, strict=True) if stride or n == 1)
