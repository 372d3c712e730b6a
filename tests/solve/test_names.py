"""A tensor may have any name: rows are found by what they say, never by text."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from korch.solve.frontier import frontier
from korch.solve.highs import Highs
from korch.solve.keys import Dependency, Edge
from korch.solve.problem import Problem, Solution, Status
from korch.solve.program import Program, dual_bound
from korch.solve.rows import all_rows, chosen_row, incidence, matrix, violated_edges
from korch.solve.solve import solve
from korch.system.deadline import Deadline

from .brute_force import random_problem

AWKWARD = (
    "conv <- relu",
    "edge x",
    "once ",
    "",
    " ",
    "<-",
    " <- ",
    "a,b",
    "entry a <- b",
    "dependency",
    "cycle",
    "0",
    "output\ny",
    "größe",
    "張量",
    "e\u0301",
    "é",
    "\u200b",
    "🙂",
    "x" * 300,
)
KINDS = {"choices": {}, "twins": {"twins": True, "tensors": 4}, "loops": {"loops": True}}


def random_name(rng: random.Random) -> str:
    """Awkward names, and strings of what rows and their names are written with."""
    if rng.random() < 0.5:
        return rng.choice(AWKWARD)
    return "".join(rng.choice(("edge", "once", " ", "<-", ",", "t1", "é", "\0")) for _ in range(rng.randrange(6)))


def renamed(problem: Problem, seed: int) -> Problem:
    """The same problem under random names, all different."""
    rng = random.Random(seed)
    old = dict.fromkeys(t for q in problem.primitives for t in (q.output, *q.inputs))
    fresh: dict[str, None] = {}
    while len(fresh) < len(old):
        fresh[random_name(rng)] = None
    name = dict(zip(old, fresh))
    return Problem(
        tuple(name[t] for t in problem.outputs),
        tuple(replace(q, output=name[q.output], inputs=tuple(name[t] for t in q.inputs)) for q in problem.primitives),
        tuple(replace(k, root=name[k.root], reads=tuple(name[t] for t in k.reads)) for k in problem.candidates),
        {name[t]: name[c] for t, c in problem.classes.items()},
    )


def dearer(problem: Problem, found: Solution) -> Problem:
    """What was chosen costs more."""
    costs = {k.id: k.cost * (1.5 if k.id in found.chosen else 1.0) for k in problem.candidates}
    return replace(problem, candidates=tuple(replace(k, cost=costs[k.id]) for k in problem.candidates))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_names_have_no_say(seed: int, kind: str, highs: Highs) -> None:
    plain = random_problem(seed, **KINDS[kind])
    odd = renamed(plain, seed)
    first = [solve(p, deadline=Deadline.after(20), highs=highs) for p in (plain, odd)]
    again = [solve(dearer(p, f), deadline=Deadline.after(20), warm=f, highs=highs) for p, f in zip((plain, odd), first)]
    for expected, found in (first, again):
        assert set(found.chosen) == set(expected.chosen) and found.status is Status.OPTIMAL
        assert (found.cost, found.bound) == pytest.approx((expected.cost, expected.bound), rel=1e-8)
        assert (found.columns, found.rows) == (expected.columns, expected.rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_the_frontier_takes_its_prices_by_key(seed: int, kind: str, highs: Highs) -> None:
    """With the same multipliers, the rows of both problems mean the same there."""
    plain = random_problem(seed, **KINDS[kind])
    odd, built = renamed(plain, seed), []
    for p in (plain, odd):
        rows = all_rows(p, incidence(p))
        program = Program(np.array([k.cost for k in p.candidates]), matrix(rows), integer=False)
        duals = -np.ones(len(rows))  # every row that frontiers look at has a price
        built.append(frontier(p, program.cost, rows, duals, *dual_bound(program, duals)))
    one, other = built
    assert (one is None) == (other is None)
    if one and other:
        prices = [sorted(row.price for g in f.groups for step in g.steps for row in step.unused) for f in (one, other)]
        idle = [sorted(step.idle for g in f.groups for step in g.steps) for f in (one, other)]
        assert prices[0] == prices[1] and prices[0] and idle[0] == idle[1] and max(idle[0]) == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_every_row_has_a_key_of_its_own(kind: str, highs: Highs) -> None:
    p = renamed(random_problem(1, **KINDS[kind]), 1)
    at = incidence(p)
    rows = all_rows(p, at)
    answer = highs.solve(Program(np.ones(len(p.candidates)), matrix(rows), integer=False), Deadline.after(10))
    assert answer.x is not None
    fresh = [chosen_row(e, at) for e in violated_edges(answer.x, at)]
    keys = [row.key for row in (*rows, *fresh)]
    assert len(set(keys)) == len(keys)
    edges = [row for row in (*rows, *fresh) if isinstance(row.key, Edge)]
    assert edges and all(chosen_row(row.key, at) == row for row in edges if isinstance(row.key, Edge))


def test_keys_that_look_alike_differ() -> None:
    one, other = Dependency("a <- b", "c"), Dependency("a", "b <- c")
    assert str(one) == str(other) and one != other
