"""Plans at analytic costs: every cone at its backend's roofline on a made-up machine, nothing built, nothing timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from korch.backends.contract import Backend, Refusal
from korch.backends.cpu.loops.backend import Loops
from korch.backends.cpu.onednn.backend import OneDnn
from korch.candidates import enumerate_cones
from korch.ir import Cone, Graph
from korch.machine import Machine
from korch.rewrite import add_choices
from korch.search.costed import problem_of
from korch.search.ledger import open_ledger
from korch.search.phases import bounds
from korch.solve.problem import Status
from korch.solve.solve import solve
from korch.system.deadline import Deadline

MB = 1 << 20
V100 = Machine(80, 14e12, ((6 * MB, 2.5e12), (1 << 40, 0.9e12)), 5e-6, "the paper's GPU")
"""Arithmetic, cache and memory of its data sheet; a launch takes 5 microseconds."""


class Memory(Loops):
    """Generated code as the paper has it: for kernels that move memory."""

    def refuses(self, cone: Cone) -> Refusal | None:
        return Refusal("a linear primitive") if cone.linear else super().refuses(cone)


class Fusing(OneDnn):
    """A library whose post-ops keep NaN, whatever this version does."""

    def refuses(self, cone: Cone) -> Refusal | None:
        answer = self.call_refusal(cone)
        return None if answer and "NaN" in answer.reason else answer


class Products(OneDnn):
    """A library as the paper has it: one linear primitive, no views before it and nothing behind it."""

    def refuses(self, cone: Cone) -> Refusal | None:
        return Refusal("more than a product") if len(cone.primitives) > 1 else self.call_refusal(cone)


FUSING: tuple[Backend, ...] = (Memory(), Fusing())
PLAIN: tuple[Backend, ...] = (Memory(), Products())


def planned(plain: Graph, backends: Sequence[Backend] = FUSING, machine: Machine = V100) -> list[Cone]:
    """The kernels (views among them) of the provably cheapest plan, all of Korch's choices allowed."""
    graph = add_choices(plain)
    ledger = open_ledger(enumerate_cones(graph), backends, machine)
    problem = problem_of(graph, ledger)
    candidates = zip(problem.candidates, ledger.entries, strict=True)
    costed = replace(problem, candidates=tuple(replace(c, cost=e.at(bounds)) for c, e in candidates))
    solution = solve(costed, deadline=Deadline.after(300))
    assert solution.status is Status.OPTIMAL
    return [ledger.cones[i] for i in solution.chosen]
