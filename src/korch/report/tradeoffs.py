"""Latency against error as a table and as a chart of characters."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10

from korch.search.tradeoffs import TradeOff

WIDTH, HEIGHT = 60, 12
"""Characters of the chart."""
HEADS = ("estimated error", "error", "allowed", "predicted ms", "measured ms", "loose kernels")


def table(found: Sequence[TradeOff]) -> str:
    """A line for each plan, the fastest first."""
    rows = [HEADS, *(_cells(x) for x in found)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(c.rjust(w) for c, w in zip(row, widths, strict=True)) for row in rows)


def _cells(x: TradeOff) -> tuple[str, ...]:
    measured = "-" if x.measured_ms is None else f"{x.measured_ms:.3f}"
    loose = f"{x.loose} of {x.kernels}"
    return f"{x.estimated_error:.1e}", f"{x.error:.1e}", f"{x.allowed:.1e}", f"{x.predicted_ms:.3f}", measured, loose


def chart(found: Sequence[TradeOff]) -> str:
    """Milliseconds upwards, measured where they are, over the logarithm of the error that was found."""
    points = [(log10(max(x.error, 1e-12)), x.measured_ms or x.predicted_ms) for x in found]
    (left, right), (low, high) = _range([p[0] for p in points]), _range([p[1] for p in points])
    lines = [[" "] * (WIDTH + 1) for _ in range(HEIGHT + 1)]
    for x, y in points:
        lines[round((high - y) / (high - low) * HEIGHT)][round((x - left) / (right - left) * WIDTH)] = "o"
    texts = [f"{high - i * (high - low) / HEIGHT:10.3f} |{''.join(line).rstrip()}" for i, line in enumerate(lines)]
    ends = f"{10**left:.1e}".ljust(WIDTH // 2) + f"{10**right:.1e}".rjust(WIDTH // 2 + 1)
    return "\n".join(["ms".rjust(10), *texts, " " * 11 + "+" + "-" * (WIDTH + 1), f"{'error'.rjust(10)}  {ends}"])


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The least and the largest, not equal."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 0.5, high + 0.5)
