"""How long graphs are, and which round counts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from korch.profile.cuda.timing import FEW, LEAST, SAMPLE, SLOW, timed

from .fake_board import FakeBoard


def runs(count: int) -> list:
    return [lambda i=i: None for i in range(count)]


def test_a_graph_is_long_enough_for_the_clock():
    board = FakeBoard(seconds=2e-6)
    assert timed(board, runs(1)) == (pytest.approx(2e-6), 0.0)
    assert board.graphs[-1] * 2e-6 >= SAMPLE


def test_each_set_of_buffers_takes_as_many_turns():
    board = FakeBoard(seconds=50e-6)
    timed(board, runs(7))
    assert board.graphs[-1] == 14 >= LEAST


def test_slow_kernels_run_a_few_times_only():
    board = FakeBoard(seconds=0.1)
    assert timed(board, runs(3))[0] == pytest.approx(0.1) and board.graphs == [4, 1]
    assert FEW == 3


def test_of_noisy_rounds_the_quietest_counts():
    rounds: Iterator[float] = iter((0.0, 0.5, 0.1, 0.2))

    def noise(samples: int) -> np.ndarray:
        return next(rounds) * np.linspace(0, 2, samples)

    seconds, spread = timed(FakeBoard(seconds=10e-6, noise=noise), runs(1))
    assert seconds == pytest.approx(11e-6) and 0.03 < spread < 0.06


@pytest.mark.parametrize("seconds", [1e-3, 10e-3])
def test_slow_kernels_use_few_of_many_sets_of_buffers(seconds: float):
    board = FakeBoard(seconds=seconds)
    assert seconds < SLOW and timed(board, runs(251)) == (pytest.approx(seconds), 0.0)
    assert board.graphs == [4, *([12] if seconds == 1e-3 else [10])]


def test_fast_kernels_use_all_sets_of_buffers():
    board = FakeBoard(seconds=10e-6)
    timed(board, runs(251))
    assert board.graphs[-1] == 251
