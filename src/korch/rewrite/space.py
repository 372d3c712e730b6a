"""The graph while rules apply to it: equal expressions are one tensor, and equal tensors become one.

This is an e-graph (Nelson 1980, egg 2021) whose classes are tensors: `equal` merges two classes and, by congruence,
what was computed alike from them. Tensors of the graph as given are never merged away.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from korch.ir.builder import nothing_to_do
from korch.ir.constants import Constants
from korch.ir.evaluate import evaluate_primitive, widen
from korch.ir.graph import Graph
from korch.ir.ops.table import Array, op_named
from korch.ir.primitive import REASSOCIATED, Attrs, Primitive, freeze
from korch.ir.ranges import Interval, ranges
from korch.ir.tensor import Tensor
from korch.rewrite.names import names_of, next_name

SMALL = 1 << 18
"""Constants up to this size are remembered unrounded; of larger ones, a copy would cost more than it is worth."""
T = TypeVar("T")
Expression = tuple[str, tuple[Tensor, ...], Attrs]


class Space:
    """`changes` counts what was added or merged; a round of rules that leaves it as it was has found nothing."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.constants = Constants(graph.constants)
        self.primitives: dict[Primitive, None] = {}
        self.changes = 0
        self.written = {*graph.inputs, *graph.producers}
        self._makers: dict[Tensor, dict[Primitive, None]] = {}
        self._readers: dict[Tensor, dict[Primitive, None]] = {}
        self._known: dict[Expression, Tensor] = {}
        self._alias: dict[Tensor, Tensor] = {}
        self._exact: dict[Tensor, Array] = {}
        self._constant_of: dict[tuple[str, tuple[int, ...], bytes], Tensor] = {}
        self._answers: dict[tuple[Callable[[Space, Tensor], Any], Tensor], Any] = {}
        self._unread = _by_kind(graph)
        self._taken = names_of(graph)
        self._stamp = ("", "", REASSOCIATED)
        for p in graph.primitives:
            self._insert(p)

    @cached_property
    def ranges(self) -> Mapping[Tensor, Interval]:
        """The bounds of what the graph as given computes."""
        return ranges(self.graph)

    def producers(self, t: Tensor) -> tuple[Primitive, ...]:
        """All that is known to compute `t`."""
        return tuple(self._makers.get(t, ()))

    def consumers(self, t: Tensor) -> tuple[Primitive, ...]:
        """All that reads `t`."""
        return tuple(self._readers.get(t, ()))

    def once(self, ask: Callable[[Space, Tensor], T], t: Tensor) -> T:
        """What `ask` says of `t` and the graph as given, which do not change: it is computed but once."""
        if (ask, t) not in self._answers:
            self._answers[ask, t] = ask(self, t)
        return self._answers[ask, t]

    @contextmanager
    def stamped(self, rule: str, origin: str, error: str) -> Generator[None]:
        """Inside, what is added says which rule added it, for which operator, at what error."""
        self._stamp, before = (rule, origin, error), self._stamp
        yield
        self._stamp = before

    def op(self, op: str, *inputs: Tensor, **attrs: Any) -> Tensor:
        """The tensor of that value: an operand, a constant, one that there is, or a new one."""
        operands, frozen = tuple(map(self.find, inputs)), freeze(attrs)
        idle = nothing_to_do(op, operands, dict(frozen))
        known = idle or self._known.get((op, operands, frozen))
        if known is not None:
            return self.find(known)
        dtype, shape = op_named(op).infer(operands, dict(frozen))
        if all(t.const for t in operands):
            return self._folded(Primitive(op, operands, Tensor("folded", dtype, tuple(shape)), frozen))
        rule, origin, error = self._stamp
        output = Tensor(self._fresh("other"), dtype, tuple(shape))
        self._insert(Primitive(op, operands, output, frozen, error, origin, rule))
        return output

    def value(self, t: Tensor) -> Array:
        """A constant before it was rounded; integers as they are, as a double does not hold all of them."""
        exact = self._exact.get(t)
        return widen(self.constants[t.name]) if exact is None else exact

    def constant(self, exact: Array, dtype: str) -> Tensor:
        """The constant of that value, rounded; equal ones are shared."""
        rounded = np.array(exact, dtype, order="C")
        for t in self._unread.pop((dtype, rounded.shape), ()):
            self._constant_of.setdefault(_content(self.constants[t.name]), t)
        key = _content(rounded)
        if key not in self._constant_of:
            literal = rounded.item() if rounded.size == 1 else None
            t = Tensor(self._fresh("folded"), dtype, rounded.shape, True, literal)
            self.constants[t.name] = rounded
            if exact.size <= SMALL:
                self._exact[t] = exact
            self._constant_of[key] = t
        return self._constant_of[key]

    def equal(self, t: Tensor, other: Tensor) -> None:
        """Takes note that two tensors have the same value."""
        pending = [(t, other)]
        while pending:
            kept, gone = map(self.find, pending.pop())
            if (kept.dtype, kept.shape) != (gone.dtype, gone.shape):
                raise ValueError(f"rule {self._stamp[0]!r} says that {kept} equals {gone}")
            if gone in self.written:
                kept, gone = gone, kept
            if kept != gone and gone not in self.written:
                pending += self._merge(kept, gone)

    def find(self, t: Tensor) -> Tensor:
        """The tensor that stands for all equal to `t`."""
        while t in self._alias:
            t = self._alias[t]
        return t

    def _merge(self, kept: Tensor, gone: Tensor) -> list[tuple[Tensor, Tensor]]:
        self._alias[gone] = kept
        self.changes += 1
        touched = dict.fromkeys((*self.producers(gone), *self.consumers(gone)))
        for p in touched:
            self._remove(p)
        return [pair for p in touched for pair in self._insert(p)]

    def _insert(self, p: Primitive) -> list[tuple[Tensor, Tensor]]:
        """Adds `p`; gives the pairs of tensors that turn out equal as they are computed alike."""
        p = replace(p, inputs=tuple(map(self.find, p.inputs)), output=self.find(p.output))
        if p.output in p.inputs:  # as of a sum with zeros: what is asked for again is there
            self._known.setdefault((p.op, p.inputs, p.attrs), p.output)
        if p in self.primitives or p.output in p.inputs:
            return []
        self.changes += 1
        self.primitives[p] = None
        self._makers.setdefault(p.output, {})[p] = None
        for t in p.inputs:
            self._readers.setdefault(t, {})[p] = None
        known = self.find(self._known.setdefault((p.op, p.inputs, p.attrs), p.output))
        return [(known, p.output)] if known != p.output and not {known, p.output} <= self.written else []

    def _remove(self, p: Primitive) -> None:
        self.primitives.pop(p, None)
        self._makers[p.output].pop(p, None)
        for t in p.inputs:
            self._readers[t].pop(p, None)

    def _folded(self, p: Primitive) -> Tensor:
        """Floats in float64."""
        value = evaluate_primitive(p, [self.value(t) for t in p.inputs])
        made = self.constant(value, p.output.dtype)
        self._known[(p.op, p.inputs, p.attrs)] = made
        return made

    def _fresh(self, stem: str) -> str:
        return next_name(stem, self._taken)


def _by_kind(graph: Graph) -> dict[tuple[str, tuple[int, ...]], list[Tensor]]:
    """The graph's constants by dtype and shape."""
    result: dict[tuple[str, tuple[int, ...]], list[Tensor]] = {}
    for t in dict.fromkeys(t for p in graph.primitives for t in p.inputs if t.const):
        result.setdefault((t.dtype, t.shape), []).append(t)
    return result


def _content(x: Array) -> tuple[str, tuple[int, ...], bytes]:
    return x.dtype.name, x.shape, hashlib.sha1(np.ascontiguousarray(x).data).digest()
