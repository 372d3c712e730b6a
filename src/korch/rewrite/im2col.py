"""im2col as a choice: the windows of a convolution as the rows of a matrix, and one product with the weights.

The matrix [positions, kernel * channels] repeats an input as often as windows see it (Chellapilla et al. 2006).
Writing and reading it is the price; the gain is one contraction as long as the whole kernel, where a direct
convolution has one of a few channels for each place of the kernel. So this is for what reads images and sound.
Two threads of Zen 4, milliseconds, direct by oneDNN against windows + product:

    1 -> 64   3x3        256x256  0.64-2.00  0.05 + 0.43     3 -> 64    3x3 / 2    224x224  0.30  0.03 + 0.21
    1 -> 32   3x3        224x224  0.78-0.86  0.04 + 0.17     3 -> 1024  14x14 / 14 224x224  1.54  0.01 + 1.42
    2 -> 64   3x3        224x224  1.05-1.66  0.06 + 0.56     3 -> 32    9x9        224x224  3.44  1.44 + 5.56
"""

from __future__ import annotations

from math import prod

from korch.ir.builder import nothing_to_do
from korch.ir.graph import Graph
from korch.ir.primitive import REASSOCIATED, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.cost import PER_BYTE
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed

SHARE = {1: 0.15, 2: 0.25, 3: 0.6}
"""The least share of the peak that direct convolutions of so few channels were seen to reach; of more, it is all."""
LARGEST = 1 << 25
"""Bytes of a matrix that caches may still help with."""


@rewrite(stage=2, error=REASSOCIATED)
def im2col(graph: Graph) -> Graph:
    """`graph` with the product for every channels-last convolution whose matrix of windows is cheap enough."""
    build = _Im2col(graph, "im2col", REASSOCIATED)
    for p in graph.primitives:
        if _has_windows(p) and _pays(p):
            build.convolution(p)
    return build.result


def _has_windows(p: Primitive) -> bool:
    """Whether every output sees all channels of more than one position, by constant weights."""
    if not p.spec.is_convolution or not p.attr("channels_last") or p.attr("group") != 1 or not p.inputs[1].const:
        return False
    return p.output.rank == 4 and min(p.attr("pads")) >= 0 and p.inputs[1].shape[2:] != (1, 1)


def _pays(p: Primitive) -> bool:
    """Whether the product and the matrix, moved once, may take less than a direct convolution that idles."""
    channels, *kernel = p.inputs[1].shape[1:]
    length = channels * prod(kernel)
    moved, work = p.output.nbytes // p.output.shape[-1] * length, p.output.size * length
    return moved <= LARGEST and work + PER_BYTE * moved <= work / SHARE.get(channels, 1.0)


class _Im2col(Transformed):
    def convolution(self, p: Primitive) -> None:
        """Adds the chain that ends in p's output; rows of the input are runs of all their channels."""
        n, height, width, _ = p.output.shape
        _, inputs, rows, columns = p.inputs[1].shape
        x = self._padded(p)
        x = self._step(p, "Reshape", x, shape=(*x.shape[:2], x.shape[2] * inputs))
        x = self._gathered(p, self._gathered(p, x, 0, 1), 1, inputs)
        x = self._step(p, "Reshape", x, shape=(n, height, rows, width, columns * inputs))
        x = self._step(p, "Transpose", x, perm=(0, 1, 3, 2, 4))
        x = self._step(p, "Reshape", x, shape=(n, height * width, rows * columns * inputs))
        y = self._step(p, "MatMul", x, self._weights(p.inputs[1]))
        self.add(p, "Reshape", (y,), p.output, shape=p.output.shape)

    def _padded(self, p: Primitive) -> Tensor:
        top, left, bottom, right = p.attr("pads")
        around = (0, top, left, 0, 0, bottom, right, 0)
        return self._step(p, "Pad", p.inputs[0], pads=around, mode="constant", value=0.0)

    def _gathered(self, p: Primitive, x: Tensor, axis: int, each: int) -> Tensor:
        """What the outputs along a spatial axis see of it, window after window; a position is `each` elements."""
        step, dilation, taps = p.attr("strides")[axis], p.attr("dilations")[axis], p.inputs[1].shape[2 + axis]
        seen = (i * step + k * dilation for i in range(p.output.shape[1 + axis]) for k in range(taps))
        indices = tuple(at * each + c for at in seen for c in range(each))
        return self._step(p, "Gather", x, axis=1 + axis, indices=indices)

    def _weights(self, w: Tensor) -> Tensor:
        """[o, i, h, w] -> [h * w * i, o]."""
        channels = w.shape[0]
        shape = (w.size // channels, channels)
        return self.constant(w, "im2col", shape, lambda v: v.transpose(2, 3, 1, 0).reshape(shape))

    def _step(self, p: Primitive, op: str, *inputs: Tensor, **attrs: object) -> Tensor:
        """The output of the new primitive; its input where that would be the same."""
        idle = nothing_to_do(op, inputs, attrs)
        return idle or self.add(p, op, inputs, f"{p.output.name}_im2col{len(self.added)}", **attrs)
