"""Costs of a plan that keep pace with the machine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.executable.small_plans import chain

from korch.executable.plan import Choice, RunnerUp
from korch.search.planned import paced


def test_costs_add_up_to_a_run_and_keep_their_proportions() -> None:
    plan = chain()
    costs = range(1, len(plan.steps) + 1)
    other = RunnerUp("onednn", "", 0.5)
    steps = tuple(replace(s, cost=c, runner_up=other) for s, c in zip(plan.steps, costs, strict=True))
    choices = (Choice("y", ("a",), ("b",), margin=0.25), Choice("z", ("a",), (), margin=None))
    plan = replace(plan, steps=steps, predicted_seconds=sum(costs), choices=choices)
    now = paced(plan, 3.0 * sum(costs))
    assert [s.cost for s in now.steps] == [3.0 * c for c in costs]
    assert now.predicted_seconds == pytest.approx(sum(s.cost for s in now.steps))
    assert {s.runner_up.cost for s in now.steps if s.runner_up} == {1.5}
    assert [c.margin for c in now.choices] == [0.75, None]


def test_a_plan_without_costs_stays() -> None:
    plan = replace(chain(), predicted_seconds=0.0)
    assert paced(plan, 1.0).steps == plan.steps
