"""Plans whose kernels round, with as many more exact ones as they need."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from korch.backends.contract import Kernel
from korch.candidates import enumerate_cones
from korch.executable.planned import planned
from korch.ir import Builder
from korch.machine import Machine
from korch.options import Options
from korch.orchestrate.exchange import exchanged, squares, told_of
from korch.orchestrate.ledger import Ledger, open_ledger
from korch.orchestrate.tuning import Tuned
from korch.profile.results import Measurement

ROOFLINE = Machine(1, 1e11, ((1 << 40, 1e11),), 1e-8)
COUNT = 4
ROUGH, EXACT = 1e-3, 1e-6


class Twofold:
    """Kernels that round, and slower ones that do not."""

    name, fallback, version = "twofold", False, "1"

    def __init__(self, extra: dict[int, float]) -> None:
        self.extra = extra
        """Seconds that the exact kernel of a product with so many columns takes more."""

    def declines(self, cone: Any) -> None:
        return None

    def bound(self, cone: Any, machine: Machine) -> float:
        return 1e-6

    def build(self, cone: Any, threads: int) -> tuple[Kernel, ...]:
        return tuple(Kernel(cone, self.name, f"{v} {cone.key}", variant=f"{v} 64x64") for v in ("fp16", "bf16x3"))


def search(*columns: int, extra: dict[int, float] | None = None) -> tuple[Ledger, Tuned, Any]:
    """A plan of a chain of products by rounding kernels, each as many `columns`."""
    b = Builder()
    x = b.input("x", "float32", (8, 16))
    for n in columns:
        x = x @ b.constant(np.ones((x.shape[-1], n), np.float32))
    graph = b.graph([("y", x)])
    backend = Twofold(extra or {})
    ledger = open_ledger((c for c in enumerate_cones(graph) if len(c.primitives) == 1), [backend], ROOFLINE)
    for entry in ledger.distinct:
        (offer,) = entry.offers
        slower = 1e-6 + backend.extra.get(entry.cone.root.shape[-1], 1e-6)
        offer.learn(offer.kernels(entry.cone, 1), [Measurement(1e-6, 0, ROUGH), Measurement(slower, 0, EXACT)], 1)
    order = {p: i for i, p in enumerate(graph.primitives)}
    chosen = tuple(sorted(range(len(ledger.cones)), key=lambda i: order[ledger.cones[i].primitives[-1]]))
    tuned = Tuned(chosen, len(columns) * 1e-6, len(columns) * 1e-6, 0.0, 1, 0, 0.0)
    return ledger, tuned, planned(graph, ledger, tuned, Options(threads=1))


def variants(plan: Any) -> list[str]:
    return [s.kernel.variant.split()[0] for s in plan.steps]


@pytest.mark.parametrize("exact", range(COUNT + 1))
def test_of_equal_layers_as_many_are_exact_as_must_be(exact: int):
    ledger, tuned, plan = search(*[16] * COUNT)
    assert len({id(e) for e in ledger.entries}) == 1 and squares(ledger, tuned.chosen) == pytest.approx(4e-6)
    made = exchanged(plan, ledger, tuned, (COUNT - exact) * ROUGH**2 + COUNT * EXACT**2)
    assert made and variants(made).count("bf16x3") == exact == len(told_of(plan, made))
    assert made.predicted_seconds == pytest.approx((COUNT + exact) * 1e-6)
    assert made.gap == pytest.approx(exact / (COUNT + exact)), "the bound is of all plans, rounding or not"
    assert [s.writes for s in made.steps] == [s.writes for s in plan.steps]


def test_what_costs_least_is_exact_first():
    ledger, tuned, plan = search(16, 32, 48, extra={16: 3e-6, 32: 1e-6, 48: 2e-6})
    assert variants(exchanged(plan, ledger, tuned, 2.1e-6)) == ["fp16", "bf16x3", "fp16"]
    assert variants(exchanged(plan, ledger, tuned, 1.1e-6)) == ["fp16", "bf16x3", "bf16x3"]


def test_what_cannot_be_had_is_nothing():
    ledger, tuned, plan = search(16, 16)
    assert exchanged(plan, ledger, tuned, EXACT**2) is None
    assert exchanged(plan, ledger, replace(tuned, bound=0.0), 1.0).gap == 1.0  # pyright: ignore
