"""The variables that a trace records for each of its statements, against the words of their text."""

from __future__ import annotations

import re

import pytest

from korch.backends.cpu.loops.language import C
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Requests, Trace
from korch.ir import Cone
from korch.ir.ops.table import Category

from .cones import CONES, random_cone

WORD = re.compile(r"[a-z]\w*")
EVERY = CONES | {f"random {i}": random_cone(i) for i in range(60)}
MAPS = {
    name: cone
    for name, cone in EVERY.items()
    if not cone.linear and all(p.category is not Category.REDUCE for p in cone.primitives)
}


def trace_of(cone: Cone) -> tuple[Trace, set[str]]:
    """The trace of the cone's root, and the names of the loops around it."""
    arrays = {leaf: f"in{i}" for i, leaf in enumerate(cone.leaves)}
    trace = Trace(cone.makers, arrays, {}, Requests(), C())
    loops = [Var(f"i{a}", 0, n) for a, n in enumerate(cone.root.shape)]
    trace.value(cone.root, tuple(Index.of(v) if v.extent > 1 else Index() for v in loops))
    return trace, {v.name for v in loops}


@pytest.mark.parametrize("name", MAPS)
def test_definitions_use_the_variables_in_their_text(name: str):
    trace, known = trace_of(MAPS[name])
    assert [d.statement for d in trace.definitions] == trace.lines
    for d in trace.definitions:
        expression = d.statement.split(" = ", 1)[1]
        assert d.uses & known == known.intersection(WORD.findall(expression)), d.statement
        known.add(d.variable)


def test_maps_of_every_kind_are_traced():
    ops = {p.op for cone in MAPS.values() for p in cone.primitives}
    assert ops >= {"Take", "Concat", "Pad", "Interpolate", "Gather", "Slice", "Transpose", "Reshape", "Where"}
