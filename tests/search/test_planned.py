"""Costs of a plan that keep pace with the machine."""

from __future__ import annotations

from dataclasses import replace

from tests.executable.small_plans import chain

from korch.executable.plan import Choice, RunnerUp
from korch.executable.profile import Profile
from korch.search.planned import as_timed


def test_steps_cost_what_they_took_and_the_rest_scales_alike() -> None:
    plan = chain()
    other = RunnerUp("onednn", "", 0.5)
    steps = tuple(replace(s, cost=1.0, lower=0.5, runner_up=other) for s in plan.steps)
    choices = (Choice("y", ("a",), ("b",), margin=0.25), Choice("z", ("a",), (), margin=None))
    plan = replace(plan, steps=steps, predicted_seconds=float(len(steps)), choices=choices)
    times = [2.0 + k for k in range(len(steps))]
    now = as_timed(plan, Profile(tuple(times), sum(times), 20))
    assert [s.cost for s in now.steps] == times
    assert now.predicted_seconds == sum(times)
    pace = sum(times) / len(steps)
    assert {s.runner_up.cost for s in now.steps if s.runner_up} == {0.5 * pace}
    assert [c.margin for c in now.choices] == [0.25 * pace, None]


def test_no_step_costs_less_than_physics_allow() -> None:
    plan = chain()
    plan = replace(plan, steps=tuple(replace(s, cost=1.0, lower=0.5) for s in plan.steps))
    now = as_timed(plan, Profile((0.1,) * len(plan.steps), 1.0, 20))
    assert {s.cost for s in now.steps} == {0.5}


def test_a_plan_without_costs_scales_nothing() -> None:
    plan = replace(chain(), predicted_seconds=0.0, choices=(Choice("y", ("a",), ("b",), margin=0.25),))
    assert as_timed(plan, Profile((1.0,) * len(plan.steps), 1.0, 20)).choices == plan.choices
