"""How a kernel is timed on a device: many copies in a graph, and again where others disturbed that."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice
from math import ceil

import numpy as np

from korch.profile.cuda.board import Board, Run

FIRST = 4
"""Copies whose time says how many there should be."""
SAMPLE = 300e-6
"""Seconds that a replay should take, so that starting it and the clock cost nothing."""
LEAST, MOST = 10, 1000
"""Copies in a graph."""
ROTATING = 10 * SAMPLE
"""Seconds after which sets of buffers may repeat: next to that, reading a whole cache again from memory is nothing."""
SAMPLES, FEW, SLOW = 9, 3, 20e-3
"""Replays that are timed; fewer of kernels that take longer than `SLOW` seconds."""
NOISY, ROUNDS = 0.03, 3


def timed(board: Board, runs: Sequence[Run]) -> tuple[float, float]:
    """Seconds of a run, and their spread: the median of replays, of the quietest of some rounds.

    `runs`: the same kernel on each set of its buffers, which take turns: only some of them where the kernel is so slow
    that it does not notice.
    """
    first = float(board.time(list(islice(cycle(runs), FIRST)), 2).min()) / FIRST
    if first > SLOW:
        return _statistics(board, runs[:1], FEW)
    runs = runs[: ceil(ROTATING / max(first, 1e-9))]
    work = list(islice(cycle(runs), _copies(first, len(runs))))
    rounds: list[tuple[float, float]] = []
    while len(rounds) < ROUNDS and (not rounds or rounds[-1][1] > NOISY):
        rounds.append(_statistics(board, work, SAMPLES))
    return min(rounds, key=lambda r: r[1])


def _copies(seconds: float, sets: int) -> int:
    """As many as fill a sample, and each set of buffers as often as the others."""
    wanted = min(max(ceil(SAMPLE / max(seconds, 1e-9)), LEAST), MOST)
    return ceil(wanted / sets) * sets


def _statistics(board: Board, work: Sequence[Run], samples: int) -> tuple[float, float]:
    seconds = board.time(work, samples) / len(work)
    middle = float(np.median(seconds))
    return middle, float(np.median(np.abs(seconds - middle))) / max(middle, 1e-12)
