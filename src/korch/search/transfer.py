"""The kernels of a plan found again in the graph of the same model with other extents.

Names differ between such graphs, and so may the choices that rewriting offers. A primitive is recognised by how it is
computed: operator, rule, what its inputs are, and its place among primitives of which all that is equal.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from korch.backends.contract import Variant
from korch.executable.plan import Plan, Step
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.search.ledger import Ledger
from korch.search.offers import LedgerEntry, Offer
from korch.search.steering import SURPRISE_WORTH, SURPRISING

_STRUCTURAL = frozenset(
    {
        "perm",
        "axis",
        "axes",
        "keepdims",
        "tile",
        "kernel",
        "kernel_shape",
        "stride",
        "strides",
        "dilations",
        "to",
        "mode",
        "phases",
        "group",
        "direction",
    }
)
"""Attributes that hold no extent."""


@dataclass(frozen=True)
class SketchStep:
    """A kernel of a plan without names and extents: its `primitives` as `identities` knows them, and its backend.

    `slowness`: its time in the program, as a multiple of what physics allow; 0 where that is unknown.
    """

    backend: str
    variant: Variant
    primitives: tuple[str, ...]
    slowness: float = 0.0


Sketch = tuple[SketchStep, ...]
"""The steps of a plan, to be found again in another graph."""


def sketch_of(plan: Plan, graph: Graph) -> Sketch:
    """The sketch of a plan for `graph`, which has all choices."""
    known = {_own_key(p): identity for p, identity in identities(graph).items()}
    steps = (_sketched(s, [known.get(_own_key(p), "") for p in s.kernel.cone.primitives]) for s in plan.steps)
    return tuple(s for s in steps if all(s.primitives))


def _sketched(step: Step, primitives: Iterable[str]) -> SketchStep:
    slowness = step.cost / step.lower if step.lower else 0.0
    return SketchStep(step.kernel.backend, step.kernel.variant, tuple(primitives), slowness)


def found_in(graph: Graph, sketch: Sketch) -> dict[Cone, SketchStep]:
    """The cones of the sketch that `graph` has, each with the step that it comes from."""
    primitives = {identity: p for p, identity in identities(graph).items()}
    found: dict[Cone, SketchStep] = {}
    for step in sketch:
        members = [primitives[i] for i in step.primitives if i in primitives]
        if len(members) == len(step.primitives):
            found.setdefault(Cone.of(members), step)
    return found


class TakenOver:
    """The offers that a sketch leaves in a ledger: those of the backends that built its kernels, with their variants
    and costs. The others wait."""

    def __init__(self, graph: Graph, sketch: Sketch, ledger: Ledger) -> None:
        self._waiting: dict[int, list[Offer]] = {}
        for cone, step in found_in(graph, sketch).items():
            for i in (i for i, c in enumerate(ledger.cones) if c == cone):
                self._keep(ledger.entry(i), step)

    def _keep(self, entry: LedgerEntry, step: SketchStep) -> None:
        if own := [o for o in entry.offers if o.backend.name == step.backend]:
            self._waiting[id(entry)] = [o for o in entry.offers if o not in own]
            entry.offers = own
            for offer in own:
                offer.sketched, offer.slowness = step.variant, step.slowness

    def reopened(self, entries: Iterable[LedgerEntry], cost: float) -> bool:
        """Gives kernels of a plan that costs `cost` their rivals back where they take far longer than for the other
        extents; whether there are any. (A classifier is a product with a vector for one image, and with a matrix for
        five: 321 us, 123 by a library.)"""
        distinct = {id(e): e for e in entries}
        found = [e for key, e in distinct.items() if self._waiting.get(key) and _disappoints(e.best, cost)]
        for entry in found:
            entry.offers += self._waiting.pop(id(entry))
        return bool(found)


def _disappoints(offer: Offer, cost: float) -> bool:
    expected = offer.lower * offer.slowness
    return bool(expected) and offer.seconds - expected > max(SURPRISING * expected, SURPRISE_WORTH * cost)


def covers(graph: Graph, cones: Iterable[Cone]) -> bool:
    """Whether kernels for the cones alone can make the outputs."""
    left, made = list(cones), set(graph.inputs)
    while ready := [c for c in left if all(t.const or t in made for t in c.leaves)]:
        made.update(c.root for c in ready)
        left = [c for c in left if c not in ready]
    return all(t.const or t in made for t in graph.outputs)


def others_for(graph: Graph, found: Iterable[Cone], cones: Iterable[Cone]) -> list[Cone]:
    """Of `cones` those that make what the kernels for the `found` ones need and none of them makes, and what these need
    in turn."""
    makers: dict[Tensor, list[Cone]] = {}
    for cone in cones:
        makers.setdefault(cone.root, []).append(cone)
    made = {c.root for c in found} | set(graph.inputs)
    others, waiting = list[Cone](), [*graph.outputs, *(t for c in found for t in c.leaves)]
    while waiting:
        t = waiting.pop()
        if t.const or t in made:
            continue
        made.add(t)
        others += makers.get(t, [])
        waiting += [leaf for c in makers.get(t, []) for leaf in c.leaves]
    return others


def identities(graph: Graph) -> dict[Primitive, str]:
    """A digest of each primitive: equal for counterparts in graphs of one model with other extents."""
    of_tensor: dict[Tensor, str] = {t: f"input {i}" for i, t in enumerate(graph.inputs)}
    result: dict[Primitive, str] = {}
    seen = Counter[str]()
    for p in _in_order(graph, of_tensor):
        inputs = [f"constant {t.dtype} {t.rank}" if t.const else of_tensor[t] for t in p.inputs]
        attrs = [(k, v) for k, v in p.attrs if k in _STRUCTURAL]
        alike = hashlib.blake2b(repr((p.op, p.rule, attrs, inputs)).encode(), digest_size=12).hexdigest()
        result[p] = f"{alike}.{seen[alike]}"
        seen[alike] += 1
        of_tensor.setdefault(p.output, result[p])
    return result


def _in_order(graph: Graph, known: Mapping[Tensor, str]) -> Iterator[Primitive]:
    """All primitives, each once its inputs are `known`, which the caller sees to: layout twins make each other."""
    waiting = list(graph.primitives)
    while waiting:
        left = list[Primitive]()
        for p in waiting:
            if all(t.const or t in known for t in p.inputs):
                yield p
            else:
                left.append(p)
        if len(left) == len(waiting):
            return
        waiting = left


def _own_key(p: Primitive) -> tuple[str, tuple[str, ...], str]:
    """The identity of a primitive within its graph."""
    return p.op, tuple(t.name for t in p.inputs), p.output.name
