"""What a program errs beside what it may."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Verdict:
    """The worst output by its bound: how far it is from float64, and how far it may be. `allowed` is None where that
    cannot be judged; `reason` says why. `by_step`: each step of the program is right on what those before it made. That
    is the verdict where bytes fall to either side of a step (`korch.executable.by_step`)."""

    output: str
    error: float
    allowed: float | None
    reason: str = ""
    by_step: bool = False

    @property
    def judged(self) -> bool:
        return self.by_step or self.allowed is not None

    @property
    def passed(self) -> bool:
        return self.by_step or (self.allowed is not None and self.error <= self.allowed)

    @property
    def excess(self) -> float:
        """The error in units of what is allowed; 1 where it cannot be judged: worse than what passes, better than what
        is known to be wrong. At most 1 where each step is right."""
        excess = self.error / max(self.allowed, np.finfo(float).tiny) if self.allowed is not None else 1.0
        return min(excess, 1.0) if self.by_step else excess

    def text(self, numerics: str) -> str:
        """One line for messages."""
        if self.allowed is None:
            return f"output {self.output!r} cannot be judged: {self.reason}"
        return f"output {self.output!r} errs by {self.error:.1e}, numerics {numerics} allow {self.allowed:.1e}"
