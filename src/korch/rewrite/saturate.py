"""Applies the algebraic rules until they find nothing new, and keeps what may pay."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import APPROXIMATE, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.cost import estimate
from korch.rewrite.extract import Alternative, alternatives
from korch.rewrite.names import names_of, next_name
from korch.rewrite.rule import RULES, Rule
from korch.rewrite.space import Space
from korch.rewrite.table import EVERYTHING, Welcome, rewrite

log = logging.getLogger(__name__)

ADDED = 6
"""Primitives that rules may add for each that there is, and"""
AT_LEAST = 400
"""for small graphs."""
A_TENSOR = 3
"""Alternatives kept for one tensor, the best."""
GROWTH, GROWTH_AT_LEAST = 0.1, 64
"""Primitives that are kept at most, for each that there is, and for small graphs."""
WORTH = 25_000
"""Multiply-adds that an alternative must save, by estimate: a tenth of a microsecond."""


@rewrite(stage=0, error=APPROXIMATE, selects=True)
def algebra(graph: Graph, welcome: Welcome = EVERYTHING) -> Graph:
    """`graph` with the alternatives among everything the rules derive that may be cheaper than what is written."""
    return kept(graph, saturated(graph, [r for r in all_algebra() if welcome.takes(r.error, r.proved)]))


def all_algebra() -> tuple[Rule, ...]:
    """Every algebraic rule, by name."""
    package = importlib.import_module(__package__ or "korch.rewrite")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return tuple(RULES[name] for name in sorted(RULES))


def saturated(graph: Graph, rules: Sequence[Rule], limit: int | None = None) -> Graph:
    """`graph` with all that `rules` derive from it, or the first `limit` primitives, costly ones rewritten first."""
    space = Space(graph)
    bound = len(graph.primitives) + (max(AT_LEAST, ADDED * len(graph.primitives)) if limit is None else limit)
    before = -1
    while before != space.changes and len(space.primitives) < bound:
        before = space.changes
        for p in sorted(space.primitives, key=estimate, reverse=True):
            _apply(space, p, rules, bound)
    if len(space.primitives) >= bound:
        log.info("algebra stopped at %d primitives", bound)
    return _exported(space)


def _apply(space: Space, p: Primitive, rules: Iterable[Rule], bound: int) -> None:
    for rule in rules:
        if p in space.primitives and len(space.primitives) < bound:
            for t in rule(space, p):
                space.equal(p.output, t)


def _exported(space: Space) -> Graph:
    written = dict.fromkeys(space.graph.primitives)
    added = [p for p in space.primitives if p not in written]
    return replace(space.graph, primitives=(*written, *added), constants=space.constants)


def kept(graph: Graph, full: Graph) -> Graph:
    """`graph` with those alternatives of `full` that cost less or that a rule vouches for, the most promising first.

    What would make a cycle is left out: outside of layouts, where `graph` has none, every selection is a plan.
    """
    budget = max(GROWTH_AT_LEAST, int(GROWTH * len(graph.primitives)))
    result = dict.fromkeys(graph.primitives)
    reads = defaultdict[Tensor, set[Tensor]](set)
    _note(reads, graph.primitives)
    count: Counter[Tensor] = Counter()
    for a in alternatives(full, graph, estimate):
        pays = (a.gain >= WORTH or _vouched(a)) and count[a.root.output] < A_TENSOR
        new = [p for p in a.primitives if p not in result] if pays else []
        growth = len(new) if _counts(a) else 0
        if pays and growth <= budget and not _closes_cycle(a, reads):
            count[a.root.output] += 1
            budget -= growth
            result |= dict.fromkeys(new)
            _note(reads, new)
    return _named(graph, full, list(result)[len(graph.primitives) :])


def _vouched(a: Alternative) -> bool:
    return a.root.rule in RULES and RULES[a.root.rule].pays


def _counts(a: Alternative) -> bool:
    return a.root.rule not in RULES or RULES[a.root.rule].counts


def _note(reads: dict[Tensor, set[Tensor]], primitives: Iterable[Primitive]) -> None:
    """Adds what each tensor is computed from, whichever producer is taken."""
    for p in primitives:
        reads[p.output].update(p.inputs)


def _closes_cycle(a: Alternative, reads: Mapping[Tensor, Collection[Tensor]]) -> bool:
    """Whether something that `a` reads depends on what it makes; as its new tensors do not make each other, a cycle
    would pass through its root."""
    stack, seen = list(a.root.inputs), set[Tensor]()
    while stack:
        t = stack.pop()
        if t == a.root.output:
            return True
        if t not in seen:
            seen.add(t)
            stack += a.inner[t].inputs if t in a.inner else reads.get(t, ())
    return False


def _named(graph: Graph, full: Graph, added: Sequence[Primitive]) -> Graph:
    """`graph` with `added`, new tensors and constants named in the order in which they come."""
    new: dict[Tensor, Tensor] = {}
    taken = names_of(graph)
    constants: dict[str, Array] = {}
    for p in added:
        for t in (*p.inputs, p.output):
            if t.const and t.name not in graph.constants and t not in new:
                new[t] = replace(t, name=next_name("folded", taken))
                constants[new[t].name] = full.constants[t.name]
            elif not t.const and t not in graph.producers and t not in graph.inputs and t not in new:
                new[t] = replace(t, name=next_name("other", taken))
    return graph.add(_renamed(added, new), constants)


def _renamed(primitives: Iterable[Primitive], new: dict[Tensor, Tensor]) -> Iterator[Primitive]:
    for p in primitives:
        yield replace(p, inputs=tuple(new.get(t, t) for t in p.inputs), output=new.get(p.output, p.output))
