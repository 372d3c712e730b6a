"""`python benchmarks/devices.py MODEL.onnx … [--numerics fast]`: what plans would take on GPUs that are not here.

Costs are those of the roofline model (`korch optimize --costs model`), nothing is compiled, run or measured: the
figures compare plans and devices, not runtimes.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from korch.candidates import enumerate_cones
from korch.devices import DEVICES
from korch.executable.plan import Plan, check
from korch.fission import fission
from korch.fission.importer import read
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.macs import total
from korch.options import Options
from korch.profile.database import Database
from korch.rewrite import add_choices
from korch.search.ledger import open_ledger
from korch.search.phases import EXPLORE, PROVE
from korch.search.planned import planned
from korch.search.tuning import Tuner
from korch.targets import target_of
from page import markdown

SOLVER = 100.0
"""Seconds that the solver may take for a plan."""


@dataclass(frozen=True)
class Planned:
    """A plan for a device, what it costs with the price of its memory, and the seconds that finding it took."""

    plan: Plan
    cost: float
    peak: float
    seconds: float

    @property
    def arithmetic(self) -> float:
        """Seconds of the multiply-adds at the device's peak."""
        return 2 * sum(total(s.kernel.cone.primitives) for s in self.plan.steps) / self.peak

    def row(self, model: str, device: str) -> list[str]:
        plan = self.plan
        kinds = Counter(s.kernel.backend for s in plan.steps if not s.idle)
        kernels = ", ".join(f"{n} {name}" for name, n in sorted(kinds.items()))
        return [
            model,
            device,
            f"{plan.predicted_seconds * 1e3:.3f}",
            f"{self.arithmetic * 1e3:.3f}",
            kernels,
            f"{plan.gap:.2g}",
            f"{self.seconds:.0f}",
        ]


def candidates(model: Path, numerics: str) -> tuple[Graph, list[Cone]]:
    """The model with its choices, and all candidate kernels: the same for all devices."""
    target = target_of(Options(numerics=numerics, target="cuda", costs="model", device=next(iter(DEVICES))))
    graph = add_choices(fission(read(model, {})), numerics != "strict", unproved=numerics == "fast")
    graph = target.choices(graph)
    return graph, enumerate_cones(graph)


def plan_for(device: str, graph: Graph, cones: list[Cone], numerics: str, solver: float = SOLVER) -> Planned:
    """The cheapest plan by the model that the solver finds in so many seconds, checked."""
    target = target_of(Options(numerics=numerics, target="cuda", costs="model", device=device))
    start = time.monotonic()
    with Database() as database, target.costs(database) as costs:
        machine = target.machine(costs)
        ledger = open_ledger(cones, target.backends(), machine)
        tuner = Tuner(graph, ledger, costs, lambda state: None, solver_limit=solver)
        tuner.run(EXPLORE)  # no proof of what costs are not known for
        tuned = tuner.run(PROVE)
        plan = planned(graph, ledger, tuned, target.options, costs.setting.threads)
    check(plan)
    return Planned(plan, tuned.cost, target.peak(machine), time.monotonic() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--numerics", default="fast")
    parser.add_argument("--solver", type=float, default=SOLVER, help="seconds of solving a plan")
    options = parser.parse_args()
    rows = [["model", "device", "ms by the model", "ms of products at peak", "kernels", "gap", "planning s"]]
    for model in options.models:
        graph, cones = candidates(model, options.numerics)
        rows += [plan_for(d, graph, cones, options.numerics, options.solver).row(model.stem, d) for d in DEVICES]
    print(markdown(rows))


if __name__ == "__main__":
    main()
