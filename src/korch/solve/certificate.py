"""Certificates: a problem as a binary program in a standard format, and a tree that proves a bound on its plans.

`checker.py`, which shares no code with this file, confirms them in exact arithmetic. Costs are in microseconds. A
certificate counts all candidates: none is pruned, and no bound of a solver is taken over.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from math import isfinite, nextafter

import numpy as np

from korch.solve.check import BUDGET_TOLERANCE, check
from korch.solve.highs import Highs
from korch.solve.keys import OutputError
from korch.solve.problem import Problem
from korch.solve.program import MICRO
from korch.solve.prune import prune
from korch.solve.rows import Row, all_rows, incidence
from korch.solve.tree import Fork, Node, TreeSearch
from korch.system.deadline import Deadline

EXACT = Context(prec=1000)
"""Decimals of all costs add up without rounding."""
COMPLETE = 1e-9
"""Relative gap at which a leaf is closed."""


@dataclass(frozen=True)
class Certificate:
    """A proof that no plan of `problem` costs less than `bound`, and the plan (ids) that costs `cost`; microseconds.

    `rows`: of the program; `nodes`: of the tree, root first.
    """

    problem: Problem
    plan: tuple[int, ...]
    rows: tuple[Row, ...]
    nodes: tuple[Node, ...]
    cost: Decimal
    bound: float

    @property
    def gap(self) -> float:
        """(cost - bound) / cost."""
        return 1 - self.bound / float(self.cost) if self.cost else 0.0

    @property
    def leaves(self) -> int:
        """Of the tree."""
        return sum(not isinstance(n, Fork) for n in self.nodes)


def certify(problem: Problem, chosen: Sequence[int], *, deadline: Deadline, highs: Highs) -> Certificate:
    """A certificate for the plan of candidates `chosen` (ids): the best bound that a tree reaches by `deadline`.

    Raises SolverError where the ids are no plan.
    """
    finite = tuple(k for k in problem.candidates if isfinite(k.cost))
    problem = replace(problem, candidates=finite)
    plan = check(problem, chosen).ids
    position = {k.id: i for i, k in enumerate(finite)}
    columns = tuple(position[i] for i in plan)
    cost, at = np.array([k.cost for k in finite]) * MICRO, incidence(problem)
    rows = _kept(columns, [_tolerant(r) for r in all_rows(problem, at)])
    wanted = np.zeros(len(cost), np.bool_)
    wanted[[*prune(problem), *columns]] = True
    proof = TreeSearch(problem, at, cost, rows, wanted, columns, highs.solve).proof(deadline, COMPLETE)
    total = _sum(cost[list(columns)].tolist())
    bound = min(nextafter(proof.bound, 0.0), nextafter(float(total), 0.0))
    return Certificate(problem, plan, proof.rows, proof.nodes, total, max(bound, 0.0))


def program_text(certificate: Certificate) -> str:
    """The binary program in free MPS; column k12 is candidate 12. Comments say what each row means."""
    problem, rows = certificate.problem, certificate.rows
    name = _names(problem)
    entries: list[list[str]] = [
        [f" {n} cost {k.cost * MICRO!r}"] for n, k in zip(name, problem.candidates, strict=True)
    ]
    for number, row in enumerate(rows):
        for column, value in row.terms:
            entries[column].append(f" {name[column]} r{number} {value!r}")
    ends = [(f"r{number}", *_end(row)) for number, row in enumerate(rows)]
    lines = [f"* r{number}: {ascii(str(row.key))[1:-1]}" for number, row in enumerate(rows)]
    lines += ["NAME korch", "ROWS", " N cost", *(f" {sense} {r}" for r, sense, _ in ends), "COLUMNS"]
    lines += [" MARK0 'MARKER' 'INTORG'", *(line for own in entries for line in own), " MARK1 'MARKER' 'INTEND'", "RHS"]
    lines += [f" RHS {r} {end!r}" for r, _, end in ends if end]
    lines += ["BOUNDS", *(f" BV BOUND {n}" for n in name), "ENDATA"]
    return "\n".join(lines) + "\n"


def proof_text(certificate: Certificate) -> str:
    """The plan, its cost, the bound and the tree, as JSON with a line for each node."""
    name = _names(certificate.problem)
    head = {
        "plan": [f"k{i}" for i in certificate.plan],
        "cost": f"{certificate.cost:f}",
        "bound": f"{Decimal(repr(certificate.bound)):f}",
    }
    nodes = ",\n".join(json.dumps(_node(n, name)) for n in certificate.nodes)
    return f'{json.dumps(head)[:-1]},\n"nodes": [\n{nodes}\n]}}\n'


def candidates_text(certificate: Certificate, kernels: Mapping[int, str]) -> str:
    """The meaning of the columns, as JSON with a line for each: the tensor that a candidate makes, those that it reads,
    those that it computes inside, and a word on its kernel, by id. And the outputs, and the rows that state limits."""
    problem = certificate.problem
    output = {q.id: q.output for q in problem.primitives}
    lines = [
        json.dumps(
            {
                "name": f"k{k.id}",
                "makes": k.root,
                "reads": list(k.reads),
                "computes": sorted({output[q] for q in k.holds if q in output}),
                "kernel": kernels.get(k.id, ""),
            }
        )
        for k in problem.candidates
    ]
    limits = [f"r{number}" for number, row in enumerate(certificate.rows) if isinstance(row.key, OutputError)]
    joined = ",\n".join(lines)
    head = json.dumps({"outputs": list(problem.outputs), "limits": limits})
    return f'{head[:-1]},\n"candidates": [\n{joined}\n]}}\n'


def _node(node: Node, name: Sequence[str]) -> dict[str, object]:
    if isinstance(node, Fork):
        return {"fork": [name[k] for k in node.columns], "none": node.none, "some": node.some}
    rows = {f"r{number}": y for number, y in enumerate(node.rows.tolist()) if y}
    return {"rows": rows, "sides": node.sides.tolist()}


def _names(problem: Problem) -> list[str]:
    return [f"k{k.id}" for k in problem.candidates]


def _end(row: Row) -> tuple[str, float]:
    """The sense of a row in MPS, and its right-hand side."""
    return ("G", row.lower) if isfinite(row.lower) else ("L", row.upper)


def _tolerant(row: Row) -> Row:
    """A limit of error as `check` allows it: the bound is one on all plans that pass."""
    return replace(row, upper=row.upper + BUDGET_TOLERANCE) if isinstance(row.key, OutputError) else row


def _kept(plan: Sequence[int], rows: Iterable[Row]) -> list[Row]:
    """`rows` without any that the plan breaks: those would be a mistake, and prove nothing."""
    chosen = set(plan)
    sums = ((r, sum(v for k, v in r.terms if k in chosen)) for r in rows)
    return [r for r, value in sums if r.lower <= value <= r.upper]


def _sum(costs: Iterable[float]) -> Decimal:
    """The exact sum of the decimals that are written for `costs`."""
    total = Decimal(0)
    for cost in costs:
        total = EXACT.add(total, Decimal(repr(cost)))
    return total
