"""What a kernel finds in the caches when it is timed."""

from __future__ import annotations

from math import inf
from typing import cast

import numpy as np
import pytest

from korch.backends.cpu.loops import caches
from korch.ir import Builder, Cone
from korch.profile.runners import Clock, EntryRow, Native
from korch.profile.timing import TimedRuns, timed


class Recorder:
    """A clock that notes which buffers are to be warm."""

    def __init__(self) -> None:
        self.sizes: set[int] = set()

    def cold(self, call: object, count: int, warm: list[np.ndarray]) -> TimedRuns:
        self.sizes = {b.size for b in warm}
        return np.ones(count), np.zeros(count)


@pytest.mark.parametrize(("limit", "warm"), [(1 << 20, {1 << 20, 4096}), (1 << 19, {4096})])
def test_activations_are_warm_unless_they_outgrow_the_caches(
    limit: int, warm: set[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(caches, "OUTGROWN", limit)
    b = Builder()
    y = b.input("x", "float32", (256, 1024)) * b.input("s", "float32", (1024,)) + 1.0
    cone = Cone.of(b.graph([("y", y)]).primitives)
    buffers = [np.zeros(t.nbytes, np.uint8) for t in (*cone.leaves, cone.root)]
    clock = Recorder()
    kernel = Native(
        EntryRow(None, 1, None, 0, 0), cone, buffers[:-1], buffers[-1:], np.zeros(1, np.uint8), cast(Clock, clock)
    )
    assert kernel.time().seconds == 1.0 and clock.sizes == warm


@pytest.mark.parametrize(("enough", "once"), [(inf, False), (9.0, False), (1.0, True)])
def test_what_takes_more_than_is_enough_to_know_is_timed_roughly(enough: float, once: bool):
    """Samples of 4 seconds, a fifth up and down: a machine that is not quiet."""
    asked = list[int]()

    def samples(calls: int, count: int) -> TimedRuns:
        asked.append(count)
        return 4.0 * (1 + 0.2 * (np.arange(count) % 3 - 1)), np.zeros(count)

    timed(samples, True, enough)
    assert (asked == [3]) is once
