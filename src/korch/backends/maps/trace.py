"""Pulls the value of a tensor at symbolic indices through a cone, down to loads, as straight-line code of any language.

Elementwise primitives become expressions, layout primitives become index arithmetic. What stands in the way of
good loops is recorded on the way: axes to split (reshapes), positions to break loops at (pads, concats, windows).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar, Protocol

from korch.backends.maps.index import Clamp, Div, Fetched, Index, Lookup, Mod, Var, flat, unflat
from korch.ir.ops import unpack
from korch.ir.ops.table import Category, Element
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

Indices = tuple[Index, ...]


@dataclass(frozen=True)
class Load:
    """One read: of which tensor, at which flat position of its `array`."""

    tensor: Tensor
    array: str
    at: Index


@dataclass(frozen=True)
class Definition:
    """The `statement` that gives a variable its value, and the variables that this is made of."""

    variable: str
    statement: str
    uses: frozenset[str]


Maker = Callable[[Tensor], Primitive | None]
"""What makes a tensor, where that is known."""


@dataclass(frozen=True)
class Fused:
    """Primitives that are one function of `source`, with some literals as `arguments` behind it. `divides`: it takes a
    quotient."""

    function: str
    source: Tensor
    members: tuple[Primitive, ...]
    arguments: tuple[str, ...] = ()
    divides: bool = True


@dataclass
class Requests:
    """What tracing found that other loops would serve better."""

    splits: dict[str, int] = field(default_factory=dict[str, int])
    breaks: dict[str, set[int]] = field(default_factory=dict[str, set[int]])

    def split(self, e: Index, by: int) -> None:
        """Asks for the one variable inside `e` to be split, where that resolves a division by `by`."""
        if not e.affine or len(e.terms) != 1 or e.const:
            return
        ((atom, k),) = e.terms
        if not isinstance(atom, Var) or atom.lo or by % k:
            return
        part = by // k
        if 1 < part < atom.hi and atom.hi % part == 0:
            self.splits.setdefault(atom.name, part)

    def break_at(self, e: Index, bound: int) -> None:
        """Asks for the loop of the one variable inside `e` to be broken where e reaches `bound`."""
        if e.affine and len(e.terms) == 1:
            ((atom, k),) = e.terms
            if isinstance(atom, Var) and k:
                at = -((e.const - bound) // k) if k > 0 else (e.const - bound) // -k + 1
                if atom.lo < at < atom.hi:
                    self.breaks.setdefault(atom.name, set()).add(at)


class Language(Protocol):
    """How a trace is written for a target. Expressions are texts; an operand is evaluated once."""

    def declared(self, name: str, dtype: str, expression: str) -> str:
        """The statement that gives an expression a name."""
        ...

    def literal(self, value: float | int | bool, dtype: str) -> str: ...

    def load(self, t: Tensor, array: str, at: Index) -> str:
        """The element of `t` at the flat position `at` of `array`."""
        ...

    def entry(self, table: tuple[float, ...], at: Index) -> str:
        """The entry `at` of a constant table."""
        ...

    def elementwise(self, p: Primitive, args: list[str]) -> str: ...

    def together(self, p: Primitive, maker: Maker, known: Maker) -> Fused | None:
        """The function for `p` and what makes its operands in one; None where there is none. `maker` knows what is
        computed on the way, `known` also what has been stored."""
        ...

    def below(self, e: Index, bound: int) -> str:
        """Whether e < bound."""
        ...

    def reaches(self, e: Index, bound: int) -> str:
        """Whether e >= bound."""
        ...

    def any_of(self, conditions: Sequence[str]) -> str: ...

    def chosen(self, condition: str, yes: str, no: str) -> str: ...

    def wrapped(self, value: str, length: int) -> str:
        """A position that counts from the end where it is negative."""
        ...

    def clamped(self, value: str, last: int) -> str:
        """A position forced into 0..last."""
        ...


ReadStage = Callable[[Tensor, Indices], tuple[str, Index]]


class Trace:
    """The statements of one innermost loop body.

    `arrays` names the array of each leaf; `stage(t, idx)` gives array and position where `t` has been stored by
    an earlier stage. Names of variables begin with the `stem`. `definitions` are the `lines` with what they define.
    """

    def __init__(
        self,
        makers: Mapping[Tensor, Primitive],
        arrays: Mapping[Tensor, str],
        stored: Mapping[Tensor, ReadStage],
        requests: Requests,
        language: Language,
        stem: str = "v",
    ) -> None:
        self.makers = makers
        self.arrays = arrays
        self.stored = stored
        self.requests = requests
        self.language = language
        self.stem = stem
        self.lines: list[str] = []
        self.definitions: list[Definition] = []
        self.loads: list[Load] = []
        self.reads: list[tuple[Tensor, Indices]] = []
        self.indices: list[Index] = []
        self._memo: dict[tuple[Tensor, Indices], str] = {}
        self._fetched: dict[tuple[Tensor, Indices, int], Index] = {}

    def value(self, t: Tensor, idx: Indices) -> str:
        """The name of t[idx]."""
        if t.value is not None and t not in self.makers:
            return self.language.literal(t.value, t.dtype)
        key = (t, idx)
        if key not in self._memo:
            self._memo[key] = self._compute(t, idx)
        return self._memo[key]

    def name(self, expression: str, dtype: str, *operands: str | Index) -> str:
        """A new variable that holds `expression`, which is made of the `operands`: variables and indices."""
        variable = f"{self.stem}{len(self.lines)}"
        self.lines.append(self.language.declared(variable, dtype, expression))
        uses = (o.names() if isinstance(o, Index) else (o,) for o in operands)
        self.definitions.append(Definition(variable, self.lines[-1], frozenset(chain.from_iterable(uses))))
        return variable

    def _compute(self, t: Tensor, idx: Indices) -> str:
        if t in self.stored:
            self.reads.append((t, idx))
            array, at = self.stored[t](t, idx)
            return self._load(t, array, at)
        if t in self.arrays:
            return self._load(t, self.arrays[t], flat(idx, t.shape))
        return self.through(self.makers[t], idx)

    def _load(self, t: Tensor, array: str, at: Index) -> str:
        self.loads.append(Load(t, array, at))
        self.indices.append(at)
        self._split(at)
        return self.name(self.language.load(t, array, at), t.dtype, at)

    def through(self, p: Primitive, idx: Indices) -> str:
        """The value that `p` gives at `idx`."""
        if p.spec.source:
            return self._element(p, p.spec.source(p, idx))
        return self.FORMS.get(p.op, Trace._elementwise)(self, p, idx)

    def _element(self, p: Primitive, e: Element[Index]) -> str:
        """An element of the input; where it may be none, a choice between a clamped load and the number instead."""
        outside: list[str] = []
        for i in e.inside:
            lo, hi = i.range()
            if hi < 0:
                return self.name(self.language.literal(e.fill, p.output.dtype), p.output.dtype)
            if lo < 0:
                self._split(i)
                self.requests.break_at(i, 0)
                outside.append(self.language.below(i, 0))
        x = p.inputs[0]
        if not outside:
            return self.value(x, e.at)
        v = self.value(x, tuple(self._inside(i, n) for i, n in zip(e.at, x.shape, strict=True)))
        fill = self.language.literal(e.fill, p.output.dtype)
        return self.name(self.language.chosen(self.language.any_of(outside), fill, v), p.output.dtype)

    def _reshape(self, p: Primitive, idx: Indices) -> str:
        return self.value(p.inputs[0], self._reshaped(p, idx))

    def _gather(self, p: Primitive, idx: Indices) -> str:
        axis: int = p.attr("axis")
        return self.value(p.inputs[0], (*idx[:axis], lookup(p.attr("indices"), idx[axis]), *idx[axis + 1 :]))

    def _elementwise(self, p: Primitive, idx: Indices) -> str:
        if fused := self.language.together(p, self._maker, self.makers.get):
            value = self.value(fused.source, broadcast(idx, fused.source))
            call = f"{fused.function}({', '.join((value, *fused.arguments))})"
            return self.name(call, p.output.dtype, value)
        args = [self.value(t, broadcast(idx, t)) for t in p.inputs]
        return self.name(self.language.elementwise(p, args), p.output.dtype, *args)

    def _maker(self, t: Tensor) -> Primitive | None:
        """What computes `t` here, where it has not been stored."""
        return None if t in self.stored else self.makers.get(t)

    def _reshaped(self, p: Primitive, idx: Indices) -> Indices:
        position = flat(idx, p.output.shape)
        result = unflat(position, p.inputs[0].shape)
        for e in result:
            self._split(e)
        return result

    def _split(self, e: Index) -> None:
        """Asks for loops in which the divisions of `e` resolve."""
        for atom in e.atoms():
            if isinstance(atom, Div | Mod):
                self.requests.split(atom.of, atom.by)

    def _take(self, p: Primitive, idx: Indices) -> str:
        x, indices = p.inputs
        axis: int = p.attr("axis")
        batch: int = p.attr("batch")
        after = axis + indices.rank - batch
        at = self._position(indices, (*idx[:batch], *idx[axis:after]), x.shape[axis])
        return self.value(x, (*idx[:axis], at, *idx[after:]))

    def _position(self, t: Tensor, idx: Indices, n: int) -> Index:
        """Where the index t[idx] points on an axis of length n; inside of it, whatever the index (see `bounds`)."""
        key = (t, idx, n)
        if key not in self._fetched:
            v = self.value(t, idx)
            wrapped = self.name(self.language.wrapped(v, n), t.dtype, v)
            inside = self.name(self.language.clamped(wrapped, n - 1), "int32", wrapped)
            self._fetched[key] = Index.of(Fetched(inside, flat(idx, t.shape), n))
        return self._fetched[key]

    def _concat(self, p: Primitive, idx: Indices) -> str:
        """The part that holds the position; where that is not known, a choice between clamped loads."""
        axis: int = p.attr("axis")
        start, e = 0, idx[axis]
        lo, hi = e.range()
        result = ""
        for t in p.inputs:
            end = start + t.shape[axis]
            if start <= hi and lo < end and end > start:
                own = self._inside(e - start, t.shape[axis])
                v = self.value(t, (*idx[:axis], own, *idx[axis + 1 :]))
                if result:
                    self.requests.break_at(e, start)
                    chosen = self.language.chosen(self.language.below(e, start), result, v)
                    result = self.name(chosen, p.output.dtype, e, result, v)
                else:
                    result = v
            start = end
        return result

    def _inside(self, e: Index, n: int) -> Index:
        """`e`, clamped into an axis of length n unless it is known to lie there."""
        lo, hi = e.range()
        return e if lo >= 0 and hi < n else Index.of(Clamp(e, 0, n - 1))

    def _pad(self, p: Primitive, idx: Indices) -> str:
        x, pads, mode = p.inputs[0], p.attr("pads"), p.attr("mode")
        own: list[Index] = []
        outside: list[str] = []
        edges: list[Index] = []
        for axis, (i, n) in enumerate(zip(idx, x.shape, strict=True)):
            e = i - pads[axis]
            lo, hi = e.range()
            if lo < 0:
                self.requests.break_at(e, 0)
            if hi >= n:
                self.requests.break_at(e, n)
            if mode == "constant":
                outside += [self.language.below(e, 0)] * (lo < 0) + [self.language.reaches(e, n)] * (hi >= n)
                edges += [e] * (lo < 0 or hi >= n)
                own.append(self._inside(e, n))
            else:
                own.append(self._mirrored(e, n, mode))
        if mode != "constant":
            return self.value(x, tuple(own))
        fill = self.language.literal(p.attr("value"), p.output.dtype)
        if any(_all_outside(i - pads[a], n) for a, (i, n) in enumerate(zip(idx, x.shape, strict=True))):
            return self.name(fill, p.output.dtype)
        v = self.value(x, tuple(own))
        if not outside:
            return v
        return self.name(self.language.chosen(self.language.any_of(outside), fill, v), p.output.dtype, v, *edges)

    def _mirrored(self, e: Index, n: int, mode: str) -> Index:
        lo, hi = e.range()
        if lo >= 0 and hi < n:
            return e
        if mode == "edge":
            return Index(0) if hi < 0 else Index(n - 1) if lo >= n else Index.of(Clamp(e, 0, n - 1, edge=True))
        if mode == "wrap":
            return (e + n * (-(lo // n))) % n
        if hi <= 0 and -lo < n:
            return e * -1
        if lo >= n - 1 and hi <= 2 * (n - 1):
            return e * -1 + 2 * (n - 1)
        shift = -lo  # positions as a table: right for any width, used only where breaking the loop failed
        period = max(2 * (n - 1), 1)
        table = tuple((n - 1) - abs(((lo + j) % period) - (n - 1)) for j in range(hi - lo + 1))
        return Index.of(Lookup(table, e + shift))

    def _interpolate(self, p: Primitive, idx: Indices) -> str:
        axis: int = p.attr("axis")
        taps: int = p.attr("taps")
        x, total = p.inputs[0], ""
        for j in range(taps):
            at = Index.of(Lookup(p.attr("indices"), idx[axis], taps, j))
            v = self.value(x, (*idx[:axis], at, *idx[axis + 1 :]))
            weight = self.language.entry(tuple(p.attr("weights")), idx[axis] * taps + j)
            added = f"{total} + {v} * {weight}" if total else f"{v} * {weight}"
            total = self.name(added, p.output.dtype, total, v, idx[axis])
        return total

    def _unpack(self, p: Primitive, idx: Indices) -> str:
        *lead, last = idx
        at = unpack.places(p)
        self._split(last // len(at))
        v = self.value(p.inputs[0], (*lead, last // len(at)))
        place = self.language.entry(at, last % len(at))
        return self.name(self.language.elementwise(p, [v, place]), p.output.dtype, v, last)

    FORMS: ClassVar[dict[str, Callable[[Trace, Primitive, Indices], str]]] = {
        "Reshape": _reshape,
        "Gather": _gather,
        "Take": _take,
        "Concat": _concat,
        "Pad": _pad,
        "Interpolate": _interpolate,
        "Unpack": _unpack,
    }
    """Of moves that have no source in the table, or ask for loops that suit them."""


def is_traced(p: Primitive) -> bool:
    """Whether a trace knows where elements of p's output come from; of functions of numbers, whether each is of one."""
    return p.category is Category.ELEMENTWISE or p.spec.source is not None or p.op in Trace.FORMS


def broadcast(idx: Indices, t: Tensor, missing: int = 0) -> Indices:
    """The indices of an operand under numpy broadcasting, but for the last `missing` axes."""
    shape = t.shape[: t.rank - missing]
    tail = idx[len(idx) - len(shape) :]
    return tuple(Index() if n == 1 else i for i, n in zip(tail, shape, strict=True))


def lookup(table: tuple[int, ...], e: Index) -> Index:
    """table[e]; tables of even steps become arithmetic, also runs that start at even steps (repeated, windows)."""
    inner = table[min(1, len(table) - 1)] - table[0]
    run = next((i for i in range(1, len(table)) if table[i] - table[i - 1] != inner), len(table))
    if run == len(table):
        return e * inner + table[0]
    outer = table[run] - table[0]
    even = (table[0] + i // run * outer + i % run * inner for i in range(len(table)))
    if len(table) % run == 0 and table == tuple(even):
        return e // run * outer + e % run * inner + table[0]
    return Index.of(Lookup(table, e))


def _all_outside(e: Index, n: int) -> bool:
    lo, hi = e.range()
    return hi < 0 or lo >= n
