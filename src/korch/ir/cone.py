"""A cone: a root tensor, its leaves, and the primitives that compute the one from the others."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from math import prod

from korch.ir.ops.table import Category, Op, is_view
from korch.ir.primitive import Primitive, show
from korch.ir.tensor import Tensor, type_text


@dataclass(frozen=True)
class Cone:
    """A candidate kernel before code exists.

    `primitives` are in topological order, one for each interior tensor; the last computes `root`. `leaves` are
    what they read from outside, constants included, in the order of first use.
    """

    root: Tensor
    leaves: tuple[Tensor, ...]
    primitives: tuple[Primitive, ...]

    @staticmethod
    def of(primitives: Iterable[Primitive]) -> Cone:
        """The cone of `primitives`, given in topological order.

        >>> from korch.ir import Builder
        >>> b = Builder()
        >>> x, w = b.input("x", "float32", (4, 8)), b.input("w", "float32", (8, 2))
        >>> cone = Cone.of(b.graph([("y", b.op("Relu", x @ w))]).primitives)
        >>> cone.root.shape, [t.name for t in cone.leaves], [p.op for p in cone.linear]
        ((4, 2), ['x', 'w'], ['MatMul'])
        """
        members = tuple(primitives)
        made = {p.output for p in members}
        leaves = dict.fromkeys(t for p in members for t in p.inputs if t not in made)
        return Cone(members[-1].output, tuple(leaves), members)

    @cached_property
    def makers(self) -> dict[Tensor, Primitive]:
        """Who computes each interior tensor."""
        return {p.output: p for p in self.primitives}

    def behind_views(self, t: Tensor, seen_through: Callable[[Op], bool] = is_view) -> Tensor:
        """The interior tensor or leaf that `t` is a view of, through all views or those of some kind."""
        while t in self.makers and seen_through(self.makers[t].spec):
            t = self.makers[t].inputs[0]
        return t

    def part(self, t: Tensor) -> Cone:
        """The cone of the interior tensor `t`, with all of the leaves."""
        needed = {t}
        for p in reversed(self.primitives):
            if p.output in needed:
                needed.update(p.inputs)
        return Cone(t, self.leaves, tuple(p for p in self.primitives if p.output in needed))

    @cached_property
    def linear(self) -> tuple[Primitive, ...]:
        """The compute-intensive primitives inside."""
        return tuple(p for p in self.primitives if p.intensive)

    @cached_property
    def signature(self) -> str:
        """Equal for cones that may share a build and a measurement: everything but names."""
        number = {t: i for i, t in enumerate((*self.leaves, *(p.output for p in self.primitives)))}
        kind = _flat_type if self._is_flat else type_text
        lines = [_leaf_text(t, kind) for t in self.leaves]
        for p in self.primitives:
            args = ",".join(str(number[t]) for t in p.inputs)
            attrs = ",".join(f"{k}={_attr_text(v)}" for k, v in p.attrs)
            lines.append(f"{p.op}({args}){{{attrs}}}{kind(p.output.dtype, p.output.shape)}")
        return ";".join(lines)

    @property
    def _is_flat(self) -> bool:
        """Whether only the number of elements matters: elementwise, every tensor of the root's shape or a number."""
        tensors = (*self.leaves, *(p.output for p in self.primitives))
        return all(p.category is Category.ELEMENTWISE for p in self.primitives) and all(
            t.shape == self.root.shape or t.value is not None for t in tensors
        )

    @property
    def key(self) -> str:
        """A digest of the signature."""
        return hashlib.sha256(self.signature.encode()).hexdigest()[:24]

    def __str__(self) -> str:
        return show(self.primitives)


def _leaf_text(t: Tensor, kind: Callable[[str, tuple[int, ...]], str]) -> str:
    if t.value is not None:
        return (
            f"{t.dtype}={t.value!r}" if t.rank == 0 or kind is _flat_type else f"{kind(t.dtype, t.shape)}={t.value!r}"
        )
    return f"{'const ' if t.const else ''}{kind(t.dtype, t.shape)}"


def _flat_type(dtype: str, shape: tuple[int, ...]) -> str:
    return type_text(dtype, (prod(shape),))


def _attr_text(value: object) -> str:
    if isinstance(value, bytes):
        return hashlib.sha256(value).hexdigest()[:16]
    text = repr(value)
    return text if len(text) < 200 else hashlib.sha256(text.encode()).hexdigest()[:16]
