"""Elementwise operators."""

from __future__ import annotations

import numpy as np
from onnx import helper

from fuzzing.draft import FLOATS, INTS, MICROSOFT, Array, Draft, Rejected
from fuzzing.operators import template


def tamed(d: Draft, low: float, high: float) -> str:
    """A float between two numbers."""
    name = d.some()
    x = d.arrays[name]
    if d.setting.special or not x.size or (x.min() >= low and x.max() <= high):
        return name
    middle, half = (low + high) / 2, (high - low) / 2
    if d.chance(0.5):
        largest = max(float(np.abs(x).max()), 1.0)
        small = d.node("Mul", [name, d.weight(half * 0.99 / largest, x.dtype.name)])
    else:
        small = d.node("Mul", [d.node("Tanh", [name]), d.weight(half * 0.99, x.dtype.name)])
    return d.node("Add", [small, d.weight(middle, x.dtype.name)]) if middle else small


RANGES = {
    **dict.fromkeys(("Acos", "Asin", "Atanh"), (-0.9, 0.9)),
    "Acosh": (1.1, 9.0),
    **dict.fromkeys(("Log", "Sqrt", "Reciprocal"), (0.1, 9.0)),
    **dict.fromkeys(("Exp", "Sinh", "Cosh"), (-4.0, 4.0)),
    "Tan": (-1.2, 1.2),
}


@template(*RANGES)
def on_a_range(d: Draft, op: str) -> None:
    d.node(op, [tamed(d, *RANGES[op])])


@template("Asinh", "Atan", "Ceil", "Cos", "Erf", "Floor", "Sin", "IsNaN")
@template("Round", since=11)
@template("Relu", "Sigmoid", "Softplus", "Softsign", "Tanh", "Selu")
@template("HardSwish", since=14)
@template("Mish", since=18)
def of_floats(d: Draft, op: str) -> None:
    if d.setting.special and op == "Mish":
        raise Rejected("zero times infinity")
    d.node(op, [d.some()])


@template("Gelu", since=20)
def gelu_of_onnx(d: Draft, op: str) -> None:
    d.node(op, [d.some()], approximate=d.rng.choice(["none", "tanh"]))


@template("Abs", "Neg", "Sign", "Identity")
def of_numbers(d: Draft, op: str) -> None:
    kinds = d.floats if d.chance(0.7) else INTS
    d.node(op, [d.some(kinds)])


@template("Not")
def negated(d: Draft, op: str) -> None:
    d.node(op, [d.some(("bool",))])


ALPHAS = {
    "LeakyRelu": (0.01, 1.5),
    "ThresholdedRelu": (0.1, 1.0),
    "Elu": (0.1, 2.0),
    "Celu": (0.5, 2.0),
    "HardSigmoid": (0.1, 0.5),
    "Swish": (0.5, 2.0),
    "QuickGelu": (0.5, 2.0),
}


@template("LeakyRelu", "Elu", "HardSigmoid")
@template("ThresholdedRelu", since=10)
@template("Celu", since=12)
@template("Swish", since=24)
@template("QuickGelu", domain=MICROSOFT)
def with_alpha(d: Draft, op: str) -> None:
    if d.setting.special and op in ("QuickGelu", "Swish"):
        raise Rejected("zero times infinity")  # docs/backends.md says which kernels make what of it
    alpha = d.rng.uniform(*ALPHAS[op]) if d.chance(0.7) else None
    d.node(op, [d.some()], domain=MICROSOFT if op == "QuickGelu" else "", alpha=alpha)


@template("Shrink")
def shrunk(d: Draft, op: str) -> None:
    d.node(op, [d.some()], lambd=d.rng.choice([0.1, 0.5, 1.0]), bias=d.rng.choice([0.0, 0.25, 0.5]))


@template("Gelu", domain=MICROSOFT)
def gelu(d: Draft, op: str) -> None:
    d.node(op, [d.some()], domain=MICROSOFT)


@template("BiasGelu", "FastGelu", domain=MICROSOFT)
def gelu_of_a_sum(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4))
    bias = [d.fresh(d.arrays[x].dtype.name, d.arrays[x].shape[-1:])]
    d.node(op, [x, *(bias if op == "BiasGelu" or d.chance(0.5) else [])], domain=MICROSOFT)


@template("Add", "Sub", "Mul")
def arithmetic(d: Draft, op: str) -> None:
    x = d.some(d.floats if d.chance(0.8) else ("int32", "int64", "int8", "uint8"))
    pair = [x, d.partner(x)]
    d.node(op, pair if d.chance(0.5) else pair[::-1])


@template("Div")
def quotient(d: Draft, op: str) -> None:
    x = d.some(d.floats if d.chance(0.8) else ("int32", "int64"))
    d.node(op, [x, d.partner(x, low=1, high=4)])


@template("And", "Or", "Xor")
def logic(d: Draft, op: str) -> None:
    x = d.some(("bool",))
    d.node(op, [x, d.partner(x)])


@template("Equal", "Greater", "Less")
@template("GreaterOrEqual", "LessOrEqual", since=12)
def comparison(d: Draft, op: str) -> None:
    x = d.some(d.floats if d.chance(0.7) else ("int32", "int64", "int8", "uint8"))
    d.node(op, [x, d.partner(x)])


@template("Sum", "Mean", "Max", "Min")
def variadic(d: Draft, op: str) -> None:
    integers = op in ("Max", "Min") and d.setting.opset >= 12 and d.chance(0.3)
    x = d.some(("int32", "int64", "int8", "uint8") if integers else d.floats)
    d.node(op, [x, *(d.partner(x) for _ in range(d.rng.randint(0, 3)))])


@template("Where")
def where(d: Draft, op: str) -> None:
    x = d.some((*d.floats, "int32", "int64", "uint8"))
    d.node(op, [d.partner(x, ("bool",)), x, d.partner(x)])


@template("Mod", since=10)
def remainder(d: Draft, op: str) -> None:
    if d.chance(0.5):
        x = d.some(INTS)
        d.node(op, [x, d.partner(x, low=1, high=5)], fmod=d.rng.choice([0, 1]))
    else:
        x = d.some()
        d.node(op, [x, d.partner(x, low=0.5, high=3)], fmod=1)


@template("Pow")
def power(d: Draft, op: str) -> None:
    draw = d.rng.random()
    if draw < 0.4:
        exponent = d.rng.choice([0, 0.5, 1, 1.5, 2, 3, 4, -1, -2])
        x = tamed(d, 0.2, 3.0) if exponent < 0 or exponent % 1 else tamed(d, -4, 4)
        d.node(op, [x, d.weight(exponent, d.arrays[x].dtype.name)])
    elif draw < 0.7:
        x = tamed(d, 0.2, 3.0)
        d.node(op, [x, d.partner(x, low=-2, high=2)])
    else:
        x = d.some(("int32", "int64"), fits=lambda y: bool((np.abs(y) < 100).all()))
        d.node(op, [x, d.weight(d.rng.choice([0, 1, 2, 3]), d.arrays[x].dtype.name)])


@template("Clip")
def clipped(d: Draft, op: str) -> None:
    low, high = d.rng.choice([(0, None), (-0.5, 0.5), (None, 0.3), (0, 6), (-1, None), (None, None)])
    if d.setting.opset < 11:
        d.node(op, [d.some()], min=low, max=high)
        return
    x = d.some(d.floats if d.chance(0.8) else ("int8", "int32", "int64"))
    dtype = d.arrays[x].dtype
    ends = ["" if v is None else np.asarray(v, "float64").astype(dtype) for v in (low, high)]
    d.node(op, [x, *(v if isinstance(v, str) else d.weight(v) if d.chance(0.8) else d.input(v) for v in ends)])


@template("PRelu")
def p_relu(d: Draft, op: str) -> None:
    x = d.some(rank=(1, 4))
    slope = d.fresh(d.arrays[x].dtype.name, d.narrowed(d.arrays[x].shape))
    d.node(op, [x, slope])


@template("IsInf", since=10)
def is_inf(d: Draft, op: str) -> None:
    d.node(op, [d.some()], detect_negative=d.rng.choice([0, 1]), detect_positive=d.rng.choice([0, 1]))


def _castable(x: Array) -> bool:
    return x.dtype.kind != "f" or bool(np.isfinite(x).all() and (np.abs(x) < 100).all())


@template("Cast")
def cast(d: Draft, op: str) -> None:
    x = d.some((*d.floats, *INTS, "bool"), fits=_castable)
    y = d.arrays[x]
    unsigned = [k for k in INTS if k[0] == "u" and (y.dtype.kind in "ub" or not y.size or y.min() >= 0)]
    signed = [k for k in INTS if k[0] != "u" and (y.dtype.kind == "f" or not y.size or y.max() < 128)]
    to = d.rng.choice([*FLOATS, d.setting.dtype, d.setting.dtype, "bool", *signed, *unsigned])
    if d.setting.special and y.dtype.kind == "f" and to not in FLOATS:
        raise Rejected("nothing says what integer NaN is")
    d.node(op, [x], to=helper.np_dtype_to_tensor_dtype(np.dtype(to)))


@template("CastLike", since=15)
def cast_like(d: Draft, op: str) -> None:
    x = d.some((*d.floats, "int32", "int64", "bool"), fits=_castable)
    d.node(op, [x, d.some((*FLOATS,))])


@template("Dropout")
def dropout(d: Draft, op: str) -> None:
    d.node(op, [d.some()])
