"""Problems of the size of real networks are solved, or nearly, in seconds."""

from __future__ import annotations

import pytest

from korch.solve.solve import solve
from korch.system.deadline import Deadline

from .synthetic import cnn, problem, transformer

SIZES = {
    "transformer": (transformer(14), {"depth": 10}),  # 743 primitives, 26,700 candidates
    "transformer, two layouts": (transformer(5, twins=True), {}),  # 1,064 and 45,400
    "cnn": (cnn(35), {}),  # 461 and 11,100
    "cnn, two layouts": (cnn(16, twins=True), {}),  # 856 and 38,200
}


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.03, 0.15])
@pytest.mark.parametrize("name", SIZES)
def test_large_problems(name: str, noise: float) -> None:
    net, limits = SIZES[name]
    p, deadline = problem(*net, noise=noise, **limits), Deadline.after(60)
    found = solve(p, deadline=deadline.within(55))
    assert found.gap <= 0.01 and not deadline.passed
