"""What a call may end in: a scale, additions, an activation; read from post-ops."""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.contract import Refusal
from korch.backends.linear.activations import Eltwise
from korch.backends.linear.pattern import Binary, PostOp
from korch.backends.linear.views import View

ACTIVATIONS = {Eltwise("relu"): "relu", Eltwise("gelu_tanh"): "gelu"}
"""Those that cuBLASLt can end in; its Gelu is the approximation by tanh."""


@dataclass(frozen=True, slots=True)
class CallEpilogue:
    """activation(scale * x + sum of adds), where x is what the linear primitive gives."""

    scale: float = 1.0
    adds: tuple[View, ...] = ()
    activation: str = ""


def epilogue_of(post_ops: tuple[PostOp, ...]) -> CallEpilogue | Refusal:
    """The post-ops in that form, or which of them does not fit."""
    scale, adds, activation = 1.0, list[View](), ""
    for op in post_ops:
        match op:
            case Eltwise("linear", factor, 0.0) if not adds and not activation:
                scale *= factor
            case Binary("add", operand) if not activation:
                adds.append(operand)
            case Eltwise() if op in ACTIVATIONS and not activation:
                activation = ACTIVATIONS[op]
            case _:
                return Refusal(f"no library call goes on with {op.alg} after {_shown(scale, adds, activation)}")
    return CallEpilogue(scale, tuple(adds), activation)


def _shown(scale: float, adds: list[View], activation: str) -> str:
    """What there is before, in words."""
    before = ["a scale"] * (scale != 1.0) + ["an addition"] * len(adds) + [activation] * bool(activation)
    return ", ".join(before) or "the sums"
