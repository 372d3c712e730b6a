"""Plans that random costs force, of all candidates that the search would have, and several of them as one program."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import onnx

from fuzzing.models import Case
from korch.backends.table import backends
from korch.candidates import Limits, enumerate_cones, trimmed
from korch.errors import Error
from korch.executable.plan import Plan, Step
from korch.fission import fission
from korch.fission.importer import read
from korch.ir import Cone, Graph
from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor
from korch.machine import Machine
from korch.numerics.bounds import BOUNDS, own_bound
from korch.rewrite import add_choices, saturate, strassen, winograd
from korch.search.costed import problem_of
from korch.search.ledger import open_ledger
from korch.solve.check import check
from korch.solve.greedy import greedy

MACHINE = Machine(1, 1e11, ((1 << 40, 1e11),), 1e-8)
"""Nobody measures: bounds need some rates."""
UNPAID = (
    (saturate, "WORTH", -(1 << 60)),
    (winograd, "LEAST_CHANNELS", 1),
    (winograd, "WORTH", 1e9),
    (strassen, "LEAST_ROWS", 2),
)
"""Thresholds of choices, and values at which all are welcome."""
CHAINS = (Limits.chain, 0)
"""Bytes between products of one kernel: as in a search, and any."""
FAVOURS, MOST_UNLIKE = (1.0, 0.1, 0.01), 3
"""The factor of a cone's cost for each primitive that is not the model's, and up to how many."""


@dataclass(frozen=True)
class Prepared:
    """A case after import, fission and rewriting."""

    case: Case
    model: onnx.ModelProto
    plain: Graph
    graph: Graph


@contextmanager
def all_welcome() -> Iterator[None]:
    """Within the block, rewrites keep choices that do not pay."""
    before = [(module, name, getattr(module, name)) for module, name, _ in UNPAID]
    for module, name, value in UNPAID:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            setattr(module, name, value)


def prepared(case: Case) -> Prepared:
    """ModelError where Korch refuses the model, NeedsSegments where it is no static program."""
    model = read(case.model, case.shapes)
    plain = fission(model)
    return Prepared(case, model, plain, with_choices(plain, case))


def with_choices(plain: Graph, case: Case) -> Graph:
    """The graph with the choices that the case wants."""
    if case.bare:
        return plain
    given = case.numerics != "strict", (own_bound(case.numerics) or 0.0) >= BOUNDS["fast"]
    if not case.eager:
        return add_choices(plain, *given)
    with all_welcome():
        return add_choices(plain, *given)


def forced_plan(graph: Graph, numerics: str, threads: int, rng: Random, libraries: bool = True) -> Plan:
    """A plan of random kernels: the cheapest cover by random costs, each cone by a random one of its kernels;
    without `libraries`, none that oneDNN may refuse when it starts."""
    cones = trimmed(enumerate_cones(graph, Limits(chain=rng.choice(CHAINS))), graph.outputs)
    offered = [b for b in backends(numerics=numerics) if libraries or b.name != "onednn"]
    ledger = open_ledger(cones, offered, MACHINE)
    problem = problem_of(graph, ledger)
    wide, other = rng.choice([-2.0, -1.0, 0.0, 1.0]), rng.choice(FAVOURS)
    costs = [10 ** rng.uniform(-7, -5) * len(c.primitives) ** wide * other ** _unlike(c) for c in ledger.cones]
    candidates = tuple(replace(k, cost=x) for k, x in zip(problem.candidates, costs, strict=True))
    problem = replace(problem, candidates=candidates)
    picked = greedy(problem) if problem.outputs else []
    if picked is None:
        raise Error(f"no plan of {len(candidates)} candidates was found")
    order = check(problem, (candidates[i].id for i in picked)).order if picked else ()
    steps = list[Step]()
    for candidate in order:
        cone, offers = ledger.cones[candidate.id], ledger.entry(candidate.id).offers
        kernels = rng.choice(offers).backend.build(cone, threads)
        steps.append(Step.of(rng.choice(kernels), 1e-6))
    return Plan(graph, tuple(steps), threads, numerics, 1e-6 * len(steps))


def _unlike(cone: Cone) -> int:
    """How many of its primitives a rewrite made, and products it has besides one."""
    return min(sum(bool(p.rule) for p in cone.primitives) + max(len(cone.linear) - 1, 0), MOST_UNLIKE)


def joined(plans: Sequence[Plan], threads: int) -> Plan:
    """One plan of all plans, whose tensors and outputs have a prefix each (`prefix_of`)."""
    parts = [_prefixed(plan, prefix_of(i)) for i, plan in enumerate(plans)]
    graphs = [p.graph for p in parts]
    graph = Graph(
        "several",
        tuple(t for g in graphs for t in g.inputs),
        tuple(t for g in graphs for t in g.outputs),
        tuple(n for g in graphs for n in g.output_names),
        (),
        {n: x for g in graphs for n, x in g.constants.items()},
    )
    steps = tuple(s for p in parts for s in p.steps)
    return Plan(graph, steps, threads, "default", 1e-6 * len(steps))


def prefix_of(number: int) -> str:
    return f"p{number}/"


def _prefixed(plan: Plan, prefix: str) -> Plan:
    def named(t: Tensor) -> Tensor:
        return replace(t, name=prefix + t.name)

    g = plan.graph
    constants = {prefix + t.name: g.constants[t.name] for t in plan.constants}
    graph = replace(
        g,
        inputs=tuple(map(named, g.inputs)),
        outputs=tuple(map(named, g.outputs)),
        output_names=tuple(prefix + n for n in g.output_names),
        primitives=(),
        constants=constants,
        twins={},
    )
    steps = tuple(replace(s, reads=tuple(map(named, s.reads)), writes=named(s.writes)) for s in plan.steps)
    return replace(plan, graph=graph, steps=steps)


def feeds_of(feeds: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """The inputs of a joined plan."""
    return {prefix_of(i) + n: x for i, some in enumerate(feeds) for n, x in some.items()}


def outputs_of(found: Mapping[str, Any], number: int) -> dict[str, Array]:
    """Those of plan `number` among the outputs of a joined one."""
    prefix = prefix_of(number)
    return {n.removeprefix(prefix): x for n, x in found.items() if n.startswith(prefix)}
