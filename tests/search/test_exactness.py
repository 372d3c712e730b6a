"""Plans that err too much get exact kernels where that helps most, as few as fit."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from korch.numerics.verdict import Verdict
from korch.search.exactness import Refinement
from korch.search.exchange import Exchange
from korch.search.steering import CLOSE_ENOUGH_ERROR, REFINEMENTS, WEIGHED_GROUPS
from korch.system.deadline import NEVER, Deadline

from .rough_plans import precisions, search

ALLOWED = 1e-3


class Runs:
    """Programs whose rounding kernels err by `shares` of what is allowed, independent of each other."""

    def __init__(self, *shares: float, narrow: bool = False) -> None:
        self.shares, self.narrow, self.plans = shares, narrow, list[list[str]]()
        self.closed = 0

    def __call__(self, plan: Any) -> tuple[Any, Verdict]:
        self.plans.append(precisions(plan))
        return self, self.verdict(plan)

    def verdict(self, plan: Any) -> Verdict:
        rough = [s for s, v in zip(self.shares, precisions(plan), strict=True) if v == "fp16"]
        return Verdict("y", inf if self.narrow and rough else ALLOWED * sum(s * s for s in rough) ** 0.5, ALLOWED)

    def close(self) -> None:
        self.closed += 1


def fitted(runs: Runs, until: Deadline = NEVER) -> Any:
    ledger, tuned, plan = search(*[16] * len(runs.shares))
    return Refinement(runs, until).fitting(Exchange(plan, ledger, tuned), runs.verdict(plan))


def test_kernels_are_exact_whose_errors_reach_the_outputs():
    runs = Runs(0.2, 0.2, 1.5, 0.2, 0.2, 0.2, 0.9, 0.2)
    plan = fitted(runs)
    assert [k for k, v in enumerate(precisions(plan)) if v != "fp16"] == [2, 6]
    assert runs.verdict(plan).passed and runs.closed == len(runs.plans) <= WEIGHED_GROUPS + REFINEMENTS


@pytest.mark.parametrize("count", [3, 16, 40])
def test_no_more_kernels_are_exact_than_must_be(count: int):
    runs = Runs(*[2.0 / count**0.5] * count)
    plan = fitted(runs)
    assert runs.verdict(plan).passed
    most = max(n for n in range(count) if (n / count) ** 0.5 * 2.0 <= 1.0)
    assert most - 1 <= precisions(plan).count("fp16") <= most or runs.verdict(plan).excess >= CLOSE_ENOUGH_ERROR
    assert len(runs.plans) <= WEIGHED_GROUPS + REFINEMENTS


def test_without_time_the_first_that_fits_is_taken():
    runs = Runs(*[0.5] * 16)
    plan = fitted(runs, until=Deadline(0.0))
    assert runs.verdict(plan).passed and len(runs.plans) <= 2


def test_what_overflows_is_done_without():
    runs = Runs(0.2, 0.2, narrow=True)
    assert precisions(fitted(runs)) == ["bf16x3"] * 2


def test_nothing_is_made_of_a_plan_that_cannot_be_more_exact():
    ledger, tuned, plan = search(16, 16)
    exact = Exchange(Exchange(plan, ledger, tuned).exact_but([]), ledger, tuned)
    runs = Runs(1.0, 1.0)
    assert Refinement(runs, inf).fitting(exact, Verdict("y", 2e-3, ALLOWED)) is None and not runs.plans
    assert Refinement(runs, inf).fitting(exact, Verdict("y", inf, ALLOWED)) is None and not runs.plans
