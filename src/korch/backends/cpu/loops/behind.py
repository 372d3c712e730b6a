"""What follows a matrix product while its sums are in registers: elementwise primitives that vectors of C can spell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from korch.backends.cpu.loops.ctypes import INFIX, literal
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

PICKED = {"Max": ("{0} > {1}", "{0}", "{1}"), "Min": ("{0} < {1}", "{0}", "{1}"), "Relu": ("{0} > 0", "{0}", "{zero}"),
          "LeakyRelu": ("{0} >= 0", "{0}", "{alpha} * {0}")}  # fmt: skip
"""A comparison, and what is taken where it holds and where it does not."""
SPELLED = frozenset({"Add", "Sub", "Mul", "Div", *PICKED})


@dataclass(frozen=True)
class Behind:
    """`primitives` in order, on the result of `product`; `operands` is what they read from memory."""

    product: Tensor
    primitives: tuple[Primitive, ...]
    operands: tuple[Tensor, ...]

    def lines(self, total: str, lanes: int, loaded: dict[Tensor, str], suffix: str) -> tuple[list[str], str]:
        """C statements, and the name of the value that is stored for the vector `total`."""
        names, lines = {self.product: total, **loaded}, list[str]()
        for k, p in enumerate(self.primitives):
            args = [names.get(t) or _everywhere(t, lanes) for t in p.inputs]
            names[p.output] = f"y{k}{suffix}"
            lines.append(f"  const korch_f{lanes} {names[p.output]} = {_expression(p, args, lanes)};")
        return lines, names[self.primitives[-1].output]


def behind_of(cone: Cone, p: Primitive) -> Behind | None:
    """All that follows the product `p` in `cone`; None where there is nothing, or something that vectors cannot say."""
    after = tuple(_after(cone, p))
    made, inside = {q.output for q in after}, {q.output for q in cone.primitives}
    read = dict.fromkeys(t for q in after for t in q.inputs if t not in made and t != p.output and t.value is None)
    plain = all(q.op in SPELLED and q.output.shape == p.output.shape for q in after)
    if not after or after[-1].output != cone.root or not plain or not inside.isdisjoint(read):
        return None
    if any(t.dtype != "float32" for q in after for t in (*q.inputs, q.output)):
        return None
    return Behind(p.output, after, tuple(read))


def _after(cone: Cone, p: Primitive) -> Iterator[Primitive]:
    reached = {p.output}
    for q in cone.primitives:
        if not reached.isdisjoint(q.inputs):
            reached.add(q.output)
            yield q


def _everywhere(t: Tensor, lanes: int) -> str:
    assert t.value is not None, f"{t.name} is not loaded"
    return f"((korch_f{lanes}){{0}} + {literal(t.value, t.dtype)})"


def _expression(p: Primitive, args: list[str], lanes: int) -> str:
    if p.op in INFIX:
        return f"{args[0]} {INFIX[p.op]} {args[1]}"
    alpha = literal(p.attr("alpha"), p.output.dtype) if p.op == "LeakyRelu" else ""
    mask, there, else_ = (part.format(*args, zero=f"(korch_f{lanes}){{0}}", alpha=alpha) for part in PICKED[p.op])
    return f"KORCH_PICK({lanes}, {mask}, {there}, {else_})"
