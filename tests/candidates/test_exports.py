"""Cones with exports: which are offered, and that plans of them can wait for each other."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest
from tests.solve.plainly import solve_plainly

from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.candidates import Limits, enumerate_cones
from korch.ir import Builder, Cone, Graph, Value
from korch.machine import Machine
from korch.search.costed import problem_of
from korch.search.ledger import open_ledger
from korch.solve.check import running_order
from korch.solve.problem import Problem, Status
from korch.solve.solve import solve

MACHINE = Machine(2, 1e11, ((1 << 40, 1e10),), 1e-6, "a slow memory")
ALL = Limits(export=0, exports=99)
LARGE = Limits(export=1 << 17, exports=9)


def norm(b: Builder, x: Value) -> Value:
    centred = x - b.op("ReduceMean", x, axes=(1,), keepdims=1)
    return centred / b.op("Sqrt", b.op("ReduceMean", centred * centred, axes=(1,), keepdims=1) + 1e-5)


def residual(rows: int = 512, width: int = 64) -> Graph:
    """A sum that is normalised, and read by two more."""
    b = Builder()
    x, y, z = (b.input(n, "float32", (rows, width)) for n in "xyz")
    total = x + y
    return b.graph([("normal", norm(b, total)), ("next", total * z), ("other", b.op("Exp", total))])


def crossed() -> Graph:
    """a and c, each read by both of b and d."""
    b = Builder()
    a, c = (b.op("Exp", b.input(n, "float32", (64, 64))) for n in "xy")
    return b.graph([("b", a - c), ("d", a * c)])


def costed(graph: Graph, cones: list[Cone]) -> Problem:
    ledger = open_ledger(cones, (LOOPS,), MACHINE)
    problem = problem_of(graph, ledger)
    candidates = zip(problem.candidates, ledger.entries, strict=True)
    return replace(problem, candidates=tuple(replace(c, cost=e.cost) for c, e in candidates))


def test_what_others_read_too_is_offered():
    graph = residual()
    total = next(p for p in graph.primitives if p.op == "Mul" and p.output in graph.outputs).inputs[0]
    inputs = set(graph.inputs[:2])
    whole = [c for c in enumerate_cones(graph, LARGE) if c.exports and inputs == {t for t in c.leaves if not t.const}]
    assert (graph.outputs[0], (total,)) in {(c.root, c.exports) for c in whole}
    assert {c.exports for c in whole if c.root == graph.outputs[0]} == {(total,)}
    assert not [c for c in enumerate_cones(residual(4, 4), LARGE) if c.exports]  # too small to be worth it


def test_nothing_is_stored_that_only_the_kernel_reads():
    b = Builder()
    x = b.input("x", "float32", (512, 64))
    graph = b.graph([("y", norm(b, x))])
    whole = [c for c in enumerate_cones(graph, ALL) if len(c.primitives) == len(graph.primitives)]
    assert whole and not any(c.exports for c in whole)


def test_a_residual_sum_is_stored_by_the_kernel_that_normalises_it():
    graph = residual()
    problem = costed(graph, enumerate_cones(graph, LARGE))
    single = replace(problem, candidates=tuple(c for c in problem.candidates if len(c.makes) == 1))
    best, without = solve(problem, time_limit=300), solve(single, time_limit=300)
    assert best.status is Status.OPTIMAL and best.cost < 0.95 * without.cost
    assert any(len(problem.candidates[i].makes) == 2 for i in best.chosen)
    assert best.cost == pytest.approx(solve_plainly(problem, time_limit=300).cost)


def test_the_naive_program_selects_a_deadlock():
    """One kernel makes a and b and reads c, the other makes c and d and reads a: complete on paper, and never runs."""
    graph = crossed()
    problem = costed(graph, enumerate_cones(graph, ALL))
    pairs = [k for k in problem.candidates if len(k.makes) == 2]
    waiting = [k for k in pairs if any(r in o.makes for o in pairs for r in k.reads)]
    assert waiting
    favoured = replace(problem, candidates=tuple(replace(k, cost=k.cost * (0.1 if k in waiting else 1.0))
                                                 for k in problem.candidates))  # fmt: skip
    naive = cheapest_cover(favoured)
    chosen = [k for k in favoured.candidates if k.id in naive]
    assert len(running_order(chosen)) < len(chosen)
    found = solve(favoured, time_limit=300)
    assert found.status is Status.OPTIMAL and found.cost > sum(k.cost for k in chosen)
    assert found.cost == pytest.approx(solve_plainly(favoured, time_limit=300).cost)


def cheapest_cover(problem: Problem) -> set[int]:
    """The cheapest set of kernels that makes the outputs and all that the kernels read, in whatever order."""
    best, chosen = inf, set[int]()
    stack = [(0.0, frozenset[int](), frozenset(problem.outputs))]
    while stack:
        cost, ids, wanted = stack.pop()
        made = {t for k in problem.candidates if k.id in ids for t in k.makes}
        open_ = sorted(wanted - made)
        if cost >= best:
            continue
        if not open_:
            best, chosen = cost, set(ids)
            continue
        makers = (k for k in problem.candidates if open_[0] in k.makes)
        stack += [(cost + k.cost, ids | {k.id}, wanted | set(k.reads)) for k in makers]
    return chosen
