"""How dtypes and elementwise operators are written in Triton."""

from __future__ import annotations

from korch.ir.primitive import Primitive

TYPES = {
    "float32": "tl.float32", "float64": "tl.float64", "int8": "tl.int8", "int16": "tl.int16", "int32": "tl.int32",
    "int64": "tl.int64", "uint8": "tl.uint8", "uint16": "tl.uint16", "uint32": "tl.uint32", "uint64": "tl.uint64",
    "bool": "tl.int1",
}  # fmt: skip

INFIX = {
    "Add": "+",
    "Sub": "-",
    "Mul": "*",
    "Equal": "==",
    "Less": "<",
    "Greater": ">",
    "LessOrEqual": "<=",
    "GreaterOrEqual": ">=",
    "And": "&",
    "Or": "|",
    "Xor": "^",
}
TEMPLATES = {
    "Not": "{0} == 0", "Neg": "-{0}", "Abs": "tl.abs({0})", "Reciprocal": "1.0 / {0}", "Identity": "{0}",
    "Exp": "tl.exp({0})", "Log": "tl.log({0})", "Erf": "tl.erf({0})", "Sqrt": "tl.sqrt({0})", "Sin": "tl.sin({0})",
    "Cos": "tl.cos({0})", "Floor": "tl.floor({0})", "Ceil": "tl.ceil({0})", "Sigmoid": "1.0 / (1.0 + tl.exp(-{0}))",
    "Softplus": "tl.maximum({0}, 0.0) + libdevice.log1p(tl.exp(-tl.abs({0})))", "Where": "tl.where({0}, {1}, {2})",
    "IsNaN": "{0} != {0}", "IsInf": 'tl.abs({0}) == float("inf")',
}  # fmt: skip
LIBDEVICE = {
    "Round": "rint",
    "Tan": "tan",
    "Asin": "asin",
    "Acos": "acos",
    "Atan": "atan",
    "Sinh": "sinh",
    "Cosh": "cosh",
    "Asinh": "asinh",
    "Acosh": "acosh",
    "Atanh": "atanh",
    "Tanh": "tanh",
    "Pow": "pow",
}
FLOATS = ("float32", "float64")
WITH_FORM = ("Div", "Relu", "LeakyRelu", "Cast", "Max", "Min", "Mod", "Sign")
ORDERED = {"Max": "folds.larger", "Min": "folds.smaller"}


def elementwise(p: Primitive, args: list[str]) -> str:
    """The expression of an elementwise primitive on the names or literals `args`."""
    dtype = p.inputs[0].dtype
    floating = dtype in FLOATS
    if p.op in INFIX:
        return f"{args[0]} {INFIX[p.op]} {args[1]}"
    if p.op in TEMPLATES:
        return TEMPLATES[p.op].format(*args)
    if p.op in LIBDEVICE:
        return f"libdevice.{LIBDEVICE[p.op]}({', '.join(args)})"
    match p.op:
        case "Div":
            return f"{args[0]} / {args[1]}" if floating else _integral(args[0], args[1], "//")
        case "Sign":
            return _sign(args[0], dtype, floating)
        case "Relu":
            return f"tl.where({args[0]} < 0, {'0.0' if floating else '0'}, {args[0]})"
        case "LeakyRelu":
            return f"tl.where({args[0]} >= 0, {args[0]}, {args[0]} * {float(p.attr('alpha'))!r})"
        case "Cast":
            return f"{args[0]} != 0" if p.attr("to") == "bool" else f"tl.cast({args[0]}, {TYPES[p.attr('to')]})"
        case "Max" | "Min":
            return f"{ORDERED[p.op]}({', '.join(args)})"
        case "Mod":
            return _mod(p, args, floating)
        case _:
            raise KeyError(p.op)


def has_form(p: Primitive) -> bool:
    """Whether `elementwise` has a form for `p`."""
    if any(t.dtype not in TYPES for t in (*p.inputs, p.output)):
        return False
    floating = p.inputs[0].dtype in FLOATS
    if p.op in LIBDEVICE or p.op in ("Exp", "Log", "Erf", "Sqrt", "Sin", "Cos", "Floor", "Ceil"):
        return floating
    return p.op in INFIX or p.op in TEMPLATES or p.op in WITH_FORM


def _mod(p: Primitive, args: list[str], floating: bool) -> str:
    a, b = args
    rest = f"libdevice.fmod({a}, {b})" if floating else _integral(a, b, "%")
    if p.attr("fmod") or p.inputs[0].dtype.startswith("u"):
        return rest
    return f"tl.where((({rest}) != 0) & ((({rest}) < 0) != ({b} < 0)), ({rest}) + {b}, {rest})"


def _integral(a: str, b: str, operator: str) -> str:
    """Quotient or remainder of integers toward zero, as Triton and its interpreter have them; by zero they give zero.

    A divisor that is a number keeps its plain form: compared with zero it would lose its dtype.
    """
    if not b.lstrip("-").isdigit():
        return f"tl.where({b} == 0, 0, {a} {operator} tl.where({b} == 0, 1, {b}))"
    return f"{a} {operator} {b}" if int(b) else f"{a} * 0"


def _sign(x: str, dtype: str, floating: bool) -> str:
    """Of floats x itself where it is neither, so that NaN stays."""
    if floating:
        return f"tl.where({x} > 0, 1.0, tl.where({x} < 0, -1.0, {x}))"
    return f"tl.cast(tl.where({x} > 0, 1, 0) - tl.where({x} < 0, 1, 0), {TYPES[dtype]})"
