"""Error budgets: how much of each a candidate uses. Rounding errors are treated as independent, so variances add."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import numpy as np

from korch.solve.problem import ErrorBudget, Problem
from korch.system.samples import Floats

FULL = 1.0 + 1e-6
"""The part of a budget that a plan may use, with the tolerance of HiGHS and CBC."""
EQUAL = 1e-12
"""Shares that differ by less are the same sum in another order."""


def shares_of(problem: Problem) -> Floats:
    """[candidates, budgets]: the share of each budget that a candidate uses, Σ of the primitives that it holds."""
    result = np.zeros((len(problem.candidates), len(problem.budgets)))
    for b, budget in enumerate(problem.budgets):
        for column, k in enumerate(problem.candidates):
            result[column, b] = sum(budget.shares.get(q, 0.0) for q in sorted(k.holds & budget.shares.keys()))
    return result


def binding(problem: Problem) -> tuple[ErrorBudget, ...]:
    """The budgets that some plan could exceed: each tensor is made once, so the largest shares of the kernels that make
    one add up to a bound on every plan."""
    shares = shares_of(problem)
    most: dict[str, Floats] = {}
    for column, k in enumerate(problem.candidates):
        if k.cost == inf:
            continue
        most[k.root] = np.maximum(most.get(k.root, 0.0), shares[column])
    return tuple(b for i, b in enumerate(problem.budgets) if sum(float(own[i]) for own in most.values()) > 1.0)


def within_budgets(shares: Floats, columns: Iterable[int]) -> bool:
    """Whether a selection of `columns` keeps to every budget."""
    return bool((shares[list(columns)].sum(0) <= FULL).all())
