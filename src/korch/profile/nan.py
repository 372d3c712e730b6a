"""Does a kernel keep NaN? Some values of its leaves become NaN, and a small part of its outputs is compared."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from korch.ir.cone import Cone
from korch.ir.evaluate import evaluate_cone
from korch.ir.ops.table import Array, Region
from korch.profile.region import grid, work

SIZES = (512, 64, 16)  # elements compared, the first that the work allows
WORK = 50_000  # element operations that the reference may take
SHARE, MOST = 50, 4096  # one in so many values of a leaf is NaN, and at most so many are


@dataclass(frozen=True)
class Probe:
    """Flat `places` of NaN by leaf, and where the root is NaN then, on a region of it."""

    places: tuple[tuple[int, Array], ...]
    region: Region
    is_nan: Array

    def reason(self, root: Array) -> str:
        """Why the kernel that stored `root` is wrong; empty if it is right."""
        found = np.isnan(root[np.ix_(*self.region)] if root.ndim else root)
        wrong = found != self.is_nan
        if not wrong.any():
            return ""
        lost = int((self.is_nan & wrong).sum())
        return f"loses NaN at {lost} of {wrong.size} places, and makes it up at {int(wrong.sum()) - lost}"


def probe_of(cone: Cone, leaves: Sequence[Array]) -> Probe | None:
    """The probe of a kernel of `cone`, whose `leaves` hold numbers; None where nothing in it is apt to lose NaN, a
    value that is no float would depend on it, or the reference has more of it than kernels need."""
    exact = all(p.output.is_float and not p.spec.sparse for p in cone.primitives)
    if not exact or not any(p.spec.drops_nan for p in cone.primitives) or not cone.root.size:
        return None
    places = tuple(_places(cone, leaves))
    if not places:
        return None
    root = cone.part(cone.root)
    region = grid(cone.root.shape, next((n for n in SIZES if work(root, n) <= WORK), SIZES[-1]))
    with poisoning(leaves, places), np.errstate(all="ignore"):
        return Probe(places, region, np.isnan(np.asarray(evaluate_cone(root, leaves, region))))


def _places(cone: Cone, leaves: Sequence[Array]) -> Iterator[tuple[int, Array]]:
    rng = np.random.default_rng(len(leaves))
    for i, (t, x) in enumerate(zip(cone.leaves, leaves, strict=True)):
        if t.is_float and not t.const and t.value is None and x.size:
            yield i, np.unique(rng.integers(0, x.size, min(-(-x.size // SHARE), MOST)))


@contextmanager
def poisoning(leaves: Sequence[Array], places: Sequence[tuple[int, Array]]) -> Generator[None]:
    """NaN at the `places` meanwhile."""
    flat = {i: leaves[i].reshape(-1) for i, _ in places}
    kept = {i: flat[i][at] for i, at in places}
    try:
        for i, at in places:
            flat[i][at] = np.nan
        yield
    finally:
        for i, at in places:
            flat[i][at] = kept[i]


def kept(probe: Probe, run: Callable[[], None], leaves: Sequence[Array], root: Array) -> str:
    """Why a kernel is wrong that `run` lets store `root`; empty if it is right."""
    with poisoning(leaves, probe.places):
        run()
    return probe.reason(root)
