"""Concatenations of a product and other tensors: every part writes directly into its slice of the result."""

from __future__ import annotations

import math
from collections.abc import Iterator

from korch.backends.cpu.c import Code, Function, Statements, own, run_function
from korch.backends.cpu.c.rename import prefixed
from korch.backends.cpu.c.tree import FREE, INIT, RUN, TEAM, Declaration, comments, free_function, init_function
from korch.backends.cpu.loops import products
from korch.backends.cpu.loops.binding import Place, is_reduction
from korch.backends.cpu.loops.emit import generate as generate_part
from korch.backends.cpu.loops.emit import work
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.refusals import nest_refusal
from korch.backends.cpu.loops.writer import SMALL
from korch.ir.cone import Cone
from korch.ir.ops.table import Shape
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

PlacedCone = tuple[Cone, Place]


class ConcatenationForm:
    """A Concat of a matrix product, with its epilogue, and of what loop nests compute."""

    priority = 20
    counts_elements = True

    def matches(self, cone: Cone) -> bool:
        return bool(parts(cone))

    def refusal(self, cone: Cone) -> str:
        return nest_refusal(cone, cone.linear, _refusal)

    def generate(self, cone: Cone, threads: int, place: Place | None = None) -> Code:
        """C for one part after the other. One that uses the workspace begins when all are done with what used it
        before. The product comes first, and its state is the kernel's. Each thread stores the other parts into lines
        that it has just written. (80 scores and 5 numbers of boxes at 52x52: 69 us, 101 with the boxes first and by one
        thread.)"""
        threads = threads if work(cone) > SMALL else 1
        ordered = sorted(parts(cone, place), key=lambda found: not found[0].linear)
        made = [(part, generate_part(part, threads, at, small=0)) for part, at in ordered]
        team = any(code.has(TEAM) for _, code in made)
        _, *waiting = [i for i, (_, code) in enumerate(made) if code.workspace] or [0]
        declarations: list[Declaration] = [*comments(cone)]
        text = Statements()
        for i, (part, code) in enumerate(made):
            declarations += prefixed(code, f"part{i}_")
            given = f"const void *const in{i}[] = {{{', '.join(f'in[{cone.leaves.index(t)}]' for t in part.leaves)}}};"
            text.add(given, *(["#pragma omp barrier"] if team and i in waiting else []))
            if team and not code.has(TEAM):
                text.add("#pragma omp single nowait")
            text.add(f"{own(f'part{i}_{TEAM if code.has(TEAM) else RUN}')}(state, in{i}, out, workspace);")
            if code.has(INIT):
                declarations += _state(i, given)
        run = run_function(team, text.body)
        return Code((*declarations, run), max(code.workspace for _, code in made))

    def places(self, cone: Cone, place: Place) -> bool:
        return place.outermost and place.axis != cone.primitives[-1].attr("axis")

    def place(self, cone: Cone, place: Place) -> Code:
        return self.generate(cone, 1, place)


def parts(cone: Cone, place: Place | None = None) -> tuple[PlacedCone, ...]:
    """The parts that the cone's root concatenates, if one of them is a matrix product with its epilogue; else none. The
    root is one piece of memory at its `place`."""
    last = cone.primitives[-1]
    if not last.spec.joins or not products.product_of(cone):
        return ()
    found = tuple(_parts(cone, last, place.shape if place else cone.root.shape, 0))
    return found if sum(len(part.linear) for part, _ in found) == 1 else ()


def _parts(cone: Cone, last: Primitive, shape: Shape, offset: int) -> Iterator[PlacedCone]:
    """The parts of a concatenation of that shape, which begins at `offset`. A part that is itself a concatenation with
    a product, and one piece of memory, gives its own parts."""
    axis: int = last.attr("axis")
    start = 0
    for t in last.inputs:
        part, place = _upto(cone, t), Place(shape, axis, start, offset)
        inner = cone.makers.get(cone.behind_views(t, lambda op: op.regroups))
        if place.outermost and part.linear and inner and inner.spec.joins:
            yield from _parts(cone, inner, inner.output.shape, offset + start * math.prod(shape[axis + 1 :]))
        else:
            yield part, place
        start += t.shape[axis]


def _upto(cone: Cone, t: Tensor) -> Cone:
    """The cone that computes `t`; of a leaf, a copy of it."""
    if t not in cone.makers:
        return Cone.of([Primitive("Identity", (t,), Tensor(f"{t.name}_copied", t.dtype, t.shape))])
    return Cone.of(cone.part(t).primitives)


def _refusal(cone: Cone) -> str:
    """Why a part is not built; empty if all are."""
    for part, place in parts(cone):
        if part.linear and (reason := products.refusal(part, place)):
            return reason
        if any(is_reduction(p) for p in part.primitives):
            return "a reduction beside a product"
    return ""


def _state(i: int, given: str) -> tuple[Function, Function]:
    return (
        init_function((given, f"return {own(f'part{i}_{INIT}')}(state, in{i});")),
        free_function((f"{own(f'part{i}_{FREE}')}(state);",)),
    )


FORM: KernelForm = ConcatenationForm()
