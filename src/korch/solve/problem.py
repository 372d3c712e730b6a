"""The orchestration problem as pure data: what the program is built from, and what solving it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from korch.solve.keys import Edge, RowKey


@dataclass(frozen=True, slots=True)
class Candidate:
    """One kernel offered to the program. `cost` is in seconds, a lower bound or a measurement."""

    id: int
    root: str  # the tensor that the kernel makes
    reads: tuple[str, ...]  # leaves that somebody must make: graph inputs and constants are left out
    holds: frozenset[int]  # ids of the primitives inside
    cost: float


@dataclass(frozen=True, slots=True)
class PrimitiveRef:
    """One primitive as the program sees it; `inputs` leaves out graph inputs and constants."""

    id: int
    output: str
    inputs: tuple[str, ...]
    twin: bool = False  # only moves a tensor to its layout twin


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """The error that the graph output `output` may have: Σ shares of all primitives that a plan computes ≤ 1.

    `shares` maps loose primitives to v / E²: the variance of the error that the rounding of one causes at the output,
    in units of the variance allowed. A primitive that two kernels compute counts twice.
    """

    output: str
    shares: Mapping[int, float]


@dataclass(frozen=True)
class Problem:
    """Pick candidates of least total cost that make `outputs`, without a cycle.

    `classes` maps a tensor to the representative of its layout twins; a tensor that is left out is alone in its
    class. `budgets` bound the error of outputs; there are none where no primitive is loose.

    >>> twins = Problem(("y",), (), (), {"y_nhwc": "y"})
    >>> twins.class_of("y_nhwc"), twins.class_of("x")
    ('y', 'x')
    """

    outputs: tuple[str, ...]
    primitives: tuple[PrimitiveRef, ...]
    candidates: tuple[Candidate, ...]
    classes: Mapping[str, str] = field(default_factory=dict[str, str])
    budgets: tuple[ErrorBudget, ...] = ()

    def class_of(self, tensor: str) -> str:
        """The representative of the layout twins of `tensor`."""
        return self.classes.get(tensor, tensor)


class Status(Enum):
    """What is known about a plan, or how a solver ended."""

    OPTIMAL = "optimal"  # proved, up to the solver's tolerances
    FEASIBLE = "feasible"  # a plan, and a bound that does not meet its cost
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    NO_SOLUTION = "no solution"  # stopped before a plan was found
    FAILED = "failed"  # the solver crashed, was killed, or contradicted itself


@dataclass(frozen=True)
class Restart:
    """What the next solve starts from, under keys that outlive the program.

    The simplex basis: candidate ids and row keys with the solver's status codes. And the edge rows that were
    separated.
    """

    columns: Mapping[int, int]
    rows: Mapping[RowKey, int]
    edges: tuple[Edge, ...] = ()


@dataclass(frozen=True)
class Solution:
    """A plan that `check` has confirmed.

    `chosen` holds candidate ids in an order in which they can run. `bound` is a lower bound on the cost of every
    plan of the whole problem; `gap` = (cost - bound) / cost. `near` maps candidates that were not chosen to their
    reduced cost in the relaxation (seconds), least first: what is worth measuring next. `restart` speeds up the
    next solve. `columns` and `rows` are those of the program that was solved, after pruning, with the rows added
    lazily to its relaxation.
    """

    chosen: tuple[int, ...]
    cost: float
    bound: float
    gap: float
    status: Status
    near: Mapping[int, float] = field(default_factory=dict[int, float])
    restart: Restart | None = None
    columns: int = 0
    rows: int = 0
