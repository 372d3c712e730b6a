"""The C of a Scatter: each unit of work fills its part of the result, goes through the updates, and maps what is there.

Positions are forced into their axis, whatever the indices, so that nothing else is written; the run learns that one was
outside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from korch.backends.cpu.c import Code, Comment, Function, Linkage, Statements, own, run_function
from korch.backends.cpu.c.tree import comments
from korch.backends.cpu.loops.backend import HEADERS
from korch.backends.cpu.loops.bounds import write_checks
from korch.backends.cpu.loops.ctypes import C_TYPES, elementwise
from korch.backends.cpu.loops.language import C, c_index, tables_of
from korch.backends.cpu.scatter.shares import Share, extents, scatter_of
from korch.backends.maps.index import Index, Var, flat, unflat
from korch.backends.maps.trace import Definition, Indices, ReadStage, Requests, Trace
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor, type_text


class _Rows(C):
    """C that finds positions of the data in few instructions: there are as many as rows, which may be short."""

    def clamped(self, value: str, last: int) -> str:
        return f"(int)korch_nearest({value}, {last + 1})"


OPERATORS = {"add": "Add", "mul": "Mul", "max": "Max", "min": "Min"}
"""The elementwise primitives that combine an element and an update."""


def emit(cone: Cone, share: Share) -> Code:
    """C of the kernel (see `contract.py`)."""
    form = _Form(cone, scatter_of(cone), share)
    functions = (_function(form), _run(form))
    return Code((*comments(cone), *tables_of(functions), *functions), headers=HEADERS)


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
        every = (
            *unflat(Index.of(self.outer), shape[: self.axis]),
            Index.of(along),
            *unflat(Index.of(self.inner), shape[self.axis + 1 :]),
        )
        return tuple(Index() if n == 1 else i for i, n in zip(every, t.shape, strict=True)) if t.rank else ()

    def place(self, along: Var) -> str:
        """Where the result holds the loops' element, `along` the axis."""
        return c_index(flat(self.at(along, self.p.output), self.p.output.shape))

    def trace(self) -> Trace:
        """Pulls values through the cone; what the Scatter makes is read where it lies."""
        arrays = {leaf: f"in{i}" for i, leaf in enumerate(self.cone.leaves)}
        stored: dict[Tensor, ReadStage] = {self.p.output: lambda t, idx: ("out", flat(idx, t.shape))}
        return Trace(self.cone.makers, arrays, stored, Requests(), _Rows())


def _run(form: _Form) -> Function:
    """What every thread does: indices of rows that are read, then its units."""
    text = Statements()
    text.add("(void)state; (void)workspace;")
    text.add(*(f"{declared} = in[{i}];" for i, declared in _arrays(form).items()), f"{_result(form)} = out_;")
    text.add("int wrong = 0;")
    write_checks(text, form.cone, form.share.threads)
    if form.share.threads > 1:
        text.add("#pragma omp for schedule(static) nowait")
    given = ", ".join([*(f"in{i}" for i in _arrays(form)), "out", "unit"])
    text.add(f"for (int unit = 0; unit < {form.units}; ++unit) wrong |= {own('unit')}({given});")
    text.add("if (wrong) korch_out_of_range = 1;")
    return run_function(form.share.threads > 1, text.body, out="out_")


def _arrays(form: _Form) -> dict[int, str]:
    """The declarations of the leaves' arrays, by the leaf's number."""
    return {i: f"const {C_TYPES[t.dtype]} *restrict in{i}" for i, t in enumerate(form.cone.leaves) if t.value is None}


def _result(form: _Form) -> str:
    return f"{form.ctype} *restrict out"


def _function(form: _Form) -> Function:
    """Makes a part of an outer index: positions begin..end, of these the inner elements first..last. Gives back whether
    an index was outside of its axis. (Compilers believe of parameters that they are not the same memory.)"""
    rows, columns, n = form.share.rows, form.share.columns, form.length
    parameters = ", ".join((*_arrays(form).values(), _result(form), "int unit"))
    text = Statements()
    text.add(f"const int o = unit / {rows * columns}, row = unit / {columns} % {rows}, column = unit % {columns};")
    text.add(f"const int begin = (int)(INT64_C({n}) * row / {rows}), end = (int)(INT64_C({n}) * (row + 1) / {rows});")
    text.add(f"const int first = column * {form.share.width}, last = {_last(form)};", "int wrong = 0;", "(void)o;")
    _map(form, text, form.p.inputs[0], opaque=columns > 1)
    _updates(form, text)
    if form.cone.root != form.p.output:
        _map(form, text, form.cone.root)
    text.add("return wrong;")
    return Function("unit", parameters, text.body, "int", Linkage.SEPARATE)


def _last(form: _Form) -> str:
    width, inner = form.share.width, form.inner.hi
    end = f"first + {width}"
    return end if inner == width * form.share.columns else f"KORCH_MIN({end}, {inner})"


def _map(form: _Form, text: Statements, t: Tensor, opaque: bool = False) -> None:
    """Stores `t` in the unit's part of the result; a number `opaque` to compilers, which would store short pieces of
    rows by an instruction that takes as long for many bytes. (500 pieces of 128 bytes: 7 us, by vectors 1.)"""
    n = Var("n", 0, form.length)
    trace = form.trace()
    value = trace.value(t, form.at(n, t))
    text.add(Comment.of(t, f": {type_text(t.dtype, t.shape)}"))
    if opaque and t.value is not None:
        text.add(f"const volatile {form.ctype} number = {value};", f"const {form.ctype} filled = number;")
        value = "filled"
    with text.block("for (int n = begin; n < end; ++n)"):
        _inner(text, trace.definitions, [f"out[{form.place(n)}] = {value};"])


def _updates(form: _Form, text: Statements) -> None:
    """Goes through the updates in their order."""
    trace, k = form.trace(), Var("k", 0, extents(form.p)[1])
    text.add(*comments(form.p))
    position = [*_position(form, trace, k)]
    known = len(trace.definitions)
    combined = _combined(form, trace, k)
    updates = trace.definitions[known:]
    with text.block(f"for (int k = 0; k < {k.hi}; ++k)"):
        if form.single:
            text.add(*position)
            _inner(text, updates, combined)
        else:
            _inner(text, [], [*position, *(d.statement for d in updates), *combined])


def _inner(text: Statements, definitions: Sequence[Definition], last: Sequence[str]) -> None:
    """The loop over inner elements. Definitions that are the same for all of them stand before it: compilers do not see
    that of every one, and then make no vectors."""
    varying, inside = {"c"}, list[str]()
    for d in definitions:
        if varying.isdisjoint(d.uses):
            text.add(d.statement)
        else:
            varying.add(d.variable)
            inside.append(d.statement)
    with text.block("for (int c = first; c < last; ++c)"):
        text.add(*inside, *last)


def _position(form: _Form, trace: Trace, k: Var) -> Iterator[str]:
    """Where the update goes; one for another unit's position is skipped."""
    i, n = form.p.inputs[1], form.length
    value = trace.value(i, form.at(k, i))
    yield from trace.lines
    yield f"const int64_t wrapped = {trace.language.wrapped(value, n)};"
    yield f"const int at = {trace.language.clamped('wrapped', n - 1)};"
    yield "wrong |= at != wrapped;"
    if form.share.rows > 1:
        yield "if (at < begin || at >= end) continue;"


def _combined(form: _Form, trace: Trace, k: Var) -> list[str]:
    """Changes the element that the update meets."""
    u, place = form.p.inputs[2], form.place(Var("at", 0, form.length))
    value, reduction = trace.value(u, form.at(k, u)), OPERATORS.get(form.p.attr("reduction"))
    if not reduction:
        return [f"out[{place}] = {value};"]
    combined = elementwise(Primitive(reduction, (u, u), u), ["old", value])
    return [f"const {form.ctype} old = out[{place}];", f"out[{place}] = {combined};"]
