"""What the lower bounds know of the machine: a calibrated roofline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """Best rates seen on this machine with `threads` threads.

    peak_flops: float32 operations a second, a multiply-add counting two. bandwidths: (bytes, bytes a second)
    pairs, ascending: the best rate at which a kernel moves a footprint of at most that size; the last is memory's.
    launch: seconds that the cheapest kernel takes.
    """

    threads: int
    peak_flops: float
    bandwidths: tuple[tuple[int, float], ...]
    launch: float
    name: str = ""

    def bandwidth(self, footprint: float) -> float:
        """The best bytes a second for a kernel that touches `footprint` bytes."""
        for size, rate in self.bandwidths:
            if footprint <= size:
                return rate
        return self.bandwidths[-1][1]

    def roofline(self, flops: float, moved: float) -> float:
        """Seconds that `flops` operations on `moved` compulsory bytes take at least."""
        return max(flops / self.peak_flops, moved / self.bandwidth(moved), self.launch)
