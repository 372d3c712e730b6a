"""The C of dtypes and elementwise operators."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from korch.backends.linear.activations import GELU, meaning, operand
from korch.backends.maps.trace import Fused, Maker
from korch.ir.ops.integers import BYTES
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

C_TYPES = {
    "float32": "float", "float64": "double", "int8": "int8_t", "int16": "int16_t", "int32": "int32_t",
    "int64": "int64_t", "uint8": "uint8_t", "uint16": "uint16_t", "uint32": "uint32_t", "uint64": "uint64_t",
    "bool": "uint8_t", "float16": "_Float16",
}  # fmt: skip

INFIX = {
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Div": "/",
    "Equal": "==",
    "Less": "<",
    "Greater": ">",
    "LessOrEqual": "<=",
    "GreaterOrEqual": ">=",
}
WRAPS = {op: INFIX[op] for op in ("Add", "Sub", "Mul")} | {"Neg": "-"}
"""C operators whose results may lie beyond the type of integers."""
LOGIC = {"And": "&&", "Or": "||"}

_SINGLE = {  # ours, written so that the compiler vectorises them
    "Exp": "korch_exp", "Log": "korch_log", "Erf": "korch_erf", "Tanh": "korch_tanh", "Sigmoid": "korch_sigmoid",
    "Softplus": "korch_softplus",
}  # fmt: skip
_LIBM = {
    "Abs": "fabs", "Sqrt": "sqrt", "Floor": "floor", "Ceil": "ceil", "Round": "nearbyint", "Sin": "sin", "Cos": "cos",
    "Tan": "tan", "Asin": "asin", "Acos": "acos", "Atan": "atan", "Sinh": "sinh", "Cosh": "cosh", "Asinh": "asinh",
    "Acosh": "acosh", "Atanh": "atanh", "Exp": "exp", "Log": "log", "Erf": "erf", "Tanh": "tanh", "Pow": "pow",
}  # fmt: skip


def literal(value: float | int | bool, dtype: str) -> str:
    """`value` as a C constant of `dtype`."""
    if dtype == "float16":
        return f"(_Float16){literal(value, 'float32')}"
    if dtype in ("float32", "float64"):
        number = float(value)
        if number != number:
            return "NAN"
        if number in (float("inf"), float("-inf")):
            return "INFINITY" if number > 0 else "(-INFINITY)"
        text = number.hex() if dtype == "float64" else f"{_shortest(number)}f"
        return f"({text})" if number < 0 else text
    text = str(int(value))
    if dtype == "int64" and int(value) == -(2**63):
        return "INT64_MIN"
    suffix = {"int64": "LL", "uint64": "ULL", "uint32": "U"}.get(dtype, "")
    return f"({text}{suffix})" if int(value) < 0 else text + suffix


def _shortest(number: float) -> str:
    """The shortest decimal text that reads back as the same float32."""
    return np.format_float_scientific(np.float32(number), unique=True, trim="0", exp_digits=1)


FUSED = {
    "x * sigmoid(x)": "korch_siluf",
    "x * tanh(softplus(x))": "korch_mishf",
    **dict.fromkeys(GELU, "korch_geluf"),
    "tanh(softplus(x))": "korch_tanh_softplusf",
}
"""Functions that are faster than one of their primitives after the other."""
LAST = ("Mul", "Tanh")
"""What they end in."""
_NEAREST = ("round(x) + zero", "round(x)")
_BYTES = tuple(f"cast({c.format(y)})" for c in ("min(max({}, low), high)", "max(min({}, high), low)") for y in _NEAREST)
"""Ways to write the byte nearest to x."""
DIVISORS = (2.0**-60, 2.0**60)
"""Magnitudes of divisors between which quotients by way of the reciprocal are exact."""


def together(p: Primitive, maker: Maker, known: Maker) -> Fused | None:
    """The C function for `p` and what makes its operands; None where there is none. `maker` knows what is computed on
    the way, `known` also what has been stored."""
    if p.op == "Exp" and p.output.dtype == "float32" and _is_below_zero(p.inputs[0], known):
        return Fused("korch_exp_belowf", p.inputs[0], (p,))
    if p.op == "Cast":
        return _rounded(p, lambda t: p if t == p.output else maker(t))
    if p.op not in LAST or p.output.dtype != "float32":
        return None
    for text, function in FUSED.items():
        x = operand(text, p.output, lambda t: p if t == p.output else maker(t))
        if x and x.shape == p.output.shape:
            return Fused(function, x, tuple(_down_to(x, p, maker)))
    return None


def _rounded(p: Primitive, maker: Maker) -> Fused | None:
    """Rounding to a byte, or to the float that such a byte is cast to."""
    byte = p.inputs[0] if p.output.dtype == "float32" else p.output
    if byte.dtype not in BYTES:
        return None
    for text in _BYTES:
        found = meaning(text, byte, maker)
        if not found or found["x"].dtype != "float32":
            continue
        x, limits = found["x"], (found["low"], found["high"], found.get("zero", 0.0))
        of_type = np.iinfo(byte.dtype)
        inside = of_type.min <= limits[0] <= limits[2] <= limits[1] <= of_type.max
        if inside and all(n == int(n) for n in limits):
            function = "korch_to_bytef" if byte == p.output else "korch_as_bytef"
            arguments = tuple(literal(n, "float32") for n in limits)
            return Fused(function, x, tuple(_down_to(x, p, maker)), arguments, divides=False)
    return None


def _is_below_zero(t: Tensor, maker: Maker) -> bool:
    """Whether `t` is something less its own maximum: without kept axes it could be that of another row."""
    p = maker(t)
    top = maker(p.inputs[1]) if p and p.op == "Sub" else None
    if p is None or top is None or not (top.spec.folds and top.spec.picks > 0):
        return False
    return top.inputs[0] == p.inputs[0] and bool(top.attr("keepdims"))


def _down_to(x: Tensor, p: Primitive, maker: Maker) -> Iterator[Primitive]:
    """`p` and what it is computed by from x."""
    yield p
    for t in p.inputs:
        q = maker(t) if t != x else None
        if q:
            yield from _down_to(x, q, maker)


def elementwise(p: Primitive, args: list[str]) -> str:
    """The C expression of an elementwise primitive on the expressions `args` (each evaluated once)."""
    op, dtype = p.op, p.inputs[0].dtype
    floating = dtype in ("float32", "float64")
    if op == "Div" and not floating:
        return _divided(dtype, *args)
    if op == "Div" and dtype == "float32" and _has_reciprocal(p.inputs[1].value):
        reciprocal = literal(float(np.float32(1) / np.float32(p.inputs[1].value)), dtype)
        return f"korch_quotientf({args[0]}, {args[1]}, {reciprocal})"
    if op in WRAPS and not p.inputs[0].is_float:
        return _wrapped(op, dtype, args)
    if op in INFIX:
        return f"{args[0]} {INFIX[op]} {args[1]}"
    if op in LOGIC:
        return f"{args[0]} {LOGIC[op]} {args[1]}"
    match op:
        case "Xor":
            return f"!{args[0]} != !{args[1]}"
        case "Not":
            return f"!{args[0]}"
        case "Neg":
            return f"-{args[0]}"
        case "Max" | "Min":
            return _extreme(p, args)
        case "Relu":
            return f"KORCH_MAX({literal(0, dtype)}, {args[0]})"
        case "LeakyRelu":
            return f"{args[0]} >= 0 ? {args[0]} : {literal(p.attr('alpha'), dtype)} * {args[0]}"
        case "Reciprocal":
            return f"{literal(1, dtype)} / {args[0]}"
        case "Where":
            return f"{args[0]} ? {args[1]} : {args[2]}"
        case "Sign":
            of = args[0]  # NaN stays
            return f"{of} == {of} ? ({of} > 0) - ({of} < 0) : {of}" if p.output.is_float else f"({of} > 0) - ({of} < 0)"
        case "IsNaN":
            return f"{args[0]} != {args[0]}"
        case "IsInf":
            return f"isinf({args[0]}) != 0"
        case "Identity":
            return args[0]
        case "Cast":
            return _cast(p.inputs[0], p.attr("to"), args[0])
        case "Abs" if not floating:
            return args[0] if dtype.startswith("u") else f"{args[0]} < 0 ? {_wrapped('Neg', dtype, args)} : {args[0]}"
        case "Mod":
            return _mod(p, args, floating)
        case "Unpack":
            return _unpacked(p, args)
        case _:
            return _call(op, dtype, args)


def is_expressible(p: Primitive) -> bool:
    """Whether `elementwise` has a form for `p`: float16 is only cast, as nothing computes in it."""
    if any(t.dtype not in C_TYPES for t in (*p.inputs, p.output)):
        return False
    if any(t.dtype == "float16" for t in (*p.inputs, p.output)):
        return p.spec.casts
    floating = p.inputs[0].dtype in ("float32", "float64")
    if (p.op in _LIBM and p.op != "Abs") or p.op in _SINGLE:
        return floating
    return True


def _call(op: str, dtype: str, args: list[str]) -> str:
    if op in _SINGLE:
        return f"{_SINGLE[op]}{'f' if dtype == 'float32' else 'd'}({', '.join(args)})"
    return f"{_LIBM[op]}{'f' if dtype == 'float32' else ''}({', '.join(args)})"


def _cast(source: Tensor, to: str, x: str) -> str:
    return f"{x} != 0" if to == "bool" else f"({C_TYPES[to]}){x}"


def _unpacked(p: Primitive, args: list[str]) -> str:
    """The integer of a byte that begins at a bit."""
    bits = p.attr("bits")
    field = f"({args[0]} >> {args[1]}) & {2**bits - 1}"
    return f"(({field}) ^ {2 ** (bits - 1)}) - {2 ** (bits - 1)}" if p.attr("signed") else field


def _mod(p: Primitive, args: list[str], floating: bool) -> str:
    a, b = args
    if floating:
        single = p.inputs[0].dtype == "float32"
        return f"fmod{'f' * single}({a}, {b})" if p.attr("fmod") else f"korch_modulo{'df'[single]}({a}, {b})"
    if p.inputs[0].dtype.startswith("u"):
        return f"{b} ? {a} % {b} : 0"
    return f"korch_{'remainder' if p.attr('fmod') else 'modulo'}({a}, {b})"


def _has_reciprocal(divisor: float | None) -> bool:
    """Whether quotients are faster by a reciprocal: compilers multiply by that of a power of two."""
    return divisor is not None and DIVISORS[0] < abs(divisor) < DIVISORS[1] and abs(math.frexp(divisor)[0]) != 0.5


def wrapping(dtype: str) -> str:
    """The C type in which integers of `dtype` are added and multiplied: results beyond it wrap around."""
    return "uint64_t" if dtype.endswith("64") else "uint32_t"


def _wrapped(op: str, dtype: str, args: list[str]) -> str:
    """Arithmetic of integers that wraps around: in C only that of unsigned ones does."""
    wide = wrapping(dtype)
    operands = ["0", *args] if op == "Neg" else args
    return f"({C_TYPES[dtype]})" + "(" + f" {WRAPS[op]} ".join(f"({wide}){a}" for a in operands) + ")"


def _divided(dtype: str, a: str, b: str) -> str:
    return f"{b} ? {a} / {b} : 0" if dtype[0] in "ub" else f"KORCH_DIVIDED({a}, {b})"


def extreme_order(p: Primitive) -> tuple[int, int]:
    """In which order Max and Min compare: the second operand is the result where the two do not compare, so a number
    comes first."""
    return (1, 0) if p.inputs[1].value is not None else (0, 1)


def is_ordered(p: Primitive) -> bool:
    """Whether that order alone keeps NaN: one operand of Max or Min is a number."""
    return any(t.value is not None and t.value == t.value for t in p.inputs)


def _extreme(p: Primitive, args: list[str]) -> str:
    a, b = (args[i] for i in extreme_order(p))
    return extreme(p.spec.picks > 0, p.inputs[0].is_float and not is_ordered(p), a, b)


def extreme(largest: bool, keeps_nan: bool, a: str, b: str) -> str:
    """The larger or smaller of `a` and `b`; b where they do not compare, or NaN where either is."""
    name = ("LARGER" if largest else "SMALLER") if keeps_nan else ("MAX" if largest else "MIN")
    return f"KORCH_{name}({a}, {b})"
