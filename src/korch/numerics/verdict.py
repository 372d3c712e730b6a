"""What a program errs beside what it may."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Verdict:
    """The worst output by its bound: how far it is from float64, and how far it may be (None: nobody can tell)."""

    output: str
    error: float
    allowed: float | None

    @property
    def passed(self) -> bool:
        return self.allowed is None or self.error <= self.allowed

    @property
    def excess(self) -> float:
        """The error in units of what is allowed."""
        return self.error / max(self.allowed, np.finfo(float).tiny) if self.allowed is not None else 0.0

    def text(self, numerics: str) -> str:
        """One line for messages."""
        return f"output {self.output!r} errs by {self.error:.1e}, numerics {numerics} allow {self.allowed:.1e}"
