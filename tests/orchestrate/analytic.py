"""Plans at analytic costs: every cone at its backend's roofline on a made-up machine, nothing built, nothing timed."""

from __future__ import annotations

from dataclasses import replace

from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.candidates import enumerate_cones
from korch.ir import Cone, Graph
from korch.machine import Machine
from korch.orchestrate import tuning
from korch.orchestrate.ledger import open_ledger
from korch.orchestrate.problem import Status
from korch.orchestrate.solve import solve
from korch.rewrite import add_choices


def planned(plain: Graph, machine: Machine) -> list[Cone]:
    """The kernels of the plan that is provably cheapest on `machine`, all of Korch's choices allowed."""
    graph = add_choices(plain)
    ledger = open_ledger(enumerate_cones(graph), (LOOPS, ONEDNN), machine)
    problem = tuning._problem(graph, ledger)
    costs = (entry.cost for entry in ledger.entries)
    costed = replace(problem, candidates=tuple(replace(c, cost=x) for c, x in zip(problem.candidates, costs)))
    solution = solve(costed, time_limit=60)
    assert solution.status is Status.OPTIMAL
    return [ledger.cones[i] for i in solution.chosen]
