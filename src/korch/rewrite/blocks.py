"""Convolutions with wide windows as 3x3 ones of blocks, for which Winograd's algorithm is cheap.

With blocks of s x s neighbours as channels, of the input and of the output, a window of 2s + 1 places reaches exactly
one block further on either side: 9x9 from 32 channels to 3 is 3x3 from 512 to 48. As written that would be more
products, (3s)^2 an output instead of (2s + 1)^2; by F(4, 3) they are 2.25 s^2.

| window | s | products an output, F(4, 3) | as written |
|---|---|---|---|
| 5x5 | 2 | 9 | 25 |
| 7x7 | 3 | 20.25 | 49 |
| 9x9 | 4 | 36 | 81 |

The transforms cost what those of a 3x3 convolution of the image cost, whatever the window. Blocks of the output are
what `WinogradOutput` interleaves as phases; blocks of the input are a view, which what comes before may store.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.ir.primitive import APPROXIMATE, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.grid import Pads, in_whole_steps, parted
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed
from korch.rewrite.winograd import LEAST_CHANNELS, WORTH, ConvolutionView, chains

SMALLEST, TAPS, SIDE = 5, 3, 6
"""Places of a window, below which blocks would have one; blocks that a window meets, and a patch of F(4, 3) has."""
READ = 8
"""Products that a weight costs which is read."""
LARGEST = 1 << 26
"""Bytes of weights, of which there are 36 s^4 for each pair of channels: of 256 and 256 by 9x9 they would be 2.4 GB."""


@rewrite(stage=3, error=APPROXIMATE)
def conv_in_blocks(graph: Graph) -> Graph:
    """`graph` with a few ways for every channels-last convolution with a wide window that they can pay for."""
    return chains(graph, "conv_in_blocks", _views)


def _views(p: Primitive) -> Iterator[ConvolutionView]:
    """`p` in blocks, where its window is wide, odd and moves by one."""
    if not p.spec.is_convolution or not p.attr("channels_last") or p.output.rank != 4 or not p.inputs[1].const:
        return
    window = p.inputs[1].shape[2:]
    plain = {*p.attr("strides"), *p.attr("dilations"), p.attr("group")} == {1} and min(p.attr("pads")) >= 0
    if plain and window[0] == window[1] >= SMALLEST and window[0] % 2:
        view = _view(p, window[0] // 2)
        held = 4 * SIDE**2 * prod(view.channels)
        if min(view.channels) >= LEAST_CHANNELS and held <= LARGEST:
            yield view


def _view(p: Primitive, s: int) -> BlockedConvolution:
    """With blocks of s x s."""
    filled, pads = in_whole_steps(p, s, TAPS)
    return BlockedConvolution(p, TAPS, pads, s, filled=filled)


@dataclass(frozen=True)
class BlockedConvolution(ConvolutionView):
    """`primitive` as a convolution of blocks of phases x phases places, zeros `filled` in around the input."""

    filled: Pads = (0, 0, 0, 0)

    @property
    def channels(self) -> tuple[int, int]:
        inputs, outputs = super().channels
        return self.phases**2 * inputs, outputs

    def pays(self, tile: int) -> bool:
        """As products of a window as written, and for tiles enough to read the weights for."""
        tiling, (n, height, width, _) = self.tiling(tile), self.primitive.output.shape
        products = (tiling.tiles + READ) * tiling.points * self.phases**4
        return products <= WORTH * n * height * width * self.primitive.inputs[1].shape[2] ** 2

    def read(self, build: Transformed) -> Tensor:
        p, s = self.primitive, self.phases
        parts = parted(build, p, self.filled, s, (0, 1, 3, 2, 4, 5))
        n, rows, columns, _, _, c = parts.shape
        return build.operand(p, "Reshape", parts, f"{parts.name}_blocks", shape=(n, rows, columns, s * s * c))

    def kernels(self, w: Array) -> Array:
        """[s^2 * K, s^2 * C, 3, 3]: place r of an output block takes tap s * u + q - r of place q of block u - 1."""
        s, (k, c, taps, _) = self.phases, w.shape
        around = s - 1
        wide = np.zeros((k, c, taps + 2 * around, taps + 2 * around), w.dtype)
        wide[:, :, around : around + taps, around : around + taps] = w
        r, q, u = np.ogrid[:s, :s, :3]
        at = s * u + q - r + around
        picked = wide[:, :, at[..., None, None, None], at]
        return picked.transpose(2, 5, 0, 3, 6, 1, 4, 7).reshape(s * s * k, s * s * c, 3, 3)
