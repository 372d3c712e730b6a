"""What a caller can ask of an optimisation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from korch.errors import Error

PATIENCE = 420.0
"""Seconds of tuning where the caller does not say."""
NUMERICS = ("strict", "default", "fast")


@dataclass(frozen=True)
class Options:
    """`threads`: of the executable. `time_budget`: seconds of tuning, after which the best
    plan so far is taken with its honest gap; None for `PATIENCE`.

    `numerics`: how far the outputs may be from float64: `strict` 4 times onnxruntime's own error, `default` 1e-4
    and `fast` 1e-3 of the largest output magnitude. `shapes` fixes dynamic inputs by name.
    """

    threads: int = 0
    time_budget: float | None = None
    numerics: str = "default"
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.numerics not in NUMERICS:
            raise Error(f"numerics {self.numerics!r} is not one of {', '.join(NUMERICS)}")
        if self.threads < 0:
            raise Error(f"threads must be positive, not {self.threads}")
        if self.time_budget is not None and not self.time_budget > 0:
            raise Error(f"the time budget must be positive, not {self.time_budget}")

    @property
    def thread_count(self) -> int:
        """`threads`, or one for every processor this process may use."""
        return self.threads or len(os.sched_getaffinity(0))

    def texts(self) -> dict[str, str]:
        """What was asked for, as the command line takes it: budget and shapes only where they were given."""
        shapes = " ".join(f"{name}={','.join(map(str, shape))}" for name, shape in sorted(self.shapes.items()))
        budget = "" if self.time_budget is None else f"{self.time_budget:g}"
        given = {"time_budget": budget, "shapes": shapes}
        return {"threads": str(self.thread_count), "numerics": self.numerics, **{k: v for k, v in given.items() if v}}
