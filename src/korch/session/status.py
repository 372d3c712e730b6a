"""The status of a session: which runtime serves each binding, and since when."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class SpecialisationStatus:
    """One binding: the `shapes` of inputs, and the `values` of those that decide what is computed.

    `state`: see `State`; `since`: a time in seconds since the epoch. `calls` with these shapes; `base_ms`,
    `program_ms`: a run by onnxruntime and by the program when it was judged, 0 where it was not. `reason`: why there is
    no program in use. `archive`: for `korch explain`.
    """

    shapes: Mapping[str, tuple[int, ...]]
    values: Mapping[str, Any]
    state: str
    since: float
    calls: int
    base_ms: float
    program_ms: float
    reason: str
    archive: str

    def __str__(self) -> str:
        parts = [f"{name}={','.join(map(str, shape))}" for name, shape in self.shapes.items()]
        parts += [f"{name} is {value}" for name, value in self.values.items()]
        inputs = " ".join(parts) or "no inputs"
        when = time.strftime("%H:%M:%S", time.localtime(self.since))
        speed = f", {self.program_ms:.3f} ms, onnxruntime {self.base_ms:.3f} ms" if self.base_ms else ""
        calls = f", {self.calls} calls" if self.calls else ""
        return f"{inputs}: {self.state} since {when}{calls}{speed}{f': {self.reason}' if self.reason else ''}"


@dataclass(frozen=True)
class SessionStatus:
    """`tune`: background, now or off, and why it is off where the caller did not ask for that. `base_loaded`: whether
    onnxruntime's session is in memory; `base_calls`: calls that it has answered."""

    tune: str
    reason: str
    base_loaded: bool
    base_calls: int
    specialisations: tuple[SpecialisationStatus, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        base = f"onnxruntime: {'loaded' if self.base_loaded else 'let go'}, {self.base_calls} calls"
        tune = f"tune={self.tune}{f': {self.reason}' if self.reason else ''}"
        return "\n".join([tune, base, *map(str, self.specialisations)])
