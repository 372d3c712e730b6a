"""Mean and variance from one pass over the data: norms over images read them from memory once less."""

from __future__ import annotations

from collections.abc import Iterator

from korch.ir.primitive import APPROXIMATE, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space

LEAST = 1 << 21
"""Bytes of x: a pass less saves 8 to 50 us a MB (norms on one thread, 10 to 30% of each); of less, too little for the
choices that come with it."""


@algebra(pays=True, error=APPROXIMATE)
def one_pass_variance(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """mean (x - mean x)^2 = mean x^2 - (mean x)^2, no less than 0; the difference cancels where the mean is large."""
    if p.op == "ReduceMean" and p.inputs[0].nbytes >= LEAST:
        yield from (s.op("Relu", v) for v in second_moment_less_square(s, p))


def second_moment_less_square(s: Space, p: Primitive) -> Iterator[Tensor]:
    """mean x^2 - (mean x)^2 for every x whose variance `p` takes; rounding can leave it below 0. Around another m, as
    that of a group of channels, it is mean x^2 - m (2 mean x - m)."""
    attrs = dict(p.attrs)
    for x, m in dict.fromkeys(_spread(s, p)):
        mean = s.op("ReduceMean", x, **attrs)
        less = s.op("Mul", m, s.op("Sub", s.op("Add", mean, mean), m)) if m else s.op("Mul", mean, mean)
        yield s.op("Sub", s.op("ReduceMean", s.op("Mul", x, x), **attrs), less)


def _spread(s: Space, p: Primitive) -> Iterator[tuple[Tensor, Tensor | None]]:
    """The x, and m, of which `p` is mean((x - m)^2); None where m is x's own mean."""
    exact = p.op == "ReduceMean" and p.inputs[0].dtype in ("float32", "float64")
    squares = s.producers(p.inputs[0]) if exact else ()
    for c in (q.inputs[0] for q in squares if _squares(q)):
        for q in s.producers(c):
            if q.op != "Sub" or q.inputs[0].shape != c.shape:
                continue
            x, m = q.inputs
            if _is_mean(s, m, x, p):
                yield x, None
            elif p.attr("keepdims") and m.shape == p.output.shape:
                yield x, m


def _squares(q: Primitive) -> bool:
    return (q.op == "Mul" and q.inputs[0] == q.inputs[1]) or (q.op == "Pow" and q.inputs[1].value == 2)


def _is_mean(s: Space, m: Tensor, x: Tensor, p: Primitive) -> bool:
    """Whether `m` is the mean of `x` over the axes of `p`, kept."""
    wanted = (x,), (("axes", p.attr("axes")), ("keepdims", 1))
    return any(r.op == "ReduceMean" and (r.inputs, r.attrs) == wanted for r in s.producers(m))
