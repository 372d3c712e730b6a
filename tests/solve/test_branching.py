"""Branch and bound: what it makes of what solvers say."""

from __future__ import annotations

from math import inf

import numpy as np

from korch.solve.branching import cheapest
from korch.solve.problem import Candidate, PrimitiveRef, Problem, Status
from korch.solve.program import Answer, Program
from korch.solve.rows import all_rows, incidence
from korch.system.deadline import Deadline


def test_that_nothing_exists_is_not_believed_where_there_is_a_plan():
    kernels = (Candidate(0, "y", (), frozenset({0}), 1.0), Candidate(1, "y", (), frozenset({0}), 2.0))
    p = Problem(("y",), (PrimitiveRef(0, "y", ()),), kernels)

    def confused(program: Program, deadline: Deadline) -> Answer:
        return Answer(Status.INFEASIBLE, bound=inf)

    asked = p, np.array([1.0, 2.0]), all_rows(p, incidence(p)), np.ones(2, np.bool_)
    assert cheapest(*asked, (0,), confused, Deadline.after(300)) == (None, -inf)
    assert cheapest(*asked, None, confused, Deadline.after(300)) == (None, inf)
