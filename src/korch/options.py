"""What a caller can ask of an optimisation."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from korch.errors import Error
from korch.numerics.bounds import BOUNDS, CEILING, own_bound
from korch.system.processor import processors

PATIENCE = 270.0
"""Seconds of tuning where the caller does not say."""
ENOUGH = 0.9
"""Of a time budget: a search with so much counts as one with all of it."""
TARGETS = ("cpu", "cuda")
COSTS = ("measured", "model")


@dataclass(frozen=True)
class Options:
    """`threads`: of the executable. `time_budget`: about how many seconds of tuning, after which the best
    plan so far is taken with its honest gap (what has begun then is finished, which takes half a minute more, over a
    minute for large models on slow machines); None for `PATIENCE`.

    `numerics`: how far the outputs may be from float64: `strict` 4 times onnxruntime's own error, `default` 1e-4,
    `fast` 1e-3 and `relaxed` 1e-2 of the largest output magnitude, or a number, as text, that says how much. `shapes`
    fixes dynamic inputs by name; `values` makes constants of inputs, numbers or nested lists of them.

    `target`: `cpu`, this machine's processor, or `cuda`, an NVIDIA GPU. `device`: which one, by the name of a
    description (`H100`) or the number of an installed one; empty for the first. `costs`: `measured`, or those of a
    `model` of the device, which need not be at hand.
    """

    threads: int = 0
    time_budget: float | None = None
    numerics: str = "default"
    shapes: Mapping[str, Sequence[int]] = field(default_factory=dict[str, Sequence[int]])
    target: str = "cpu"
    costs: str = "measured"
    device: str = ""
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self._check_numerics()
        for name, known in (("target", TARGETS), ("costs", COSTS)):
            if (value := getattr(self, name)) not in known:
                raise Error(f"{name} {value!r} is not one of {', '.join(known)}")
        self._check_target()
        if self.threads < 0:
            raise Error(f"threads must be positive, not {self.threads}")
        if self.time_budget is not None and not self.time_budget > 0:
            raise Error(f"the time budget must be positive, not {self.time_budget}")

    def _check_numerics(self) -> None:
        try:
            bound = own_bound(self.numerics)
        except ValueError:
            bound = 0.0
        if bound is not None and not 0 < bound <= CEILING:
            names = ", ".join(("strict", *BOUNDS))
            raise Error(f"numerics {self.numerics!r} are not {names} or a number up to {CEILING}")

    @property
    def unproved(self) -> bool:
        """Whether choices are welcome that hold only while values stay in ordinary ranges."""
        return (own_bound(self.numerics) or 0.0) >= BOUNDS["fast"]

    def _check_target(self) -> None:
        """Error where something is asked of one target that only the other has."""
        if self.target == "cuda" and self.threads:
            raise Error("threads are a processor's: do without them, or without target cuda")
        if self.target == "cpu" and self.device:
            raise Error(f"a device ({self.device!r}) is one of target cuda: give --target cuda too")
        if self.target == "cpu" and self.costs == "model":
            raise Error("costs are modelled for target cuda only: a processor's kernels are measured")

    @property
    def patience(self) -> float:
        """Seconds of tuning: those asked for, or `PATIENCE`."""
        return self.time_budget or PATIENCE

    @property
    def thread_count(self) -> int:
        """`threads`, or one for every processor this process may keep busy."""
        return self.threads or processors()

    def texts(self) -> dict[str, str]:
        """What was asked for, as the command line takes it: budget and shapes only where they were given."""
        shapes = " ".join(f"{name}={','.join(map(str, shape))}" for name, shape in sorted(self.shapes.items()))
        budget = "" if self.time_budget is None else f"{self.time_budget:g}"
        values = json.dumps(dict(sorted(self.values.items()))) if self.values else ""
        given = {"numerics": self.numerics, "time_budget": budget, "shapes": shapes, "values": values}
        return {**self._target_texts(), **{k: v for k, v in given.items() if v}}

    def _target_texts(self) -> dict[str, str]:
        if self.target == "cpu":
            return {"threads": str(self.thread_count)}
        return {"target": self.target, **({"device": self.device} if self.device else {}), "costs": self.costs}
