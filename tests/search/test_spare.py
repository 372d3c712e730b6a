"""Libraries that gain next to nothing are left out, those that gain something or have no rival stay."""

from __future__ import annotations

import numpy as np
import pytest

from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.candidates import enumerate_cones
from korch.ir import Builder
from korch.machine import Machine
from korch.profile.results import Best
from korch.search.ledger import Ledger, open_ledger
from korch.search.spare import without_spare_libraries
from korch.search.steering import MIN_LIBRARY_GAIN
from korch.search.tuning import Tuned

pytestmark = pytest.mark.onednn

ROOFLINE = Machine(1, 1e11, ((1 << 40, 1e11),), 1e-8)
LOOPS_ALONE = 2e-3


def planned(*seconds: tuple[float, float | None]) -> tuple[Ledger, Tuned]:
    """A chain of products, oneDNN's and a generated kernel for each taking so many seconds (None: not measured)."""
    b = Builder()
    y = b.input("x", "float32", (32, 16))
    for i in range(len(seconds)):
        y = y @ b.constant(np.ones((16 * (i + 1), 16 * (i + 2)), np.float32))
    cones = [c for c in enumerate_cones(b.graph([("y", y)])) if [p.op for p in c.primitives] == ["MatMul"]]
    ledger = open_ledger(cones, (ONEDNN, LOOPS), ROOFLINE)
    for entry, times in zip(ledger.entries, seconds, strict=True):
        for offer, time in zip(entry.offers, times, strict=True):
            if time is not None:
                offer.settle(Best(offer.backend.build(entry.cone, 1)[0].variant, time))
    cost = sum(e.best.seconds + e.price for e in ledger.entries)
    return ledger, Tuned(tuple(range(len(cones))), cost, cost, 0.0, 1, 1, 0.0)


def backends_of(ledger: Ledger) -> list[str]:
    return [e.best.backend.name for e in ledger.entries]


def test_a_library_that_gains_next_to_nothing_goes_and_the_gap_tells_so():
    ledger, tuned = planned((1e-3, 1e-3 * (1 + MIN_LIBRARY_GAIN)), (3e-3, LOOPS_ALONE))
    spared = without_spare_libraries(ledger, tuned, 1)
    assert backends_of(ledger) == ["loops", "loops"]
    assert spared.cost == pytest.approx(tuned.cost + 1e-3 * MIN_LIBRARY_GAIN) and tuned.cost > 3e-3
    assert spared.gap == pytest.approx(1e-3 * MIN_LIBRARY_GAIN / spared.cost)


def test_what_it_gains_in_all_its_kernels_counts():
    less, more = (1e-3 * (1 + share * MIN_LIBRARY_GAIN) for share in (0.8, 2))
    ledger, tuned = planned(*[(1e-3, less)] * 2, (1e-3, more))
    assert without_spare_libraries(ledger, tuned, 1) == tuned
    assert backends_of(ledger) == ["onednn"] * 3


def test_a_library_without_a_measured_rival_stays():
    ledger, tuned = planned((1e-6, None), (3e-3, LOOPS_ALONE))
    assert without_spare_libraries(ledger, tuned, 1) == tuned
    assert backends_of(ledger) == ["onednn", "loops"]
