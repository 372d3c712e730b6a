"""The summary of `korch optimize` says how far the plan may be from the best one, and how the machine was."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from korch.cli.optimize import BUSY, _disturbance, _looser_text
from korch.report.explain import gap_text


def disturbance(busy: float, rejected: int) -> list[str]:
    summary: Any = SimpleNamespace(busy=busy, rejected_samples=rejected)
    return _disturbance(summary)


def test_a_quiet_machine_is_not_mentioned_and_a_busy_one_is():
    assert disturbance(BUSY, 0) == []
    assert disturbance(0.31, 0) == ["a busy machine: 31% of the samples were disturbed and do not count"]


def test_rejected_samples_are_mentioned():
    assert disturbance(0.0, 2) == ["2 samples below what the machine can do, rejected"]


def test_the_two_gaps_are_told_apart():
    assert gap_text(0.012, 0.35) == (
        "at most 1.2% above the cheapest plan if no unmeasured kernel beats the best of its kind, "
        "35.0% whatever these take"
    )


def test_looser_numerics_are_mentioned_where_they_save_a_hundredth():
    def text(looser: str, ms: float) -> list[str]:
        summary: Any = SimpleNamespace(looser=looser, looser_ms=ms, predicted_ms=10.0)
        return _looser_text(summary)

    assert text("fast", 8.0) == ["--numerics fast would save 20.0%: 8.000 ms predicted"]
    assert text("fast", 9.95) == text("", 8.0) == []
