"""Which primitives, alone or several together, are one elementwise post-op, as oneDNN names them: a table."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, cast

from korch.ir import Primitive, Tensor

Found = dict[str, Any]
"""What a pattern's names stand for: `x` a tensor, captured literals and attributes numbers."""


@dataclass(frozen=True, slots=True)
class Eltwise:
    """oneDNN's post-op `dnnl_eltwise_<alg>` with its two parameters."""

    alg: str
    alpha: float = 0.0
    beta: float = 0.0


EltwiseRule = Callable[[], Eltwise] | Callable[[float], Eltwise | None] | Callable[[float, float], Eltwise | None]


@dataclass(frozen=True)
class Activation:
    """`text` is the primitives as a Python expression: `x` is the running value, other names capture literals.

    `post_op` takes the captured literals and attributes by name; None means that it does not hold for them.
    """

    text: str
    post_op: EltwiseRule

    @cached_property
    def pattern(self) -> ast.expr:
        return _parsed(self.text)

    @cached_property
    def ops(self) -> frozenset[str]:
        """The primitives that it is made of."""
        parts = (node for node in ast.walk(self.pattern) if isinstance(node, ast.BinOp | ast.Call))
        return frozenset(_call(node)[0] for node in parts)


def _fixed(alg: str, alpha: float = 0.0, beta: float = 0.0) -> Callable[[], Eltwise]:
    return lambda: Eltwise(alg, alpha, beta)


def _clip(low: float, high: float) -> Eltwise | None:
    return Eltwise("clip", low, high) if low <= high else None


def _steep(slope: float) -> Eltwise | None:
    return Eltwise("relu", slope) if 0 <= slope <= 1 else None


def _activations(texts: Iterable[str], inner: Iterable[str], post_op: EltwiseRule) -> list[Activation]:
    """One row for each way to write an activation around each way to write its inner function."""
    return [Activation(text.format(f), post_op) for text in texts for f in inner]


_HALVES = ("x * (0.5 * (1 + {}))", "x * (0.5 + 0.5 * {})", "x * 0.5 * (1 + {})", "x * (1 + {}) * 0.5")
_ERF = ("erf(x * 0.70710678)", "erf(x / 1.41421356)")
_TANH = ("tanh((x + x ** 3 * 0.044715) * 0.79788456)", "tanh((x + x * x * x * 0.044715) * 0.79788456)")
GELU = tuple(text.format(f) for text in _HALVES for f in _ERF)
"""Ways to write x (1 + erf(x / sqrt(2))) / 2."""
_SIXTHS = ("x * {} / 6", "x * ({} / 6)", "x * {} * 0.16666667", "x * ({} * 0.16666667)")
_TO_SIX = ("min(max(x + 3, 0), 6)", "max(min(x + 3, 6), 0)")
_TO_ONE = ("min(max(x * a + b, 0), 1)", "max(min(x * a + b, 1), 0)")

ACTIVATIONS: tuple[Activation, ...] = (
    # gates: x times a function of x
    Activation("x * tanh(softplus(x))", _fixed("mish")),
    Activation("x * sigmoid(x)", _fixed("swish", 1.0)),
    Activation("x * sigmoid(x * a)", lambda a: Eltwise("swish", a)),
    *(Activation(text, _fixed("gelu_erf")) for text in GELU),
    *_activations(_HALVES, _TANH, _fixed("gelu_tanh")),
    *_activations(["x * {}"], _TO_ONE, lambda a, b: Eltwise("hardswish", a, b)),
    *_activations(_SIXTHS, _TO_SIX, _fixed("hardswish", 1 / 6, 0.5)),
    # clipping and leaking
    *_activations(["{}"], _TO_ONE, lambda a, b: Eltwise("hardsigmoid", a, b)),
    Activation("min(max(x, low), high)", _clip),
    Activation("max(min(x, high), low)", _clip),
    Activation("where(less(x, 0), (exp(x) - 1) * a, x)", lambda a: Eltwise("elu", a)),
    Activation("where(less(x, 0), exp(x) - 1, x)", _fixed("elu", 1.0)),
    Activation("max(x, x * slope)", _steep),
    Activation("leaky_relu(x)", lambda alpha: Eltwise("relu", alpha)),
    Activation("relu(x)", _fixed("relu")),
    Activation("max(x, 0)", _fixed("relu")),
    Activation("max(x, low)", lambda low: Eltwise("clip", low, math.inf)),
    Activation("min(x, high)", lambda high: Eltwise("clip", -math.inf, high)),
    # smooth ones that are one primitive
    Activation("sigmoid(x)", _fixed("logistic")),
    Activation("tanh(x)", _fixed("tanh")),
    Activation("softplus(x)", _fixed("soft_relu", 1.0)),
    Activation("exp(x)", _fixed("exp")),
    Activation("log(x)", _fixed("log")),
    Activation("sqrt(x)", _fixed("sqrt")),
    Activation("abs(x)", _fixed("abs")),
    Activation("round(x)", _fixed("round")),
    # arithmetic with literals
    Activation("x * x", _fixed("square")),
    Activation("x ** 2", _fixed("square")),
    Activation("x ** 0.5", _fixed("sqrt")),
    Activation("x ** a", lambda a: Eltwise("pow", 1.0, a)),
    Activation("reciprocal(x)", _fixed("pow", 1.0, -1.0)),
    Activation("a / x", lambda a: Eltwise("pow", a, -1.0)),
    Activation("neg(x)", _fixed("linear", -1.0)),
    Activation("x * a + b", lambda a, b: Eltwise("linear", a, b)),
    Activation("x * a - b", lambda a, b: Eltwise("linear", a, -b)),
    Activation("x * a", lambda a: Eltwise("linear", a)),
    Activation("x / a", lambda a: Eltwise("linear", 1 / a) if a else None),
    Activation("x + a", lambda a: Eltwise("linear", 1.0, a)),
    Activation("x - a", lambda a: Eltwise("linear", 1.0, -a)),
    Activation("a - x", lambda a: Eltwise("linear", -1.0, a)),
)

Made = Mapping[Tensor, Primitive]
Maker = Callable[[Tensor], Primitive | None]
"""What computes a tensor, as far as it is of interest."""
_COMMUTE = ("Add", "Mul", "Max", "Min")
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "Add",
    ast.Sub: "Sub",
    ast.Mult: "Mul",
    ast.Div: "Div",
    ast.Pow: "Pow",
}


def activation(t: Tensor, made: Made, carried: frozenset[Tensor]) -> tuple[Eltwise, Tensor] | None:
    """The post-op that computes `t` and the tensor that it is applied to, one of `carried`."""
    ops = {p.op for p in made.values()}
    ops |= {"Max"} if "Relu" in ops else set()
    for row in (row for row in _rows(made[t].op) if row.ops <= ops):
        for found in _match(row.pattern, t, made.get, {}):
            x = found.pop("x")
            post_op = cast("Callable[..., Eltwise | None]", row.post_op)(**found) if x in carried else None
            if post_op is not None:
                return post_op, x
    return None


def operand(text: str, t: Tensor, maker: Maker) -> Tensor | None:
    """The x of which `t` is the function `text`, written as in the table; None where it is another."""
    found = meaning(text, t, maker)
    return found["x"] if found else None


def meaning(text: str, t: Tensor, maker: Maker) -> Found | None:
    """The meanings of the names in `text`, read as `t`; None where `t` is another function."""
    return next(_match(_parsed(text), t, maker, {}), None)


@cache
def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _rows(op: str) -> tuple[Activation, ...]:
    """The rows whose outermost primitive is `op`."""
    if not _BY_OP:
        for row in ACTIVATIONS:
            name = _call(row.pattern)[0]
            _BY_OP[name] = (*_BY_OP.get(name, ()), row)
    return _BY_OP.get(op, ())


_BY_OP: dict[str, tuple[Activation, ...]] = {}


def _call(pattern: ast.expr) -> tuple[str, tuple[ast.expr, ...]]:
    """Primitive name and operands of an operator or call in a pattern."""
    match pattern:
        case ast.BinOp(left, op, right):
            return _OPERATORS[type(op)], (left, right)
        case ast.Call(ast.Name(name), args):
            return name.title().replace("_", ""), tuple(args)
        case _:
            raise ValueError(f"not a pattern: {ast.unparse(pattern)}")


def _match(pattern: ast.expr, t: Tensor, maker: Maker, found: Found) -> Iterator[Found]:
    """Each way to read `t` as `pattern`, as what its names then stand for."""
    match pattern:
        case ast.Constant(float() | int() as number):
            if t.value is not None and math.isclose(t.value, number, rel_tol=1e-6):
                yield found
        case ast.Name("x"):
            if t.value is None and found.get("x", t) == t:
                yield found | {"x": t}
        case ast.Name(name):
            if t.value is not None and found.get(name, t.value) == t.value:
                yield found | {name: float(t.value)}
        case _:
            yield from _match_call(pattern, t, maker, found)


def _match_call(pattern: ast.expr, t: Tensor, maker: Maker, found: Found) -> Iterator[Found]:
    op, wanted = _call(pattern)
    p = maker(t)
    if p is None:
        return
    if p.op == "Relu" and op == "Max":  # relu(x) is max(x, 0)
        yield from _match_each(wanted, (*p.inputs, _ZERO), maker, found)
    if p.op != op or len(p.inputs) != len(wanted):
        return
    for inputs in (p.inputs, p.inputs[::-1]) if op in _COMMUTE else (p.inputs,):
        yield from _match_each(wanted, inputs, maker, found | dict(p.attrs))


_ZERO = Tensor("zero", "float32", (), const=True, value=0.0)


def _match_each(wanted: Sequence[ast.expr], inputs: Sequence[Tensor], maker: Maker, found: Found) -> Iterator[Found]:
    """Each way to read every one of `inputs` as its pattern, under one meaning of the names."""
    if not wanted:
        yield found
        return
    for first in _match(wanted[0], inputs[0], maker, found):
        yield from _match_each(wanted[1:], inputs[1:], maker, first)
