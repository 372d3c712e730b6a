"""Maps whose innermost axis is channels that lie apart in what they read: an image that turns channels-last, its halves
and quarters as channels. Vectors along the loop around the channels change places in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from korch.backends.cpu.loops.binding import Schedule, Stage, within
from korch.backends.cpu.loops.language import C, c_index
from korch.backends.cpu.loops.tile import registers
from korch.backends.cpu.loops.wide import Wide, along_loop
from korch.backends.cpu.loops.writer import Writer, target
from korch.backends.maps.index import Index, Var
from korch.backends.maps.trace import Trace

TOGETHER = 4
"""Channels whose vectors change places."""
MOST = 256
"""Channels. Four after the other are written into the same lines, which stay in the first-level cache. (An image turned
channels-last on Zen 4, in registers and without: 24 channels at 112x112 24 and 61 us, 128 at 64x64 62 and 261, 256 at
32x32 35 and 175.)"""


@dataclass(frozen=True)
class Interleaved:
    """What the turns of `loops`, of which the last takes whole vectors, do: one vector for each channel, and the
    address of the first channel's first number."""

    loops: tuple[Var, ...]
    channels: tuple[Wide, ...]
    place: str

    @property
    def lanes(self) -> int:
        return self.channels[0].lanes

    def body(self) -> Iterator[str]:
        """C for one turn."""
        lanes, count = self.lanes, len(self.channels)
        for first in range(0, count, TOGETHER):
            some = range(first, first + TOGETHER)
            yield f"korch_f{lanes} {', '.join(f'y{i}' for i in some)};"
            for i in some:
                yield f"{{ {' '.join(self.channels[i].lines)} y{i} = {self.channels[i].value}; }}"
            yield f"korch_interleave{lanes}({self.place} + {first}, {count}, {', '.join(f'y{i}' for i in some)});"


def interleaved(writer: Writer, parts: Sequence[tuple[Stage, Schedule]]) -> Interleaved | None:
    """How vectors do what the nests of `parts` do, which stand in the same outer loops and store neighbours; None where
    they cannot."""
    stage, plan = parts[0]
    if len(stage.loops) < 2 or plan.streams(stage):
        return None
    *_, along, _ = stage.loops
    count = sum(s.loops[-1].extent for s, _ in parts)
    if count % TOGETHER or count > MOST or along.extent % registers().lanes:
        return None
    turns = [one for part in parts for one in _turns(*part)]
    places = [plan.destination(s) for s, plan in turns]
    beside = all(at - places[0] == Index(i) for i, at in enumerate(places))
    if not beside or places[0].coefficient(along) != count:
        return None
    channels = [_along(writer, *turn, along) for turn in turns]
    if None in channels:
        return None
    return Interleaved(stage.loops[:-1], tuple(filter(None, channels)), f"{target(stage)} + {c_index(places[0])}")


def _turns(stage: Stage, plan: Schedule) -> Iterator[tuple[Stage, Schedule]]:
    """Every turn of the last loop by itself."""
    last = stage.loops[-1]
    for i in range(last.lo, last.hi):
        one = within(plan, stage.number, {last.name: (i, i + 1)})
        yield one.stages[stage.number], one


def _along(writer: Writer, s: Stage, plan: Schedule, along: Var) -> Wide | None:
    def traced(language: C) -> tuple[Trace, str]:
        trace, values = writer.trace(s, plan, language)
        return trace, values[0]

    return along_loop(along, traced)
