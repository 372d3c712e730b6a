"""Kernels of a backend, built and checked: what the tests of generated code stand on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from korch.backends.contract import Backend, Kernel, Refusal
from korch.ir import Cone
from korch.profile import Database, Measurement, Profiler
from korch.profile.results import Result

THREADS = [pytest.param(1, marks=pytest.mark.slow), 2]
MANY_THREADS = [pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(3, marks=pytest.mark.slow)]
"""Of teams: what two threads share out shows most mistakes."""


def measured(backend: Backend, cones: Sequence[Cone], threads: int, folder: Path) -> list[tuple[Kernel, Result]]:
    """Every kernel of `cones`, all of which `backend` must take, with what checking it against float64 found. Seconds
    are not measured: see `untimed.py`."""
    assert [backend.refuses(cone) for cone in cones] == [None] * len(cones)
    kernels = [k for cone in cones for k in backend.build(cone, threads)]
    with Profiler(threads, Database(folder), worker=f"{__package__}.untimed") as profiler:
        return list(zip(kernels, profiler.measure(kernels), strict=True))


def wrong(results: Sequence[tuple[Kernel, Result]]) -> list[tuple[str, Result]]:
    """The kernels that are not right, as text."""
    return [(str(k.cone), r) for k, r in results if not isinstance(r, Measurement)]


def refusal(backend: Backend, cone: Cone) -> str:
    """Why the backend does not take the cone."""
    refusal = backend.refuses(cone)
    assert isinstance(refusal, Refusal)
    return refusal.reason
