"""The primitive graph with choices: a tensor may have several producers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from korch.ir.constants import Constants, Given
from korch.ir.ops.table import Array
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.system.digest import digest


@dataclass(frozen=True)
class Graph:
    """Inputs, outputs, primitives and the values of constants.

    `primitives` is in topological order of one choice-free selection, extra producers behind it; layout twins
    make each other, so with choices the whole need not be acyclic. `output_names` are the model's own names of
    `outputs` (an output may be an input, a constant, or the same tensor twice).
    """

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    output_names: tuple[str, ...]
    primitives: tuple[Primitive, ...]
    constants: Mapping[str, Array] = field(default_factory=dict[str, Array], repr=False)
    twins: Mapping[Tensor, Tensor] = field(default_factory=dict[Tensor, Tensor], repr=False)
    """Layout twin -> the tensor whose value it holds in another order of the axes."""

    @cached_property
    def producers(self) -> dict[Tensor, tuple[Primitive, ...]]:
        """Each computed tensor with everything that can compute it, in the order of `primitives`."""
        table: dict[Tensor, list[Primitive]] = defaultdict(list)
        for p in self.primitives:
            table[p.output].append(p)
        return {t: tuple(ps) for t, ps in table.items()}

    @cached_property
    def consumers(self) -> dict[Tensor, tuple[Primitive, ...]]:
        table: dict[Tensor, list[Primitive]] = defaultdict(list)
        for p in self.primitives:
            for t in dict.fromkeys(p.inputs):
                table[t].append(p)
        return {t: tuple(ps) for t, ps in table.items()}

    def value_of(self, t: Tensor) -> Tensor:
        """The representative of the value that `t` holds: layout twins share one."""
        return self.twins.get(t, t)

    def only_moves(self, p: Primitive) -> bool:
        """Whether `p` just brings a value into its other layout."""
        return p.spec.permutes and self.value_of(p.inputs[0]) == self.value_of(p.output)

    def add(
        self,
        primitives: Iterable[Primitive],
        constants: Given | None = None,
        twins: Mapping[Tensor, Tensor] | None = None,
    ) -> Graph:
        """This graph with more producers."""
        return replace(
            self,
            primitives=(*self.primitives, *primitives),
            constants=Constants(self.constants, constants or {}),
            twins={**self.twins, **(twins or {})},
        )

    def without(self, dropped: Collection[Primitive]) -> Graph:
        """This graph with fewer choices: `dropped` are gone, and what nothing can compute without them."""
        left = [p for p in self.primitives if p not in dropped]
        made, before = set(self.inputs), -1
        while len(made) != before:
            before = len(made)
            made.update(p.output for p in left if all(t.const or t in made for t in p.inputs))
        return replace(self, primitives=tuple(p for p in left if all(t.const or t in made for t in p.inputs)))

    def plain(self) -> Graph:
        """The choice-free selection: each tensor's first producer, unused primitives dropped."""
        first = {t: ps[0] for t, ps in self.producers.items()}
        return replace(self, primitives=select(self, first))

    @property
    def fingerprint(self) -> str:
        """A digest of all but the values of constants. The text alone would not do: it shortens attributes."""
        return digest(self, *(p.attrs for p in self.primitives))

    def __str__(self) -> str:
        ends = ", ".join(f"{n}={t.name}" for n, t in zip(self.output_names, self.outputs, strict=True))
        return "\n".join(
            [f"# inputs: {', '.join(map(str, self.inputs))}", *map(str, self.primitives), f"return {ends}"]
        )


def select(graph: Graph, chosen: Mapping[Tensor, Primitive]) -> tuple[Primitive, ...]:
    """The primitives that `graph.outputs` need under the choice `chosen`, in topological order."""
    order: dict[Primitive, None] = {}
    for t in graph.outputs:
        for p in topological(t, chosen):
            order.setdefault(p)
    return tuple(order)


def topological(root: Tensor, chosen: Mapping[Tensor, Primitive]) -> tuple[Primitive, ...]:
    """The primitives below `root` under `chosen`, inputs first, without recursion (models are deep)."""
    order: dict[Primitive, None] = {}
    stack: list[tuple[Tensor, bool]] = [(root, False)]
    opened: set[Tensor] = set()
    while stack:
        t, closing = stack.pop()
        p = chosen.get(t)
        if p is None:
            continue
        if closing:
            order.setdefault(p)
        elif t not in opened:
            opened.add(t)
            stack.append((t, True))
            stack.extend((i, False) for i in reversed(p.inputs))
    return tuple(order)
