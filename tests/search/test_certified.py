"""The problem of a certificate has the plan's own kernels, at the costs that were measured."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

import korch.search.certified as module
from korch.search.certified import certified_problem
from korch.solve.problem import Candidate, Problem


def test_a_kernel_that_an_unmeasured_offer_might_beat_is_a_candidate_beside_it(monkeypatch: pytest.MonkeyPatch):
    """Cone 0 was measured; of cone 1 another offer might take less than what was measured; cone 2 was not measured."""
    bound, seconds = (3.0, 1.0, 0.5), (3.0, 2.0, inf)
    free = Problem(("y",), (), tuple(Candidate(i, f"t{i}", (), frozenset(), 0.0) for i in range(3)))
    at = tuple(Candidate(i, f"t{i}", (), frozenset(), c) for i, c in enumerate(bound))
    costed = SimpleNamespace(free=free, problem=lambda _: Problem(("y",), (), at))
    monkeypatch.setattr(module, "Costed", lambda *_: costed)
    ledger: Any = SimpleNamespace(
        cones=(0, 1, 2), entry=lambda i: SimpleNamespace(seconds=seconds[i]), price=lambda i: 0.25 * (i == 1)
    )
    graph: Any = None
    problem, ids = certified_problem(graph, ledger, (0, 1), lambda _: 0.0)
    assert ids == (0, 4)
    assert [(k.id, k.root, k.cost) for k in problem.candidates[3:]] == [(4, "t1", 2.25)]
