"""Parameters of an operator that ONNX moved from attributes to inputs: numbers, if the model does not compute them."""

from __future__ import annotations

from collections.abc import Sequence

from korch import limits
from korch.fission.rule import Opaque
from korch.ir.builder import Value


def integers(given: Value | None, otherwise: Sequence[int] | None = None) -> tuple[int, ...] | Opaque:
    """The numbers of the input `given`; `otherwise` where it is missing; Opaque where the model computes it, or it has
    more than anybody lists."""
    if given is None:
        return tuple(otherwise or ())
    if given.array is None:
        return Opaque(f"its parameter {given.tensor.name} is computed by the model")
    if given.tensor.size > limits.POSITIONS:
        return Opaque(f"its parameter {given.tensor.name} has {given.tensor.size} numbers")
    return tuple(given.array.reshape(-1).tolist())


def axes_in(axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front, each once, in order."""
    return tuple(sorted({a % rank for a in axes}))
