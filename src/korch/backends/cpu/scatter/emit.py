"""The C of a Scatter: each unit of work fills its part of the result, goes through the updates, and maps what is there.

Positions are forced into their axis, whatever the indices, so that nothing else is written; the run learns that one was
outside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from korch.backends.cpu.loops.bounds import checks, write_checks
from korch.backends.cpu.loops.ctypes import C_TYPES, elementwise
from korch.backends.cpu.loops.spell import C, c_index, tables_of
from korch.backends.cpu.loops.writer import Text
from korch.backends.cpu.scatter.shares import Share, extents, scatter_of
from korch.backends.maps.index import Index, Var, flat, unflat
from korch.backends.maps.trace import Indices, Requests, Trace
from korch.backends.program import run_head
from korch.backends.shared import APART
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


class _Rows(C):
    """C that finds positions of the data in few instructions: there are as many as rows, which may be short."""

    def clamped(self, value: str, last: int) -> str:
        return f"(int)korch_nearest({value}, {last + 1})"


OPERATORS = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}
"""The elementwise primitives that combine an element and an update."""


def emit(cone: Cone, share: Share) -> str:
    """C source of the kernel (see `contract.py`)."""
    form = _Form(cone, scatter_of(cone), share)
    unit, run = _function(form), _run(form)
    head = ["// " + line for line in str(cone).splitlines()]
    return "\n".join((*head, *tables_of("\n".join(unit + run)), *unit, *run)) + "\n"


@dataclass(frozen=True)
class _Form:
    """The kernel in numbers, and its loops: outer indices, positions, updates and inner elements."""

    cone: Cone
    p: Primitive
    share: Share

    @property
    def ctype(self) -> str:
        return C_TYPES[self.p.output.dtype]

    @property
    def length(self) -> int:
        return self.p.attr("length")

    @property
    def axis(self) -> int:
        return self.p.attr("axis")

    @property
    def units(self) -> int:
        return extents(self.p)[0] * self.share.rows * self.share.columns

    @property
    def outer(self) -> Var:
        return Var("o", 0, extents(self.p)[0])

    @property
    def inner(self) -> Var:
        return Var("c", 0, extents(self.p)[2])

    @property
    def single(self) -> bool:
        """Whether all inner elements of an update go to one position."""
        return math.prod(self.p.inputs[1].shape[self.axis + 1 :]) == 1

    def at(self, along: Var, t: Tensor) -> Indices:
        """The indices of the loops' element, `along` the axis; those of `t` where it is of length 1 are 0."""
        shape = self.p.inputs[2].shape
        every = (*unflat(Index.of(self.outer), shape[: self.axis]), Index.of(along),
                 *unflat(Index.of(self.inner), shape[self.axis + 1 :]))  # fmt: skip
        return tuple(Index() if n == 1 else i for i, n in zip(every, t.shape, strict=True)) if t.rank else ()

    def trace(self) -> Trace:
        """Pulls values through the cone; what the Scatter makes is read where it lies."""
        arrays = {leaf: f"in{i}" for i, leaf in enumerate(self.cone.leaves)}
        stored = {self.p.output: lambda t, idx: ("out", flat(idx, t.shape))}
        return Trace(self.cone.makers, arrays, stored, Requests(), _Rows())


def _pointers(form: _Form) -> list[str]:
    return [f"const {C_TYPES[t.dtype]} *restrict in{i} = in[{i}];"
            for i, t in enumerate(form.cone.leaves) if t.value is None]  # fmt: skip


def _run(form: _Form) -> list[str]:
    """What every thread does: indices of rows that are read, then its units."""
    text = Text([run_head(form.share.threads > 1) + " {", "  (void)state; (void)workspace;"])
    text.add(*(_pointers(form) if checks(form.cone) else ()), "int wrong = 0;")
    write_checks(text, form.cone, form.share.threads)
    if form.share.threads > 1:
        text.add("#pragma omp for schedule(static) nowait")
    text.add(f"for (int unit = 0; unit < {form.units}; ++unit) wrong |= KERNEL_unit(in, out, unit);")
    text.add("if (wrong) korch_out_of_range = 1;")
    return [*text.lines, "}"]


def _function(form: _Form) -> list[str]:
    """Makes a part of an outer index: positions begin..end, of these the inner elements first..last. Gives back whether
    an index was outside of its axis."""
    rows, columns, n = form.share.rows, form.share.columns, form.length
    text = Text([APART, "static int KERNEL_unit(const void *const *in, void *out_, int unit) {"])
    text.add(*_pointers(form), f"{form.ctype} *restrict out = out_;")
    text.add(f"const int o = unit / {rows * columns}, row = unit / {columns} % {rows}, column = unit % {columns};")
    text.add(f"const int begin = (int)(INT64_C({n}) * row / {rows}), end = (int)(INT64_C({n}) * (row + 1) / {rows});")
    text.add(f"const int first = column * {form.share.width}, last = {_last(form)};", "int wrong = 0;", "(void)o;")
    _map(form, text, form.p.inputs[0], opaque=columns > 1)
    _updates(form, text)
    if form.cone.root != form.p.output:
        _map(form, text, form.cone.root)
    text.add("return wrong;")
    return [*text.lines, "}"]


def _last(form: _Form) -> str:
    width, inner = form.share.width, form.inner.hi
    end = f"first + {width}"
    return end if inner == width * form.share.columns else f"KORCH_MIN({end}, {inner})"


def _map(form: _Form, text: Text, t: Tensor, opaque: bool = False) -> None:
    """Stores `t` in the unit's part of the result; a number `opaque` to compilers, which would store short pieces of
    rows by an instruction that takes as long for many bytes. (500 pieces of 128 bytes: 8 us of 25.)"""
    n = Var("n", 0, form.length)
    trace = form.trace()
    value = trace.value(t, form.at(n, t))
    text.add(f"// {t}")
    if opaque and t.value is not None:
        text.add(f"const volatile {form.ctype} number = {value};", f"const {form.ctype} filled = number;")
        value = "filled"
    text.open("for (int n = begin; n < end; ++n)")
    text.open("for (int c = first; c < last; ++c)")
    text.add(*trace.lines, f"out[{c_index(flat(form.at(n, form.p.output), form.p.output.shape))}] = {value};")
    text.close(2)


def _updates(form: _Form, text: Text) -> None:
    """Goes through the updates in their order."""
    trace, k = form.trace(), Var("k", 0, extents(form.p)[1])
    text.add(f"// {form.p}")
    text.open(f"for (int k = 0; k < {k.hi}; ++k)")
    if form.single:
        _position(form, text, trace, k)
    text.open("for (int c = first; c < last; ++c)")
    if not form.single:
        _position(form, text, trace, k)
    _combined(form, text, trace, k)
    text.close(2)


def _position(form: _Form, text: Text, trace: Trace, k: Var) -> None:
    """Where the update goes; one for another unit's position is skipped."""
    i, n = form.p.inputs[1], form.length
    value = trace.value(i, form.at(k, i))
    text.add(*trace.lines, f"const int64_t wrapped = {trace.language.wrapped(value, n)};")
    text.add(f"const int at = {trace.language.clamped('wrapped', n - 1)};", "wrong |= at != wrapped;")
    if form.share.rows > 1:
        text.add("if (at < begin || at >= end) continue;")


def _combined(form: _Form, text: Text, trace: Trace, k: Var) -> None:
    """Changes the element that the update meets."""
    (_, _, u), y, known = form.p.inputs, form.p.output, len(trace.lines)
    value = trace.value(u, form.at(k, u))
    place = c_index(flat(form.at(Var("at", 0, form.length), y), y.shape))
    text.add(*trace.lines[known:])
    if reduction := OPERATORS.get(form.p.attr("reduction")):
        text.add(f"const {form.ctype} old = out[{place}];")
        value = elementwise(Primitive(reduction, (u, u), u), ["old", value])
    text.add(f"out[{place}] = {value};")
