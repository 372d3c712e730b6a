"""What the lower bounds know of the machine: a calibrated roofline."""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Machine:
    """Best rates seen on this machine with `threads` threads.

    peak_flops: float32 operations a second, a multiply-add counting two. bandwidths: (bytes, bytes a second)
    pairs, ascending: the best rate at which a kernel moves a footprint of at most that size; the last is memory's.
    launch: seconds that the cheapest kernel takes. moves: (bytes, seconds) pairs, ascending: what the simplest
    generated kernels take that move so much. elements: seconds that an elementwise operator adds for one element.
    peaks: (precision, operations a second) of matrix products in other precisions (`tf32`, `fp16`, `bf16`).
    """

    threads: int
    peak_flops: float
    bandwidths: tuple[tuple[int, float], ...]
    launch: float
    name: str = ""
    moves: tuple[tuple[int, float], ...] = ()
    elements: tuple[tuple[str, float], ...] = ()
    peaks: tuple[tuple[str, float], ...] = ()

    def peak(self, precision: str) -> float:
        """Operations a second of matrix products whose factors are rounded to `precision`."""
        return dict(self.peaks).get(precision, self.peak_flops)

    def bandwidth(self, footprint: float) -> float:
        """The best bytes a second for a kernel that touches `footprint` bytes."""
        for size, rate in self.bandwidths:
            if footprint <= size:
                return rate
        return self.bandwidths[-1][1]

    def moving(self, moved: float) -> float:
        """Seconds that any kernel takes at least to move `moved` bytes: between two sizes that were timed, no more than
        at the rate of the smaller, as a cache may end between them."""
        if not self.moves or moved > self.moves[-1][0]:
            return max(moved / self.bandwidth(moved), self.launch)
        sizes, seconds = zip(*self.moves, strict=True)
        between = float(np.interp(moved, sizes, seconds))
        last = bisect_right(sizes, moved) - 1
        return min(between, seconds[last] * moved / sizes[last]) if last >= 0 else between

    def roofline(self, flops: float, moved: float, heavy: float = 0.0) -> float:
        """Seconds that `flops` operations on `moved` compulsory bytes take at least.

        `heavy`: seconds of elementwise functions, which are arithmetic too.
        """
        return max(flops / self.peak_flops, self.moving(moved), heavy)

    def element(self, op: str) -> float:
        """Seconds that one element of `op` costs beyond moving it; 0 where it is not known."""
        return dict(self.elements).get(op, 0.0)


def machine_from_json(text: str) -> Machine:
    """The machine whose fields `text` has; JSON keeps its tables as lists. ValueError where it is no machine."""
    try:
        facts: dict[str, Any] = json.loads(text)
        for name in ("bandwidths", "moves", "elements", "peaks"):
            facts[name] = tuple((key, float(number)) for key, number in facts.get(name, ()))
        found = Machine(**facts)
        rates = [found.threads, found.peak_flops, *(rate for _, rate in found.bandwidths)]
        if not (found.bandwidths and found.launch >= 0 and all(rate > 0 for rate in rates)):
            raise ValueError("a rate is not positive")
        return found
    except (TypeError, AttributeError) as e:
        raise ValueError(f"no machine: {e}") from None
