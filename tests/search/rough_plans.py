"""Plans of products by kernels that round, where slower ones do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from korch.backends.contract import Kernel, Variant
from korch.backends.cpu.c import Code, Comment
from korch.candidates import enumerate_cones
from korch.ir import Builder
from korch.machine import Machine
from korch.options import Options
from korch.profile.results import Measurement
from korch.search.ledger import Ledger, open_ledger
from korch.search.planned import planned
from korch.search.tuning import Tuned

ROOFLINE = Machine(1, 1e11, ((1 << 40, 1e11),), 1e-8)
COUNT = 4
ROUGH, EXACT = 1e-3, 1e-6


class Twofold:
    """Kernels that round, and slower ones that do not."""

    name, fallback, version = "twofold", False, "1"

    def __init__(self, extra: dict[int, float]) -> None:
        self.extra = extra
        """Seconds that the exact kernel of a product with so many columns takes more."""

    def refuses(self, cone: Any) -> None:
        return None

    def bound(self, cone: Any, machine: Machine) -> float:
        return 1e-6

    def build(self, cone: Any, threads: int) -> tuple[Kernel, ...]:
        return tuple(
            Kernel(cone, self.name, Variant("64x64", p), Code((Comment.of(f"{p} {cone.key}"),)))
            for p in ("fp16", "bf16x3")
        )


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


def precisions(plan: Any) -> list[str]:
    return [s.kernel.variant.precision for s in plan.steps]
