"""The independent check rejects wrong plans and says what is wrong; solvers' answers are what their statuses say."""

from __future__ import annotations

import signal
from math import inf
from pathlib import Path

import numpy as np
import pytest

from korch.errors import SolverError
from korch.solve.check import check
from korch.solve.greedy import greedy
from korch.solve.highs import Highs
from korch.solve.keys import Output
from korch.solve.problem import Candidate, PrimitiveRef, Problem, Status
from korch.solve.program import Program, dual_bound
from korch.solve.prune import prune
from korch.solve.rows import Row, matrix
from korch.system.deadline import Deadline

from . import solve_pulp


def kernel(i: int, root: str, reads: str, cost: float = 1.0) -> Candidate:
    return Candidate(i, root, tuple(reads.split()), frozenset({i}), cost)


@pytest.fixture
def loop() -> Problem:
    kernels = (kernel(0, "a", ""), kernel(1, "a", "b"), kernel(2, "b", "a"), kernel(3, "c", "b"), kernel(4, "d", "c"))
    return Problem(("c",), tuple(PrimitiveRef(k.id, k.root, k.reads) for k in kernels), kernels)


def test_a_plan_comes_back_in_running_order_without_what_is_useless(loop: Problem) -> None:
    plan = check(loop, [4, 3, 2, 0], cost=4.0)
    assert plan.ids == (0, 2, 3) and plan.cost == 3.0


@pytest.mark.parametrize(
    "chosen, cost, message",
    [
        ([0, 2], None, "no kernel makes the output c"),
        ([3, 0], None, "kernel 3 reads b, which no kernel makes"),
        ([1, 2, 3], None, "cyclic: kernel 1 makes a from b, kernel 2 makes b from a"),
        ([0, 2, 3], 2.5, "a cost of 2.5 s for a plan that costs 3 s"),
        ([0, 2, 3, 77], None, "candidate 77"),
    ],
)
def test_wrong_plans_are_rejected(loop: Problem, chosen: list[int], cost: float | None, message: str) -> None:
    with pytest.raises(SolverError, match=message):
        check(loop, chosen, cost=cost)


def test_greedy_never_returns_a_cycle(loop: Problem) -> None:
    columns = greedy(loop, weights=[9.0, 0.0, 0.0, 0.0, 0.0])
    assert columns is not None and check(loop, columns).ids == (0, 2, 3)


def test_pruning_drops_what_is_dominated_or_no_cheaper_than_its_split() -> None:
    kernels = (
        kernel(0, "m", "", 1.0),
        kernel(1, "r", "m", 1.0),
        kernel(2, "r", "", 2.0),  # splits at m at no cost
        kernel(3, "r", "m x", 1.0),  # reads more than kernel 1
        kernel(4, "x", "", 1.0),  # of no use without kernel 3, but still in reach of it
    )
    p = Problem(("r",), tuple(PrimitiveRef(k.id, k.root, k.reads) for k in kernels), kernels)
    assert prune(p) == [0, 1, 4]
    assert prune(p, upper=[inf] * 5) == [0, 1, 2, 3, 4]  # nothing is measured: nothing is dominated for sure
    assert prune(p, lower=[1, 1, 1.9, 1, 1], upper=[1, 1, inf, inf, 1]) == [0, 1, 2, 4]


def program(lower: float, upper: float, *, integer: bool = True) -> Program:
    """Minimise u0 + 2 u1 with lower <= u0 + u1 <= upper."""
    return Program(np.array([1.0, 2.0]), matrix([Row(Output("r"), ((0, 1.0), (1, 1.0)), lower, upper)]), integer)


@pytest.mark.parametrize("solver", ["highs", "cbc"])
@pytest.mark.parametrize(
    "lower, upper, status, bound",
    [(1, inf, Status.OPTIMAL, 1), (1.5, 2, Status.OPTIMAL, 3), (3, inf, Status.INFEASIBLE, inf)],
)
def test_statuses(solver: str, lower: float, upper: float, status: Status, bound: float, highs: Highs) -> None:
    run = highs.solve if solver == "highs" else solve_pulp.solve
    deadline = Deadline.after(300)  # of wall time: a machine that stands still for seconds proves nothing
    answer = run(program(lower, upper), deadline)
    assert (answer.status, answer.bound) == (status, pytest.approx(bound))


def test_a_killed_solver_is_an_answer_and_the_next_one_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    with Highs() as solver:
        solver.solve(program(1, inf), Deadline.after(300))
        assert solver._process is not None
        solver._process.kill()
        assert solver.solve(program(1, inf), Deadline.after(300)).status is Status.FAILED
        assert solver.solve(program(1, inf), Deadline.after(300)).status is Status.OPTIMAL
        solver._process.send_signal(signal.SIGSTOP)  # a solver that ignores its time limit
        monkeypatch.setattr("korch.solve.highs.GRACE", -299.9)
        assert solver.solve(program(1, inf), Deadline.after(300)).status is Status.NO_SOLUTION


def test_a_solver_that_does_not_start_says_nothing_to_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It imports what this process does, here another highspy."""
    (tmp_path / "highspy.py").write_text("raise ImportError('no solver')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with Highs() as solver:
        assert solver.solve(program(1, inf), Deadline.after(300)).status is Status.FAILED
    assert capfd.readouterr() == ("", "")


def test_a_machine_that_has_no_process_left_is_an_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object, **__: object) -> None:
        raise BlockingIOError("no process left")

    with Highs() as solver:
        with monkeypatch.context() as patch:
            patch.setattr("subprocess.Popen", none_left)
            answer = solver.solve(program(1, inf), Deadline.after(300))
        assert answer.status is Status.FAILED and "no process left" in answer.detail
        assert solver.solve(program(1, inf), Deadline.after(300)).status is Status.OPTIMAL


def test_the_dual_bound_needs_no_trust_in_the_multipliers() -> None:
    p = program(1, inf, integer=False)
    assert dual_bound(p, np.array([1.0]))[0] == pytest.approx(1.0)
    assert dual_bound(p, np.array([-3.0]))[0] <= 1.0  # of the wrong sign
    assert dual_bound(p, np.array([50.0]))[0] <= 1.0  # far too large
