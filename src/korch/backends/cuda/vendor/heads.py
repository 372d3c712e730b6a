"""softmax(scale * Q K^T + mask) V, found in a cone by its structure, through transposes and reshapes.

The matrix of scores, from the product that makes it to the one that reads it, is followed as a view of the former's
result: whatever is transposed or reshaped in between, its strides say which axis are queries and which are keys.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from korch.backends.contract import Refusal
from korch.backends.linear.pattern import view_of
from korch.backends.linear.views import OUT, Shape, View, inverse, row_major
from korch.ir import Cone, Primitive, Tensor


@dataclass(frozen=True, slots=True)
class Attention:
    """`out` = softmax(scale * q k^T + mask) v, all [N, heads, length, size]; the mask is [N, heads, queries, keys]."""

    q: View
    k: View
    v: View
    out: View
    mask: View | None
    scale: float

    @property
    def views(self) -> tuple[View, ...]:
        return (self.q, self.k, self.v, self.out, *([self.mask] if self.mask else []))


def find_attention(cone: Cone) -> Attention | Refusal:
    """The attention that `cone`, which has two matrix products, is; or why it is none."""
    try:
        _check(cone)
        return _Search(cone).attention()
    except _NoMatch as reason:
        return Refusal(str(reason))


class _NoMatch(Exception):
    """The cone is no attention; the text is the reason."""


def _check(cone: Cone) -> None:
    if all(p.op != "Exp" for p in cone.primitives):
        raise _NoMatch("has two matrix products and no softmax between them")
    for t in (*cone.leaves, *(p.output for p in cone.primitives)):
        if t.dtype != "float32" or not t.size:
            raise _NoMatch(f"{t} is empty or no float32; fused attention takes float32")


@dataclass(frozen=True, slots=True)
class _Scores:
    """A tensor made of the scores, as a view of them; `keys`: (length, stride) of the axis that softmax went along."""

    view: View
    scale: float = 1.0
    mask: View | None = None
    keys: tuple[int, int] = (0, 0)


class _Search:
    def __init__(self, cone: Cone) -> None:
        self.made = cone.makers
        self.root = cone.root
        self.leaf = {t: i for i, t in enumerate(cone.leaves)}
        self.first, self.last = cone.linear
        self.scored = _depending(cone, self.first.output)

    def attention(self) -> Attention:
        out, total = self._output()
        side = 0 if self.last.inputs[0] in self.scored else 1
        shares, values = self.last.inputs[side], self.last.inputs[1 - side]
        scores = self._deferred(shares, total, side) if total else self._shares(shares)
        v, factor = self._operand(values)
        if factor != 1.0:
            raise _NoMatch("the values are scaled")
        if side:  # out^T = V^T P^T
            scores, v, out = _moved(scores, _swapped), _swapped(v), _swapped(out)
        return self._joined(scores, v, out)

    def _output(self) -> tuple[View, Tensor | None]:
        """The output in the shape of the second product, and the sums by which it is divided after that, if it is."""
        t, out = self.root, View.dense(OUT, self.root.shape)
        while self._maker(t).spec.rearranges:
            p = self._maker(t)
            back = out.transpose(inverse(p.attr("perm"))) if p.spec.permutes else out.reshape(p.inputs[0].shape)
            out, t = _existing(back), p.inputs[0]
        p = self._maker(t)
        if p == self.last:
            return out, None
        if p.op != "Div" or p.inputs[0] != self.last.output or p.output.shape != self.last.output.shape:
            raise _NoMatch(f"a fused attention does not end in {p}")
        return out, p.inputs[1]

    # From the second product back to the first --------------------------------------------------------------------

    def _shares(self, t: Tensor) -> _Scores:
        """`t`, which is the softmax of the scores, seen through views."""
        p = self._maker(t)
        if p.spec.rearranges:
            return _moved(self._shares(p.inputs[0]), lambda v: view_of(p, v))
        if p.op != "Div":
            raise _NoMatch(f"{p} is no softmax")
        return self._softmax(*p.inputs)[0]

    def _deferred(self, e: Tensor, total: Tensor, side: int) -> _Scores:
        """exp(scores), which the second product sums by weight before they are divided by their `total`."""
        scores, axis = self._softmax(e, total)
        if axis != e.rank - 1 - side:
            raise _NoMatch("what is divided after the second product are not the sums of its shares")
        return scores

    def _softmax(self, e: Tensor, total: Tensor) -> tuple[_Scores, int]:
        """The scores whose exponentials `e`, shifted or not, `total` adds up; and the axis along which it does."""
        axis, p = self._reduced("ReduceSum", total, e), self._maker(e)
        if p.op != "Exp":
            raise _NoMatch(f"{p} is no softmax")
        x = p.inputs[0]
        if x in self.made and self.made[x].op == "Sub":
            x, top = self.made[x].inputs
            if self._reduced("ReduceMax", top, x) != axis:
                raise _NoMatch("a softmax is shifted along one axis and summed along another")
        scores = self._scores(x)
        return replace(scores, keys=(x.shape[axis], scores.view.strides[axis])), axis

    def _reduced(self, op: str, t: Tensor, x: Tensor) -> int:
        """The axis of `x` that `t` is the `op` of."""
        p = self._maker(t)
        if p.op != op or p.inputs[0] != x or len(p.attr("axes")) != 1 or not p.attr("keepdims"):
            raise _NoMatch(f"{p} is not the {op} along one axis that a softmax needs")
        return p.attr("axes")[0] % x.rank

    def _scores(self, t: Tensor) -> _Scores:
        """`t`, which is the first product, scaled, then masked, seen through views."""
        if t == self.first.output:
            return _Scores(View.dense(0, t.shape))
        p = self._maker(t)
        if p.spec.rearranges:
            return _moved(self._scores(p.inputs[0]), lambda v: view_of(p, v))
        if p.op not in ("Mul", "Div", "Add") or p.output.shape not in (t.shape for t in p.inputs):
            raise _NoMatch(f"{p} is neither a scale nor a mask of scores")
        x, other = p.inputs if p.inputs[0] in self.scored else p.inputs[::-1]
        scores = self._scores(x)
        if scores.mask or x.shape != p.output.shape:
            raise _NoMatch(f"{p} comes after a mask, or broadcasts the scores")
        if p.op == "Add":
            mask, factor = self._operand(other)
            return replace(scores, mask=_unscaled(mask, factor).broadcast(p.output.shape))
        return replace(scores, scale=scores.scale * _number(p, other))

    # Operands -----------------------------------------------------------------------------------------------------

    def _operand(self, t: Tensor) -> tuple[View, float]:
        """`t` as a view of a leaf, and by what it is multiplied."""
        if t in self.leaf:
            return View.dense(self.leaf[t], t.shape), 1.0
        p = self._maker(t)
        if p.op in ("Mul", "Div"):
            x, other = p.inputs if p.op == "Div" or p.inputs[1].value is not None else p.inputs[::-1]
            view, factor = self._operand(x)
            if x.shape != t.shape:
                raise _NoMatch(f"{p} broadcasts an operand of attention")
            return view, factor * _number(p, other)
        view, factor = self._operand(p.inputs[0])
        return _existing(view_of(p, view)), factor

    def _maker(self, t: Tensor) -> Primitive:
        if t not in self.made:
            raise _NoMatch(f"{t.name} is read where attention has computed values")
        return self.made[t]

    # All together -------------------------------------------------------------------------------------------------

    def _joined(self, s: _Scores, v: View, out: View) -> Attention:
        """Everything in the batches of the second product, as [N, heads, ...]."""
        batch, own = self.last.output.shape[:-2], self.first.output.shape[:-2]
        (q, by_q), (k, by_k) = (self._operand(t) for t in self.first.inputs)
        k, (rows, columns) = _swapped(k), self.first.output.shape[-2:]
        order = (columns, 1)
        if s.keys != (columns, 1):
            q, k, rows, columns, order = k, q, columns, rows, (1, columns)
        expected = View(0, (*batch, rows, columns), (*(n * rows * columns for n in row_major(batch)), *order))
        if s.keys != (columns, order[1]) or not _is_same(s.view, expected):
            raise _NoMatch(f"between the products the scores {list(s.view.shape)} are laid out in another order")
        q, k = (_existing(x.broadcast((*own, *x.shape[-2:])).reshape((*batch, *x.shape[-2:]))) for x in (q, k))
        v = v.broadcast((*batch, *v.shape[-2:]))
        mask = _four(s.mask) if s.mask else None
        return Attention(_four(q), _four(k), _four(v), _four(out), mask, s.scale * by_q * by_k)


def _depending(cone: Cone, t: Tensor) -> frozenset[Tensor]:
    found = {t}
    for p in cone.primitives:
        if not found.isdisjoint(p.inputs):
            found.add(p.output)
    return frozenset(found)


def _moved(s: _Scores, move: Callable[[View], View | None]) -> _Scores:
    """The scores with their view and mask looked at otherwise."""
    return replace(s, view=_existing(move(s.view)), mask=_existing(move(s.mask)) if s.mask else None)


def _existing(view: View | None) -> View:
    if view is None:
        raise _NoMatch("an operand of attention is no strided view")
    return view


def _unscaled(view: View, factor: float) -> View:
    if factor != 1.0:
        raise _NoMatch("the mask is scaled")
    return view


def _number(p: Primitive, t: Tensor) -> float:
    """What `p` multiplies by: the literal `t`, or one over it."""
    if t.value is None or (t == p.inputs[0] and p.op == "Div") or (not t.value and p.op == "Div"):
        raise _NoMatch(f"{p} is no scale by a number")
    return 1.0 / t.value if p.op == "Div" else float(t.value)


def _swapped(v: View) -> View:
    rank = len(v.shape)
    return v.transpose((*range(rank - 2), rank - 1, rank - 2))


def _is_same(a: View, b: View) -> bool:
    """Whether both show the same elements in one order."""
    return a.shape == b.shape and all(n == 1 or s == t for n, s, t in zip(a.shape, a.strides, b.strides, strict=True))


def _four(v: View) -> View:
    """[batch..., length, size] with two batch axes."""
    batch, matrix = v.shape[:-2], v.shape[-2:]
    wanted: Shape = (math.prod(batch[:-1]), batch[-1]) if batch else (1, 1)
    return _existing(v.reshape((*wanted, *matrix)))
