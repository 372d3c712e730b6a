"""What measuring a kernel gives."""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.contract import Variant


@dataclass(frozen=True, slots=True)
class Measurement:
    """A right kernel's cost.

    `seconds`: median of a run. `spread`: median absolute deviation over the median. `error`: the largest difference
    from the float64 reference over the reference's largest magnitude.
    """

    seconds: float
    spread: float = 0.0
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class Tally:
    """Samples taken; those of them during which a thread lost its processor; those below what is physically possible,
    which were rejected."""

    samples: int = 0
    disturbed: int = 0
    rejected: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.samples + other.samples, self.disturbed + other.disturbed, self.rejected + other.rejected)

    @property
    def busy(self) -> float:
        """The share of the samples that others disturbed."""
        return self.disturbed / max(self.samples, 1)


@dataclass(frozen=True, slots=True)
class Best:
    """What measuring all variants of a backend's offer for a cone came to; `seconds` is inf where none works."""

    variant: Variant
    seconds: float
    error: float = 0.0
    spread: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """Why a kernel has no cost. What is not `lasting` (killed from outside) is not remembered."""

    reason: str
    lasting: bool = True


@dataclass(frozen=True, slots=True)
class Unloadable:
    """A library that could not be loaded: which of its kernels is to blame is not known yet."""

    reason: str


@dataclass(frozen=True, slots=True)
class Last:
    """The last answer of a worker that cannot go on: after some errors a device answers nothing any more."""

    result: Measurement | Failed


Result = Measurement | Failed
