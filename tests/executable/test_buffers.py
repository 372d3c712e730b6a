"""Arrays for outputs: aligned, and in memory of earlier ones only once nobody can see those."""

from __future__ import annotations

import numpy as np

from korch.executable.buffers import LARGE, Recycler, address, aligned_empty


def test_aligned() -> None:
    x = aligned_empty((3, 5), "float64")
    assert address(x) % 64 == 0 and x.shape == (3, 5) and x.dtype == np.float64


def test_memory_is_used_again_once_nobody_refers_to_it() -> None:
    recycler = Recycler((LARGE,), "float32")
    first = recycler.empty()
    at = address(first)
    part = first[10:20]
    del first
    second = recycler.empty()
    assert address(second) != at  # `part` is still there
    part[:] = 1.0
    del part
    assert address(recycler.empty()) == at
    assert address(second) % 64 == 0


def test_more_arrays_than_are_kept_are_all_different() -> None:
    recycler = Recycler((LARGE,), "uint8")
    held = [recycler.empty() for _ in range(5)]
    assert len({address(x) for x in held}) == 5


def test_small_arrays_are_not_kept() -> None:
    recycler = Recycler((2,), "float32")
    recycler.empty()
    assert not recycler._kept  # pyright: ignore[reportPrivateUsage]
