"""Every kernel of every backend on a GPU, checked against float64 as the search does it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest

from korch.backends.contract import Kernel
from korch.backends.table import backends
from korch.ir import Builder, Cone, Value
from korch.profile import Database, Measurement
from korch.profile.cuda.installed import installed
from korch.profile.cuda.profiler import DeviceProfiler

from .cones import CONES, random_cone
from .test_triton_linear import CONES as LINEAR
from .vendor_cones import ATTENTION, CONVOLUTIONS, PRODUCTS, cone_of

pytestmark = [pytest.mark.cuda, pytest.mark.skipif(not installed(), reason="there is no GPU here")]

GROUPS = {
    "loops": lambda: [*CONES.values(), *map(random_cone, range(40))],
    "linear": lambda: list(LINEAR.values()),
    "products": lambda: [cone_of(make) for make in PRODUCTS.values()],
    "convolutions": lambda: [cone_of(partial(_in_layout, make, n)) for make in CONVOLUTIONS.values() for n in (0, 1)],
    "attention": lambda: [cone_of(make) for make in ATTENTION.values()],
}
WRONG = ("wrong at", "never writes", "writes outside", "writes to its leaf", "illegal", "misaligned")
"""How the reasons of kernels begin that ran and were not right; others were refused by a library or do not fit."""


@pytest.fixture(scope="module")
def profiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DeviceProfiler]:
    folder = tmp_path_factory.mktemp("database")
    with Database(folder) as database, DeviceProfiler(installed()[:1], database) as profiler:
        yield profiler


def _in_layout(make: Callable[[Builder, int], Value], channels_last: int, b: Builder) -> Value:
    return make(b, channels_last)


def kernels_of(cone: Cone) -> list[Kernel]:
    """What all backends offer, in every precision."""
    offered = [
        k
        for numerics in ("strict", "default", "fast")
        for b in backends("cuda", numerics)
        if b.refuses(cone) is None
        for k in b.build(cone, installed()[0].multiprocessors)
    ]
    return [k for k in {(k.backend, k.variant): k for k in offered}.values() if not k.alias]


@pytest.mark.parametrize("group", GROUPS)
def test_kernels_are_right(group: str, profiler: DeviceProfiler):
    owners: list[Cone] = []
    kernels: list[Kernel] = []
    for cone in GROUPS[group]():
        offered = kernels_of(cone)
        owners += [cone] * len(offered)
        kernels += offered
    assert kernels
    results = profiler.measure(kernels)
    reasons = [
        f"{k.backend} {k.variant}: {r.reason}\n{k.cone}"
        for k, r in zip(kernels, results, strict=True)
        if not isinstance(r, Measurement)
    ]
    bad = [text for text in reasons if any(word in text for word in WRONG)]
    assert not bad, "\n\n".join(bad)
    assert not _without(owners, results), "\n\n".join(reasons)


def _without(owners: Sequence[Cone], results: Sequence[object]) -> list[str]:
    """Cones of which no kernel runs."""
    served = {c.signature for c, r in zip(owners, results, strict=True) if isinstance(r, Measurement)}
    return [str(c) for c in owners if c.signature not in served]
