"""Layouts as choices: the channels-last form of an activation is another tensor with producers of its own.

A tensor gets a *twin* where a convolution or pooling, or what lies between them, could work channels-last.
Elementwise, reduce, layout and window primitives all commute with the transposition, so each rule below only says
how their axes move. Transposes tie the two forms together where both can be wanted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.axes import axis_last, channels_last, first_to_last, last_to_first
from korch.ir.ops.table import Array, Category
from korch.ir.primitive import Primitive, freeze
from korch.ir.tensor import Tensor
from korch.rewrite.names import names_of, new_name
from korch.rewrite.table import rewrite
from korch.rewrite.views import Permutation, same_order, sources

RANKS = {3: "nwc", 4: "nhwc", 5: "ndhwc"}
"""Of activations with one to three spatial axes, and what their twins' names end in."""


@rewrite(stage=1)
def add_layouts(graph: Graph) -> Graph:
    """`graph` with channels-last producers for every island of convolutions and pools."""
    island = _island(graph)
    build = _Twins(graph, island, names_of(graph))
    for p in graph.primitives:
        build.twin_of(p)
    build.tie()
    return graph.add(build.added, build.constants, build.twin_to_plain())


def _island(graph: Graph) -> set[Tensor]:
    """The tensors that windows read or write, and those tied to them by primitives that keep the axes."""
    island = {t for p in graph.primitives if _is_window(p) for t in (p.inputs[0], p.output)}
    grew = True
    while grew:
        grew = False
        for p in graph.primitives:
            if _keeps_axes(p) and _touches(p, island):
                new = {t for t in (*p.inputs, p.output) if _can_twin(t)} - island
                grew |= bool(new)
                island |= new
    return island


def _touches(p: Primitive, island: set[Tensor]) -> bool:
    return p.output in island or any(t in island for t in p.inputs)


def _is_window(p: Primitive) -> bool:
    slides = p.spec.slides and p.output.dtype == "float32"
    return (slides or (p.spec.adds_integers and p.spec.channels_last is not None)) and p.output.rank in RANKS


def _can_twin(t: Tensor) -> bool:
    return t.rank in RANKS and not t.const


def _keeps_axes(p: Primitive) -> bool:
    """Whether `p` could do the same on permuted axes."""
    if p.output.rank not in RANKS or p.category is Category.OPAQUE:
        return False
    if p.category is Category.ELEMENTWISE:
        return all(t.rank == p.output.rank or t.const for t in p.inputs)
    if p.inputs[0].rank != p.output.rank:
        return False
    return p.spec.channels_last is not None and (not p.spec.folds or bool(p.attr("keepdims")))


@dataclass
class _Twins:
    graph: Graph
    island: set[Tensor]
    taken: set[str]
    """Names that twins cannot have."""
    added: list[Primitive] = field(default_factory=list[Primitive])
    constants: dict[str, Array] = field(default_factory=dict[str, Array])
    twins: dict[Tensor, Tensor] = field(default_factory=dict[Tensor, Tensor])
    _turned: dict[tuple[Tensor, int, bool], Tensor] = field(default_factory=dict[tuple[Tensor, int, bool], Tensor])

    def twin_to_plain(self) -> Mapping[Tensor, Tensor]:
        return {twin: t for t, twin in self.twins.items()}

    def twin(self, t: Tensor) -> Tensor:
        """The channels-last form of `t`."""
        if t not in self.twins:
            self.twins[t] = Tensor(self._name(t, t.rank), t.dtype, channels_last(t.shape))
        return self.twins[t]

    def twin_of(self, p: Primitive) -> None:
        """Adds the channels-last producer that corresponds to `p`."""
        if p.output in self.island and _keeps_axes(p):
            self._add(p, self._attrs(p), self.twin(p.output))
        elif p.spec.folds and p.inputs[0] in self.island and not p.attr("keepdims"):
            self._reduce_to_rest(p)
        elif p.spec.rearranges:
            self._through_views(p)

    def _add(self, p: Primitive, attrs: dict[str, Any], output: Tensor) -> None:
        inputs = tuple(self._operand(p, i, t) for i, t in enumerate(p.inputs))
        self.added.append(Primitive(p.op, inputs, output, freeze(attrs), p.error, p.origin, "channels_last"))

    def _attrs(self, p: Primitive) -> dict[str, Any]:
        return p.spec.channels_last(dict(p.attrs), p.output.rank) if p.spec.channels_last else dict(p.attrs)

    def _operand(self, p: Primitive, i: int, t: Tensor) -> Tensor:
        if i and (p.spec.convolves or p.spec.adds_integers):
            return t
        return self._turn(t, p.output.rank, p.category is Category.ELEMENTWISE) if t.const else self.twin(t)

    def _turn(self, t: Tensor, rank: int, broadcast: bool) -> Tensor:
        """A constant operand beside channels-last ones of that rank: whole, or as little as has to be `broadcast`."""
        if t.size == 1 and t.rank <= 1:
            return t
        if (t, rank, broadcast) not in self._turned:
            x = self.graph.constants[t.name]
            turned = np.ascontiguousarray(x.reshape((1,) * (rank - x.ndim) + x.shape).transpose(first_to_last(rank)))
            while broadcast and turned.ndim > 1 and turned.shape[0] == 1:
                turned = turned[0]
            new = Tensor(self._name(t, rank), t.dtype, turned.shape, True, t.value)
            self.constants[new.name] = turned
            self._turned[t, rank, broadcast] = new
        return self._turned[t, rank, broadcast]

    def _name(self, t: Tensor, rank: int) -> str:
        return new_name(f"{t.name}_{RANKS[rank]}", self.taken)

    def _reduce_to_rest(self, p: Primitive) -> None:
        """Without kept axes the result is the same tensor, if the order of what remains is the same."""
        rank = p.inputs[0].rank
        axes = {axis_last(a, rank) for a in p.attr("axes")}
        rest = [a for i, a in enumerate(first_to_last(rank)) if i not in axes]
        if rest == sorted(rest):
            self._add(p, dict(p.attrs) | {"axes": tuple(sorted(axes))}, p.output)

    def _through_views(self, p: Primitive) -> None:
        """Chains of Reshape and Transpose that, from or to channels-last or both, move nothing: a Reshape does."""
        for source in reversed(sources(self.graph, p)):
            for start, turn, end, back in self._forms(source, p.output):
                if same_order(self.graph, p, source, turn, back):
                    self._view(start, end, p)
                    return

    def _forms(
        self, source: Tensor, t: Tensor
    ) -> Iterator[tuple[Tensor, Permutation | None, Tensor, Permutation | None]]:
        """What to view as what, and how each is permuted: plain as channels-last, back, and channels-last as such."""
        if t in self.island:
            yield source, first_to_last(t.rank), self.twin(t), None
        if source in self.island:
            yield self.twin(source), None, t, first_to_last(source.rank)
        if t in self.island and source in self.island:
            yield self.twin(source), first_to_last(t.rank), self.twin(t), first_to_last(source.rank)

    def _view(self, source: Tensor, output: Tensor, p: Primitive) -> None:
        attrs = freeze({"shape": output.shape})
        self.added.append(Primitive("Reshape", (source,), output, attrs, p.error, p.origin, "channels_last"))

    def tie(self) -> None:
        """Adds the transposes: where a form is wanted that nothing else makes, or made where both are wanted."""
        made = {p.output for p in (*self.graph.primitives, *self.added)} | set(self.graph.inputs)
        read = {t for p in (*self.graph.primitives, *self.added) for t in p.inputs} | set(self.graph.outputs)
        for t, twin in list(self.twins.items()):
            plain_only = self._is_read_plain(t) or t in self.graph.outputs
            if twin in read and (twin not in made or self._foreign(t)):
                self._transpose(t, twin, first_to_last(t.rank))
            if twin in made and (plain_only or t not in made):
                self._transpose(twin, t, last_to_first(t.rank))
        self._drop_unmade()

    def _is_read_plain(self, t: Tensor) -> bool:
        """Whether something reads `t` that has no channels-last form."""
        return any(not (p.output in self.island and _keeps_axes(p)) for p in self.graph.consumers.get(t, ()))

    def _foreign(self, t: Tensor) -> bool:
        """Whether `t` is made by something with no channels-last form."""
        return any(not _keeps_axes(p) for p in self.graph.producers.get(t, ()))

    def _transpose(self, source: Tensor, output: Tensor, perm: tuple[int, ...]) -> None:
        self.added.append(Primitive("Transpose", (source,), output, freeze({"perm": perm}), rule="channels_last"))

    def _drop_unmade(self) -> None:
        """Producers whose inputs nobody makes go, until none is left."""
        while True:
            made = {p.output for p in (*self.graph.primitives, *self.added)} | set(self.graph.inputs)
            kept = [p for p in self.added if all(t.const or t in made for t in p.inputs)]
            if len(kept) == len(self.added):
                return
            self.added = kept
