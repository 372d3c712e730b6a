"""What every solver is given and what every adapter returns, whatever the solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import fsum, inf

import numpy as np
from numpy.typing import NDArray

from korch.solve.problem import Status
from korch.solve.rows import Floats, Matrix

Codes = NDArray[np.int8]
NONBASIC_AT_LOWER, BASIC = 0, 1
"""HiGHS's codes, for columns and rows that an old basis does not know."""
MICRO = 1e6
"""Costs of programs are in microseconds."""
ROUNDING = 2.0**-51
"""Of the magnitude of a sum, for each of its terms: twice what rounding the product and adding it can change, and what
writing the factors as decimals and reading them again can change."""


@dataclass(frozen=True)
class Basis:
    """A simplex basis as the solver's own status codes, to start from; of use to the solver that returned it."""

    columns: Codes
    rows: Codes


@dataclass(frozen=True)
class Program:
    """Minimise cost · u over 0 ≤ u ≤ 1 and the rows; `integer` asks for u ∈ {0, 1}, otherwise its LP relaxation."""

    cost: Floats
    matrix: Matrix
    integer: bool = True
    start: Floats | None = None  # an incumbent, for an integer program
    basis: Basis | None = None  # for a relaxation
    method: str = "simplex"  # for a relaxation: "simplex" or "ipm"


@dataclass(frozen=True)
class Answer:
    """How a solver ended. `x` is its point if it has one; `bound` a lower bound on the optimum (-inf if none is
    known).

    `duals` (of the rows) and `basis` come with a relaxation solved to optimality.
    """

    status: Status
    x: Floats | None = None
    bound: float = -inf
    duals: Floats | None = None
    basis: Basis | None = None
    detail: str = ""


def dual_bound(program: Program, duals: Floats) -> tuple[float, Floats]:
    """A lower bound on the program that follows from row multipliers alone, and the reduced costs that go with it.

    For any y with the sign that each row's finite sides allow, cost · u ≥ Σ y_i side_i + Σ_j min(0, cost_j -
    (Aᵀy)_j) for all u in the unit box. So it holds whatever the solver's tolerances: multipliers of a wrong sign
    are set to zero first. It holds in spite of rounding, too: the most that rounding can add is taken off.
    """
    m, n = program.matrix, len(program.cost)
    y = allowed(m, duals)
    side = np.where(y > 0, m.lower, np.where(y < 0, m.upper, 0.0))
    reduced = program.cost - m.times_transpose(y, n)
    terms = np.bincount(m.columns, minlength=n) + 2
    magnitude = np.abs(program.cost) + replace(m, values=np.abs(m.values)).times_transpose(np.abs(y), n)
    least = np.minimum(reduced - ROUNDING * terms * magnitude, 0.0)
    bound = fsum((y * side).tolist()) + fsum(least.tolist())
    return bound - ROUNDING * float(np.abs(y * side).sum() + np.abs(least).sum()), reduced


def allowed(m: Matrix, duals: Floats) -> Floats:
    """`duals` without those whose sign their row does not allow."""
    y = np.where((duals > 0) & np.isinf(m.lower), 0.0, duals)
    return np.where((y < 0) & np.isinf(m.upper), 0.0, y)
