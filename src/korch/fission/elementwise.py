"""Elementwise operators: most are primitives themselves; the others are a choice or a chain of them."""

from __future__ import annotations

from functools import reduce

from onnx import helper

from korch.fission.rule import Opaque, fission
from korch.ir.builder import Builder, Value

UNARY = (
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Erf",
    "Exp",
    "Floor",
    "Identity",
    "IsNaN",
    "Log",
    "Neg",
    "Not",
    "Reciprocal",
    "Round",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Tan",
)
BINARY = ("Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mul", "Or", "Sub", "Xor")
VARIADIC = {"Sum": "Add", "Max": "Max", "Min": "Min"}


@fission(*UNARY)
def unary(b: Builder, x: Value, *, op: str) -> Value:
    """f(x): a primitive of the same name."""
    return b.op(op, x)


@fission(*BINARY, since=7)
def binary(b: Builder, x: Value, y: Value, *, op: str) -> Value:
    """f(x, y) with numpy's broadcasting: a primitive of the same name."""
    return b.op(op, x, y)


@fission(*VARIADIC)
def variadic(b: Builder, *xs: Value, op: str) -> Value:
    """x1 + x2 + ..., or their greatest or least, from left to right."""
    return reduce(lambda x, y: b.op(VARIADIC[op], x, y), xs)


@fission("Mean")
def mean(b: Builder, *xs: Value) -> Value:
    """(x1 + ... + xn) / n."""
    return variadic(b, *xs, op="Sum") / len(xs)


@fission("Where")
def where(b: Builder, condition: Value, x: Value, y: Value) -> Value:
    """x where the condition holds, else y."""
    return b.op("Where", condition, x, y)


@fission("Mod")
def mod(b: Builder, x: Value, y: Value, *, fmod: int = 0) -> Value:
    """The remainder with the sign of y, or with `fmod` that of x."""
    return b.op("Mod", x, y, fmod=fmod)


@fission("Pow", since=7)
def power(b: Builder, x: Value, y: Value) -> Value:
    """x to the power y in the dtype of x, by multiplying where y is small; other powers of integers go through
    float64, as onnxruntime's do."""
    if y.tensor.value in (1, 2, 3, 4) and y.rank <= x.rank and (x.tensor.is_float or y.tensor.value in (2, 3)):
        square = x * x
        return {1: x, 2: square, 3: square * x, 4: square * square}[int(y.tensor.value)]
    if x.tensor.is_float:
        return b.op("Pow", x, b.op("Cast", y, to=x.dtype))
    wide = b.op("Pow", b.op("Cast", x, to="float64"), b.op("Cast", y, to="float64"))
    return b.op("Cast", wide, to=x.dtype)


@fission("Clip")
def clip(
    b: Builder,
    x: Value,
    low: Value | None = None,
    high: Value | None = None,
    /,
    *,
    min: float | None = None,
    max: float | None = None,
) -> Value:
    """min(max(x, low), high); before opset 11 the limits are attributes."""
    low = b.constant(min, x.dtype) if min is not None else low
    high = b.constant(max, x.dtype) if max is not None else high
    if low is not None:
        x = b.op("Relu", x) if low.tensor.value == 0 and x.tensor.is_float else b.op("Max", x, low)
    return x if high is None else b.op("Min", x, high)


@fission("PRelu", since=7)
def p_relu(b: Builder, x: Value, slope: Value) -> Value:
    """x where x >= 0, else slope * x."""
    if slope.tensor.value is not None and slope.rank <= x.rank and x.tensor.is_float:
        return b.op("LeakyRelu", x, alpha=float(slope.tensor.value))
    return b.op("Where", b.op("Less", x, 0), slope * x, x)


@fission("IsInf")
def is_inf(b: Builder, x: Value, *, detect_negative: int = 1, detect_positive: int = 1) -> Value:
    """Whether x is infinite, with a sign that is looked for."""
    if not detect_negative and not detect_positive:
        return b.filled(x.shape, False, "bool")
    infinite = b.op("IsInf", x)
    if detect_negative and detect_positive:
        return infinite
    return b.op("And", infinite, b.op("Greater" if detect_positive else "Less", x, 0))


@fission("Cast", since=6)
def cast(b: Builder, x: Value, *, to: int, saturate: int = 1, round_mode: str = "up") -> Value | Opaque:
    """x in another dtype (`saturate` and `round_mode` speak of eight-bit floats only)."""
    dtype = helper.tensor_dtype_to_np_dtype(to)
    if dtype.kind not in "fiub":
        return Opaque(f"it casts to {dtype.name}")
    return b.op("Cast", x, to=dtype.name)


@fission("CastLike")
def cast_like(b: Builder, x: Value, like: Value, *, saturate: int = 1, round_mode: str = "up") -> Value:
    """x in the dtype of `like`."""
    return b.op("Cast", x, to=like.dtype)


@fission("Dropout", since=7)
def dropout(
    b: Builder,
    x: Value,
    rate: Value | None = None,
    training: Value | None = None,
    /,
    *,
    ratio: float = 0.5,
    seed: int = 0,
    outputs: int = 1,
    opset: int = 13,
) -> tuple[Value, ...] | Opaque:
    """x, and a mask of ones: only training drops anything."""
    if training is not None and (training.array is None or training.array.any()):
        return Opaque("in training what it drops is random")
    return (x, b.filled(x.shape, 1, "bool" if opset >= 10 else x.dtype)) if outputs > 1 else (x,)
