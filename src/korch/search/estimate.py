"""The cost of a kernel as far as it is known: one value, from nothing measured to timed in a program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import isinf


class Evidence(IntEnum):
    """Where an estimate comes from; more counts for more."""

    NONE = 0
    """A roofline, and how near others of the kind came to theirs."""
    ALONE = 1
    """A measurement of the kernel by itself."""
    IN_PROGRAM = 2
    """A measurement inside a linked program."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of a kernel in a program.

    `lower`: physics, which no observation may undercut. `expected`: the best guess. `spread`: the share of it by which
    the cost may differ.
    """

    lower: float
    expected: float
    spread: float
    evidence: Evidence

    @property
    def measured(self) -> bool:
        return self.evidence > Evidence.NONE

    @property
    def seconds(self) -> float:
        """Expected of a measured kernel; infinite without a measurement, as only measured kernels can be in a plan."""
        return self.expected if self.measured else float("inf")

    @property
    def physical(self) -> float:
        """Expected of a measured kernel, else what physics allow."""
        return self.expected if self.measured else self.lower

    @property
    def optimistic(self) -> float:
        """The least that the kernel may take."""
        return self.expected if isinf(self.expected) else max(self.lower, (1 - self.spread) * self.expected)

    @property
    def pessimistic(self) -> float:
        """The most that a measured kernel may take."""
        return (1 + self.spread) * self.seconds
