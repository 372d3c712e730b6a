"""Terms over matrices: their text, their shapes, the primitives they are, and laws between them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from korch.ir.ops.table import op_named
from korch.ir.primitive import Primitive, freeze
from korch.ir.tensor import Tensor

MatrixShape = tuple[int, int]
ShapeRule = Callable[[MatrixShape], MatrixShape | None] | Callable[[MatrixShape, MatrixShape], MatrixShape | None]
"""The shape of a result; None where the operands do not fit."""
Term = Any
"""The name of a leaf, or (operator, term, ...)."""


@dataclass(frozen=True)
class Operator:
    """An operator on matrices, and the primitive that it is on the last two axes of tensors."""

    name: str
    primitive: str
    shape: ShapeRule
    attrs: Callable[[tuple[int, ...]], dict[str, Any]] = lambda x: {}
    text: str = ""
    binding: int = 5
    """How tightly the text binds: 1 for sums, 3 for products, 5 for calls."""
    of_constants: bool = False
    """Whether it is of interest for terms without variables."""

    @property
    def arity(self) -> int:
        return self.shape.__code__.co_argcount

    def on(self, inputs: tuple[Tensor, ...], name: str) -> Primitive:
        """The primitive that computes the tensor `name`; matrices are on the inputs' last two axes."""
        attrs = self.attrs(inputs[0].shape)
        output = Tensor(name, *op_named(self.primitive).infer(inputs, attrs))
        return Primitive(self.primitive, inputs, output, freeze(attrs))


def _as_wide(x: MatrixShape, y: MatrixShape) -> MatrixShape | None:
    """Elementwise: y may be broadcast to x."""
    return x if all(n in (1, m) for m, n in zip(x, y, strict=True)) else None


def _stack(x: MatrixShape, y: MatrixShape) -> bool:
    """Two matrices are enough to show the laws of stacking; columns and numbers show no others."""
    return x == y and min(x) > 1


def _turned(x: tuple[int, ...]) -> dict[str, Any]:
    k = len(x)
    return {"perm": (*range(k - 2), k - 1, k - 2)}


def _half(x: tuple[int, ...]) -> dict[str, Any]:
    return {"starts": (0,) * len(x), "steps": (1,) * len(x), "lengths": (*x[:-1], x[-1] // 2)}


OPERATORS: Mapping[str, Operator] = {
    o.name: o
    for o in (
        Operator("T", "Transpose", lambda x: (x[1], x[0]) if x != (1, 1) else None, _turned, "{}.T", of_constants=True),
        Operator(
            "sum",
            "ReduceSum",
            lambda x: (x[0], 1) if x[1] > 1 else None,
            lambda x: {"axes": (len(x) - 1,), "keepdims": 1},
        ),
        Operator("left", "Slice", lambda x: (x[0], x[1] // 2) if x[1] % 2 == 0 else None, _half),
        Operator("relu", "Relu", lambda x: x),
        Operator("exp", "Exp", lambda x: x),
        Operator(
            "matmul",
            "MatMul",
            lambda x, y: (x[0], y[1]) if x[1] == y[0] and (1, 1) not in (x, y) else None,
            text="{} @ {}",
            binding=3,
            of_constants=True,
        ),
        Operator("add", "Add", _as_wide, text="{} + {}", binding=1),
        Operator("mul", "Mul", _as_wide, text="{} * {}", binding=3),
        Operator("div", "Div", _as_wide, text="{} / {}", binding=3),
        Operator(
            "hstack",
            "Concat",
            lambda x, y: (x[0], x[1] + y[1]) if _stack(x, y) else None,
            lambda x: {"axis": len(x) - 1},
        ),
        Operator(
            "vstack",
            "Concat",
            lambda x, y: (x[0] + y[0], x[1]) if _stack(x, y) else None,
            lambda x: {"axis": len(x) - 2},
        ),
    )
}
"""Sums are along rows; `left` is the left half of the columns."""

COMMUTATIVE = ("add", "mul")
"""What the enumeration finds at size 1, as `commutes` in enumerate.py; matching knows it from the start."""
MATRICES, COLUMNS = ("A", "B", "C", "D"), ("v", "w")
LEAVES = (*MATRICES, *COLUMNS, "s", "ones")
"""Matrices, columns, a number, and the column of ones; all but the last stand for any value."""


def leaf_shapes(side: int) -> dict[str, MatrixShape]:
    """All matrices square."""
    return {x: (1 if x == "s" else side, side if x in MATRICES else 1) for x in LEAVES}


def size(t: Term) -> int:
    """The number of primitives."""
    return 0 if isinstance(t, str) else 1 + sum(map(size, t[1:]))


def leaves(t: Term) -> Iterator[str]:
    """The leaves from left to right, each as often as it occurs."""
    if isinstance(t, str):
        yield t
    else:
        for x in t[1:]:
            yield from leaves(x)


def shape_of(t: Term, shapes: Mapping[str, MatrixShape]) -> MatrixShape | None:
    """The shape of a term; None where its parts do not fit."""
    if isinstance(t, str):
        return shapes[t]
    parts = [s for x in t[1:] if (s := shape_of(x, shapes)) is not None]
    return OPERATORS[t[0]].shape(*parts) if len(parts) == len(t) - 1 else None


def substitute(t: Term, values: Mapping[str, Term]) -> Term:
    if isinstance(t, str):
        return values.get(t, t)
    return (t[0], *(substitute(x, values) for x in t[1:]))


@lru_cache(maxsize=1 << 18)
def text(t: Term, within: int = 0) -> str:
    """`(A @ B).T + relu(C)`; brackets wherever products meet, and around sums on the right of sums."""
    if isinstance(t, str):
        return t
    o = OPERATORS[t[0]]
    if not o.text:
        return f"{o.name}({', '.join(text(x) for x in t[1:])})"
    inner = (o.binding, o.binding + 1) if o.binding == 1 else (o.binding + 1,) * 2 if o.arity == 2 else (o.binding,)
    written = o.text.format(*(text(x, bound) for x, bound in zip(t[1:], inner, strict=True)))
    return f"({written})" if o.binding < within else written


_SIGNS: dict[type[ast.operator], str] = {ast.MatMult: "matmul", ast.Add: "add", ast.Mult: "mul", ast.Div: "div"}


def parse(source: str) -> Term:
    """The term that `text` writes."""
    return _of(ast.parse(source, mode="eval").body)


def _of(node: ast.expr) -> Term:
    match node:
        case ast.Name(name) if name in LEAVES:
            return name
        case ast.BinOp(left, sign, right) if type(sign) in _SIGNS:
            return (_SIGNS[type(sign)], _of(left), _of(right))
        case ast.Attribute(inner, "T"):
            return ("T", _of(inner))
        case ast.Call(ast.Name(name), operands) if name in OPERATORS and OPERATORS[name].arity == len(operands):
            return (name, *map(_of, operands))
        case _:
            raise ValueError(f"{ast.unparse(node)} is no term over {', '.join(LEAVES)}")


@dataclass(frozen=True)
class Law:
    """Two terms that are equal whatever the leaves are."""

    left: Term
    right: Term

    @property
    def size(self) -> tuple[int, int]:
        """The primitives of the larger side, and of the other."""
        sizes = sorted((size(self.left), size(self.right)))
        return sizes[1], sizes[0]

    def canonical(self) -> Law:
        """The same law for all names of the matrices, and the larger side left."""
        ways = [
            Law(*(substitute(side, _names(pair)) for side in pair))
            for pair in ((self.left, self.right), (self.right, self.left))
        ]
        return min(ways, key=lambda law: (-size(law.left), -len(text(law.left)), str(law)))

    def __str__(self) -> str:
        return f"{text(self.left)} = {text(self.right)}"


def _names(sides: tuple[Term, Term]) -> dict[str, str]:
    """Matrices in the order in which they appear -> A, B, C, D; columns -> v, w."""
    seen = dict.fromkeys(x for side in sides for x in leaves(side))
    return {x: name for kind in (MATRICES, COLUMNS) for x, name in zip((x for x in seen if x in kind), kind)}


def parse_law(source: str) -> Law:
    """The law that `str(law)` writes."""
    left, _, right = source.partition(" = ")
    return Law(parse(left), parse(right))
