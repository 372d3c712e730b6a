"""What the measuring process is asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from korch.ir.cone import Cone
from korch.profile.physics import Physics, Work
from korch.profile.results import Result, Tally, Unloadable


@dataclass(frozen=True)
class Task:
    """Check and time one kernel: entry `index` of the compiled `library`, or the model `host`.

    `preload`: libraries to load before it, their names open to all. `helped`: whether threads take turns from each
    other. `work`: what it must do, and the best rates known: no sample may be shorter. `precision`: of the factors of
    its products.
    """

    cone: Cone
    library: str = ""
    index: int = 0
    preload: tuple[str, ...] = ()
    workspace: int = 0
    host: bytes | None = None
    helped: bool = False
    work: Work = field(default_factory=Work)
    physics: Physics = field(default_factory=Physics)
    precision: str = ""


@dataclass(frozen=True)
class Answered:
    """What became of a task, the samples that it took, and the best rates that the process has seen."""

    result: Result | Unloadable
    tally: Tally
    physics: Physics


@dataclass(frozen=True)
class Calibrate:
    """Measure the machine itself."""


@dataclass(frozen=True)
class Now:
    """Tell the machine's pace (`pace.py`)."""


@dataclass(frozen=True)
class Rates:
    """`peak` operations a second, (footprint, bytes a second) pairs, seconds of an empty kernel."""

    peak: float
    bandwidths: tuple[tuple[int, float], ...]
    launch: float
