"""Winograd's algorithm as a choice: 3x3 convolutions with stride 1 through transforms and one matrix product.

F(2, 3) has 16 products where the convolution as written has 36, F(4, 3) has 36 where that has 144 (Lavin & Gray 2016).
The sums of the transforms cancel, so the result errs more than a direct convolution's: about twice as much for F(2, 3),
five times for F(4, 3). Hence `approximate`, and no choice under strict numerics.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from korch.ir.constants import Derived
from korch.ir.graph import Graph
from korch.ir.ops.table import op_named
from korch.ir.ops.winograd import KERNEL, POINTS, Tiling, weights
from korch.ir.primitive import APPROXIMATE, Primitive, freeze
from korch.ir.tensor import Tensor
from korch.rewrite.table import rewrite

LEAST_CHANNELS = 16
WORTH = 0.75
"""Products must fall at least to this share for the transforms to pay."""


@rewrite(stage=2, error=APPROXIMATE)
def winograd(graph: Graph) -> Graph:
    """`graph` with F(2, 3) and F(4, 3) for every channels-last convolution that they can pay for."""
    build = _Winograd(graph)
    for p in graph.primitives:
        if _is_3x3(p):
            for tile in POINTS:
                build.convolution(p, tile)
    return graph.add(build.added, build.constants)


def _is_3x3(p: Primitive) -> bool:
    """Whether Winograd computes the convolution, and has enough channels to work on."""
    if p.op != "Conv" or not p.attr("channels_last") or p.output.rank != 4 or not p.inputs[1].const:
        return False
    plain = p.attr("strides") == p.attr("dilations") == (1, 1) and p.attr("group") == 1 and min(p.attr("pads")) >= 0
    return plain and p.inputs[1].shape[2:] == (KERNEL, KERNEL) and min(p.inputs[1].shape[:2]) >= LEAST_CHANNELS


@dataclass
class _Winograd:
    graph: Graph
    added: list[Primitive] = field(default_factory=list)
    constants: dict[str, Derived] = field(default_factory=dict)
    _products: dict[tuple[Tensor, Tensor], Tensor] = field(default_factory=dict)
    _transformed: dict[tuple[Tensor, int, tuple[int, ...]], Tensor] = field(default_factory=dict)

    def convolution(self, p: Primitive, tile: int) -> None:
        """Adds the chain that ends in p's output; convolutions of one tensor share its transform.

        The product is a tensor for each pair of operands: two ways to compute one output need not have one product.
        """
        _, height, width, channels = p.output.shape
        tiling = Tiling(tile, p.output.shape[0], height, width)
        if tiling.tiles * tiling.side**2 > WORTH * p.output.size // channels * KERNEL**2:
            return
        v, u = self._input(p, tile), self._weights(p, tile)
        if (v, u) not in self._products:
            name = f"{p.output.name}_f{tile}_{len(self._products)}"
            self._products[v, u] = self._add(p, "MatMul", (v, u), name)
        self._add(p, "WinogradOutput", (self._products[v, u],), p.output, tile=tile, shape=p.output.shape)

    def _input(self, p: Primitive, tile: int) -> Tensor:
        x, pads = p.inputs[0], tuple(p.attr("pads"))
        if (x, tile, pads) not in self._transformed:
            name = f"{x.name}_f{tile}_{'_'.join(map(str, pads))}"
            self._transformed[x, tile, pads] = self._add(p, "WinogradInput", (x,), name, tile=tile, pads=pads)
        return self._transformed[x, tile, pads]

    def _weights(self, p: Primitive, tile: int) -> Tensor:
        w = p.inputs[1]
        name, (k, c, *_) = f"{w.name}_f{tile}", w.shape
        self.constants[name] = Derived(lambda: weights(self.graph.constants[w.name], tile))
        return Tensor(name, w.dtype, ((tile + KERNEL - 1) ** 2, c, k), True)

    def _add(self, p: Primitive, op: str, inputs: tuple[Tensor, ...], output: str | Tensor, **attrs: object) -> Tensor:
        if isinstance(output, str):
            output = Tensor(output, *op_named(op).infer(inputs, dict(attrs)))
        self.added.append(Primitive(op, inputs, output, freeze(dict(attrs)), APPROXIMATE, p.origin, "winograd"))
        return output
