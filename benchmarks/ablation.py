"""What each idea is worth: milliseconds of a model as one after another is let into the search.

    python benchmarks/ablation.py [NAMES] --models DIR [--threads 2] [--time-budget 90]

1. rule fusion: every operator is one kernel, elementwise operators join what they follow; fewest kernels win.
2. + fission: any cone of the primitives, chosen greedily by measured cost.
3. + program: the same cones, chosen by the binary program.
4. + rewrites: the algebra's alternatives.
5. + layouts: channels-last twins.
6. + algorithms: Winograd, im2col, and convolutions to few channels several neighbours at a time.
7. + strips: kernels of several linear primitives; none of the columns before has them.

All variants share one cache of measurements; where an earlier run has filled it, little is left to measure. Figures go
to `results/ablation/NAME.json`, the table to RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from korch.backends.contract import Variant
from korch.backends.table import backends
from korch.candidates import Limits, enumerate_cones
from korch.executable import Executable
from korch.executable.feeds import random_feeds
from korch.fission import fission
from korch.fission.importer import read
from korch.ir import Category, Cone, Graph
from korch.numerics.judge import Judge
from korch.options import Options
from korch.profile import Database, Profiler
from korch.profile.calibrate import machine
from korch.profile.results import Best
from korch.rewrite import all_rewrites
from korch.rewrite.table import Welcome
from korch.search.costed import problem_of
from korch.search.in_place import in_place
from korch.search.ledger import Ledger, open_ledger
from korch.search.model import Search
from korch.search.offers import worthy
from korch.search.phases import bounds
from korch.search.planned import planned
from korch.search.tuning import Tuned
from korch.solve.check import check
from korch.solve.greedy import greedy
from korch.solve.problem import Problem
from korch.system.deadline import Deadline
from korch.targets.processor import Processor
from page import HERE, WORKLOADS, markdown, put

RESULTS = HERE / "results" / "ablation"
APART = Limits(chain=sys.maxsize)
"""One linear primitive a kernel."""
STEPS = ("rule fusion", "+ fission", "+ program", "+ rewrites", "+ layouts", "+ algorithms", "+ strips")
ADDED = {
    "+ rewrites": ("algebra",),
    "+ layouts": ("add_layouts",),
    "+ algorithms": ("conv_in_strips", "im2col", "winograd"),
}


def graphs(plain: Graph) -> Iterator[tuple[str, Graph, Limits]]:
    """The graph of each step that the program solves, and what its kernels may hold."""
    rewrites = {r.name: r for r in all_rewrites()}
    graph = plain
    yield "+ program", graph, APART
    for step, names in ADDED.items():
        for name in names:
            graph = rewrites[name](graph, Welcome(unproved=False))
        yield step, graph, APART
    yield "+ strips", graph, Limits()


def by_rule(graph: Graph, cone: Cone) -> bool:
    """Whether a compiler that fuses operators by rules has the kernel: whole operators, all but one elementwise."""
    inside = set(cone.primitives)
    origins = {p.origin for p in inside}
    whole = all(p in inside for p in graph.primitives if p.origin in origins)
    heavy = {p.origin for p in inside if p.category is not Category.ELEMENTWISE}
    return (whole and len(heavy) <= 1) or len(inside) == 1


def greedily(graph: Graph, cones: Sequence[Cone], profiler: Profiler, count_kernels: bool) -> tuple[Ledger, Tuned]:
    """A greedy cover of measured kernels: the fewest of them, or the cheapest."""
    ledger = open_ledger(cones, backends(), machine(profiler.setting.threads, profiler.database, profiler))
    problem = problem_of(graph, ledger)
    while True:
        priced = _priced(problem, ledger, count_kernels)
        chosen = [priced.candidates[i].id for i in greedy(priced) or ()]
        todo = [(e, o) for i in chosen for e in [ledger.entry(i)] for o in e.open(bounds)]
        if not todo:
            cost = sum(ledger.entry(i).at(bounds) for i in chosen)
            return ledger, Tuned(check(priced, chosen).ids, cost, 0.0, 1.0, 0, profiler.measured, 0.0)
        for entry, offer in todo:
            kernels = offer.backend.build(entry.cone, profiler.setting.threads)
            offer.settle(next(iter(worthy(kernels, profiler.measure(kernels))), Best(Variant(), inf)))


def _priced(problem: Problem, ledger: Ledger, count_kernels: bool) -> Problem:
    """At the ledger's costs, or a little more than nothing for views and one for any other kernel that works."""
    costs = [e.at(bounds) for e in ledger.entries]
    if count_kernels:
        costs = [c if c == float("inf") else 1.0 if c else 1e-3 for c in costs]
    return replace(problem, candidates=tuple(replace(k, cost=c) for k, c in zip(problem.candidates, costs)))


def measure(path: Path, options: Options) -> dict[str, float]:
    """Milliseconds by step."""
    prepared = read(path, {})
    plain = fission(prepared)
    feeds = random_feeds(plain)
    found: dict[str, float] = {}
    with Database() as database, Profiler(options.thread_count, database) as profiler:
        for step, graph, limits in reversed(
            list(graphs(plain))
        ):  # the largest first: the others find most kernels measured
            deadline = Deadline.after(options.time_budget or 90.0)
            judge = Judge(prepared, feeds, "default")
            search = Search(graph, Processor(options), profiler, lambda _: None, deadline, judge, limits=limits)
            found[step] = _milliseconds(search.run()[0], feeds, profiler)
            print(f"{path.stem} {step}: {found[step]:.2f} ms", file=sys.stderr, flush=True)
        cones = enumerate_cones(plain, APART)
        kept = [c for c in cones if by_rule(plain, c)]
        for step, some, count in (("+ fission", cones, False), ("rule fusion", kept, True)):
            ledger, tuned = greedily(plain, some, profiler, count)
            executable = Executable.link(planned(plain, ledger, tuned, options))
            found[step] = _milliseconds(executable, feeds, profiler)
            print(f"{path.stem} {step}: {found[step]:.2f} ms", file=sys.stderr, flush=True)
    return {step: found[step] for step in STEPS}


def _milliseconds(executable: Executable, feeds: dict, profiler: Profiler) -> float:
    profiler.close()
    with executable:
        return in_place(executable, feeds, executable.plan.predicted_seconds).total * 1e3


def table() -> str:
    files = [(n, RESULTS / f"{n}.json") for n in WORKLOADS]
    rows = [(n, json.loads(f.read_text())) for n, f in files if f.exists()]
    return markdown(
        [["workload, ms", *STEPS], *([n, *(f"{r[s]:.1f}" if s in r else "–" for s in STEPS)] for n, r in rows)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=WORKLOADS)
    parser.add_argument("--models", type=Path, required=True, help="where export.py wrote the ONNX files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--time-budget", type=float, default=90.0, help="seconds of tuning a variant")
    given = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    for name in given.names:
        found = measure(given.models / f"{name}.onnx", Options(given.threads, given.time_budget))
        (RESULTS / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n")
    put("ablation", table())


if __name__ == "__main__":
    main()
