"""Elementwise primitives: O[x] = f(I_1[x], ..., I_n[x]); numpy broadcasting of the inputs is implicit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.ir.ops.table import (
    Aggregate,
    Array,
    Category,
    Emit,
    Op,
    Pull,
    Region,
    Shape,
    ViewKind,
    add,
    never_idle,
    write_same,
)
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    from korch.ir.primitive import Primitive


COSTLY = frozenset(
    {
        "Exp",
        "Log",
        "Erf",
        "Tanh",
        "Sigmoid",
        "Softplus",
        "Pow",
        "Sin",
        "Cos",
        "Tan",
        "Asin",
        "Acos",
        "Atan",
        "Sinh",
        "Cosh",
        "Asinh",
        "Acosh",
        "Atanh",
    }
)
"""Functions whose arithmetic counts beside moving their operands: worth computing once and keeping."""
DIVIDES = frozenset({"Sqrt", "Reciprocal", "Div"})
COMPARISONS = frozenset({"Equal", "Less", "Greater", "LessOrEqual", "GreaterOrEqual"})
STEPS = frozenset({"Floor", "Ceil", "Round", "Sign", "Mod", *COMPARISONS})
FOLDS = {"Max": Aggregate.LARGEST, "Min": Aggregate.SMALLEST}
DROPS_NAN = frozenset({"Max", "Min", "Relu", "LeakyRelu", "Exp"})
INCREASING = frozenset(
    (
        *("Exp", "Log", "Sqrt", "Relu", "Sigmoid", "Tanh", "Erf", "Softplus"),
        *("Floor", "Ceil", "Round", "Sign", "Atan", "Asinh", "Sinh"),
    )
)


def broadcast_region(region: Region, shape: Shape) -> Region:
    """The part of an operand of `shape` that a broadcast result needs on `region`."""
    tail = region[len(region) - len(shape) :]
    return tuple(np.zeros(1, np.int64) if n == 1 else r for n, r in zip(shape, tail, strict=True))


def _pull_all(p: Primitive, region: Region, pull: Pull) -> list[Array]:
    return [pull(i, broadcast_region(region, t.shape)) for i, t in enumerate(p.inputs)]


def _full(value: Array, region: Region) -> Array:
    return np.broadcast_to(value, tuple(len(r) for r in region))


def _neutral(number: int, commutes: bool) -> Callable[[tuple[Tensor, ...], dict[str, Any]], Tensor | None]:
    """x + 0, 0 + x, x - 0, x * 1, 1 * x, x / 1, where the shape stays."""

    def idle(operands: tuple[Tensor, ...], attrs: dict[str, Any]) -> Tensor | None:
        x, y = operands
        shape = np.broadcast_shapes(x.shape, y.shape)
        if y.value == number and y.value is not None and x.shape == shape:
            return x
        return y if commutes and x.value is not None and x.value == number and y.shape == shape else None

    return idle


_IDLE: dict[str, Callable[[tuple[Tensor, ...], dict[str, Any]], Tensor | None]] = {
    "Identity": lambda operands, attrs: operands[0],
    "Add": _neutral(0, commutes=True),
    "Sub": _neutral(0, commutes=False),
    "Mul": _neutral(1, commutes=True),
    "Div": _neutral(1, commutes=False),
}


def _define(name: str, fn: Callable[..., Array], dtype: str | None = None, operand: int = 0) -> None:
    def infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
        shape = np.broadcast_shapes(*(t.shape for t in inputs))
        return dtype or inputs[operand].dtype, shape

    def evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
        with np.errstate(all="ignore"):
            return _full(fn(*_pull_all(p, region, pull), **dict(p.attrs)), region)

    add(
        Op(
            name,
            Category.ELEMENTWISE,
            infer,
            evaluate,
            write_same,
            view=ViewKind.REARRANGES if name == "Identity" else None,
            costly=name in COSTLY,
            divides=name in DIVIDES,
            is_step=name in STEPS,
            increasing=name in INCREASING,
            chooses=name == "Where",
            idle=_IDLE.get(name, never_idle),
            compares=name in COMPARISONS,
            aggregate=FOLDS.get(name),
            drops_nan=name in DROPS_NAN,
        )
    )


def _sigmoid(x: Array) -> Array:
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def _softplus(x: Array) -> Array:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _leaky_relu(x: Array, *, alpha: float) -> Array:
    return np.where(x >= 0, x, x * x.dtype.type(alpha))


_ERF = np.frompyfunc(math.erf, 1, 1)


def _erf(x: Array) -> Array:
    return np.asarray(_ERF(x.astype(np.float64)), dtype=np.float64).astype(x.dtype)


def _divide(a: Array, b: Array) -> Array:
    """Integers divide as C does, toward zero; by zero they give zero."""
    if np.issubdtype(a.dtype, np.integer):
        by = np.where(b == 0, 1, b).astype(b.dtype)
        return np.where(b == 0, 0, (a - np.fmod(a, by)) // by).astype(a.dtype)
    return a / b


def _mod(a: Array, b: Array, *, fmod: int) -> Array:
    return np.fmod(a, b) if fmod else np.mod(a, b)


def _reciprocal(x: Array) -> Array:
    return x.dtype.type(1) / x


def _identity(x: Array) -> Array:
    return x


_UNARY: dict[str, Callable[..., Array]] = {
    "Neg": np.negative, "Abs": np.abs, "Exp": np.exp, "Log": np.log, "Sqrt": np.sqrt, "Reciprocal": _reciprocal,
    "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint, "Sign": np.sign, "Erf": _erf, "Tanh": np.tanh,
    "Sigmoid": _sigmoid, "Relu": _relu, "Softplus": _softplus, "LeakyRelu": _leaky_relu,
    "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos, "Atan": np.arctan,
    "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh, "Acosh": np.arccosh, "Atanh": np.arctanh,
    "Identity": _identity,
}  # fmt: skip
_BINARY: dict[str, Callable[..., Array]] = {
    "Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": _divide, "Pow": np.power, "Max": np.maximum,
    "Min": np.minimum, "Mod": _mod,
}  # fmt: skip
_LOGIC: dict[str, Callable[..., Array]] = {
    "Not": np.logical_not, "IsNaN": np.isnan, "IsInf": np.isinf, "And": np.logical_and, "Or": np.logical_or,
    "Xor": np.logical_xor, "Equal": np.equal, "Less": np.less, "Greater": np.greater,
    "LessOrEqual": np.less_equal, "GreaterOrEqual": np.greater_equal,
}  # fmt: skip

for _name, _fn in (_UNARY | _BINARY).items():
    _define(_name, _fn)
for _name, _fn in _LOGIC.items():
    _define(_name, _fn, dtype="bool")
_define("Where", np.where, operand=1)


def _cast_infer(inputs: tuple[Tensor, ...], attrs: dict[str, Any]) -> tuple[str, Shape]:
    return attrs["to"], inputs[0].shape


def _cast_evaluate(p: Primitive, region: Region, pull: Pull) -> Array:
    x, to = pull(0, region), np.dtype(p.attr("to"))
    if to.kind == "f" and x.dtype.kind == "f":
        return x  # stays in the precision of the evaluation
    with np.errstate(all="ignore"):
        return x.astype(np.float64 if to.kind == "f" else to)


def _cast_write(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    from onnx.helper import np_dtype_to_tensor_dtype

    emit.node("Cast", names, p.output.name, to=int(np_dtype_to_tensor_dtype(np.dtype(p.attr("to")))))


def _cast_idle(operands: tuple[Tensor, ...], attrs: dict[str, Any]) -> Tensor | None:
    return operands[0] if attrs["to"] == operands[0].dtype else None


add(
    Op(
        "Cast",
        Category.ELEMENTWISE,
        _cast_infer,
        _cast_evaluate,
        _cast_write,
        casts=True,
        idle=_cast_idle,
    )
)
