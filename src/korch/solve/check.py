"""The independent check of a plan: it shares nothing with the rows, and nothing is trusted that it has not
confirmed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isclose

from korch.errors import SolverError
from korch.solve.problem import Candidate, Problem

BUDGET_TOLERANCE = 1e-5
"""Of an error budget: solvers keep rows within 1e-6, and sums of binary variables a little worse."""


@dataclass(frozen=True, slots=True)
class CheckedPlan:
    """A complete, acyclic plan: candidates in an order in which they can run, and their cost in seconds."""

    order: tuple[Candidate, ...]
    cost: float

    @property
    def ids(self) -> tuple[int, ...]:
        """The ids of the chosen candidates, in running order."""
        return tuple(k.id for k in self.order)


def check(problem: Problem, chosen: Iterable[int], *, cost: float | None = None) -> CheckedPlan:
    """The plan of the candidate ids `chosen`, in running order and without kernels that nothing needs.

    `cost` (seconds) is what the solver claims for `chosen`. Raises SolverError if an id is unknown, an output or a
    read tensor is not made, the kernels wait for each other, the claimed cost is not theirs, or an error budget is
    exceeded.
    """
    by_id = {k.id: k for k in problem.candidates}
    ids = sorted(set(chosen))
    if unknown := [i for i in ids if i not in by_id]:
        raise SolverError(f"the plan uses candidate {unknown[0]}, which the problem does not have")
    kernels = [by_id[i] for i in ids]
    _check_complete(problem, kernels)
    if cost is not None and not isclose(total := cost_of(kernels), cost, rel_tol=1e-6, abs_tol=1e-12):
        raise SolverError(f"the solver reports a cost of {cost:.9g} s for a plan that costs {total:.9g} s")
    order = running_order(kernels)
    if len(order) < len(kernels):
        raise SolverError(f"the plan is cyclic: {_waiting(kernels, order)}")
    order = _needed(order, problem.outputs)
    _check_errors(problem, order)
    return CheckedPlan(tuple(order), cost_of(order))


def cost_of(kernels: Iterable[Candidate]) -> float:
    """Seconds that `kernels` take together."""
    return fsum(k.cost for k in kernels)


def running_order(kernels: Sequence[Candidate]) -> list[Candidate]:
    """`kernels` so that each reads only what earlier ones make; those that wait for each other are left out.

    Depth first: a kernel runs soon after the last of what it reads. The order depends on the order of `kernels` only.

    >>> reader = Candidate(0, "y", ("t",), frozenset({1}), 1e-6)
    >>> maker = Candidate(1, "t", (), frozenset({0}), 1e-6)
    >>> [k.root for k in running_order([reader, maker])]
    ['t', 'y']
    """
    missing = {k.id: len(set(k.reads)) for k in kernels}
    readers: dict[str, list[Candidate]] = {}
    for k in reversed(kernels):
        for t in set(k.reads):
            readers.setdefault(t, []).append(k)
    ready = [k for k in reversed(kernels) if not k.reads]
    made: set[str] = set()
    order: list[Candidate] = []
    while ready:
        order.append(k := ready.pop())
        if k.root in made:
            continue
        made.add(k.root)
        for reader in readers.get(k.root, ()):
            missing[reader.id] -= 1
            if not missing[reader.id]:
                ready.append(reader)
    return order


def _check_complete(problem: Problem, kernels: Sequence[Candidate]) -> None:
    made = {k.root for k in kernels}
    if absent := [t for t in problem.outputs if t not in made]:
        raise SolverError(f"the plan is incomplete: no kernel makes the output {absent[0]}")
    for k in kernels:
        if absent := [t for t in k.reads if t not in made]:
            raise SolverError(f"the plan is incomplete: kernel {k.id} reads {absent[0]}, which no kernel makes")


def _check_errors(problem: Problem, kernels: Sequence[Candidate]) -> None:
    for budget in problem.budgets:
        used = fsum(budget.shares.get(q, 0.0) for k in kernels for q in k.holds)
        if used > 1.0 + BUDGET_TOLERANCE:
            raise SolverError(f"the plan uses {used:.6g} of the error budget of output {budget.output}")


def _needed(order: Sequence[Candidate], outputs: Collection[str]) -> list[Candidate]:
    """`order` without kernels whose tensor nothing reads, and without second makers of a tensor."""
    first: Mapping[str, int] = {k.root: k.id for k in reversed(order)}
    wanted, kept = set(outputs), list[Candidate]()
    for k in reversed(order):
        if k.root in wanted and first[k.root] == k.id:
            kept.append(k)
            wanted.update(k.reads)
    return kept[::-1]


def _waiting(kernels: Sequence[Candidate], order: Sequence[Candidate]) -> str:
    done = {k.id for k in order}
    stuck = [k for k in kernels if k.id not in done]
    return ", ".join(f"kernel {k.id} makes {k.root} from {'+'.join(k.reads)}" for k in stuck[:4])
