"""Problems of the size of real networks are solved, or nearly, with little work."""

from __future__ import annotations

from importlib import import_module
from math import inf

import pytest

from korch.solve import frontier
from korch.solve.highs import Highs
from korch.solve.labels import DecisionGroup, Labels
from korch.solve.program import Answer, Program
from korch.solve.solve import solve
from korch.system.deadline import Deadline

from .synthetic import cnn, problem, transformer

NEARLY = 0.01
SIZES = {
    "transformer": (transformer(14), {"depth": 10}, 1_600_000),  # 743 primitives, 26,700 candidates
    "transformer, two layouts": (transformer(5, twins=True), {}, 1_100_000),  # 1,064 and 45,400
    "cnn": (cnn(35), {}, 90_000),  # 461 and 11,100
    "cnn, two layouts": (cnn(16, twins=True), {}, 40_000),  # 856 and 38,200
}
"""With the labels that the search may extend, half as many again as it did: 70,000 take a second."""


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("noise", [0.03, 0.15])
@pytest.mark.parametrize("name", SIZES)
def test_large_problems(name: str, noise: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one linear program and labels alone, until the gap is small. The limit of time is never reached."""
    net, limits, most = SIZES[name]
    extended, programs = list[int](), list[bool]()
    decide, run = frontier.decide, Highs.solve

    def counted(labels: Labels, group: DecisionGroup, limit: float) -> Labels:
        extended.append(len(labels))
        return decide(labels, group, limit)

    def relaxed(highs: Highs, program: Program, deadline: Deadline) -> Answer:
        programs.append(program.integer)
        return run(highs, program, deadline)

    solving = import_module("korch.solve.solve")
    monkeypatch.setattr(solving, "PROVED", NEARLY)
    monkeypatch.setattr(solving, "cheapest", lambda *_: (None, -inf))  # branch and bound, whose work nobody counts
    monkeypatch.setattr(frontier, "decide", counted)
    monkeypatch.setattr(Highs, "solve", relaxed)
    found = solve(problem(*net, noise=noise, **limits), deadline=Deadline.after(3600))
    assert found.gap <= NEARLY and sum(extended) <= most and programs == [False]
