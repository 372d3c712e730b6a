"""The rates of a device itself, from which lower bounds follow."""

from __future__ import annotations

from korch.profile.cuda.board import Board, Run
from korch.profile.cuda.tasks import BoardRates

SIDES = (4096, 8192)
"""Of square matrices: the largest products reach the most."""
PRECISIONS = ("ieee", "tf32", "fp16", "bf16")
SIZES = tuple(1 << shift for shift in range(10, 29, 2))
"""Bytes that are copied."""
COPIES, SAMPLES = 50, 15
PRODUCTS = 4
LONG = 1 << 24
"""Bytes from which on a few copies are enough."""


def measured_rates(board: Board) -> BoardRates:
    """The best of several replays each."""
    peaks = tuple((p, max(_product_rate(board, p, side) for side in SIDES)) for p in PRECISIONS)
    copies = tuple((2 * size, _best(board, board.copy(size), 5 if size >= LONG else COPIES)) for size in SIZES)
    return BoardRates(peaks, copies, _best(board, board.nothing(), COPIES))


def _product_rate(board: Board, precision: str, side: int) -> float:
    return 2 * side**3 / _best(board, board.product(precision, side), PRODUCTS)


def _best(board: Board, run: Run, copies: int) -> float:
    """Seconds of a run, all of them in one graph."""
    board.finish(run)
    return float(board.time([run] * copies, SAMPLES).min()) / copies
