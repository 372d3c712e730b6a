"""A convolution over two axes in numbers: what kernels for windows are written with."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from korch.ir.primitive import Primitive


@dataclass(frozen=True)
class Window:
    """The convolution's numbers: of input, output and kernel, along height and width."""

    channels: int
    inputs: tuple[int, int]
    outputs: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int]

    @property
    def taps(self) -> int:
        return self.kernel[0] * self.kernel[1]

    def span(self, outputs: int) -> int:
        """Positions of a row that the windows of so many neighbours see."""
        return (outputs - 1) * self.strides[1] + (self.kernel[1] - 1) * self.dilations[1] + 1

    def at(self, row: int, column: int) -> int:
        """Floats from an input position to the one so many rows and columns further."""
        return (row * self.inputs[1] + column) * self.channels

    def readers(self, axis: int, outputs: int) -> dict[int, list[tuple[int, int]]]:
        """By input position along the axis, counted from the first window's begin: (output, tap) of those that see
        it."""
        seen: dict[int, list[tuple[int, int]]] = {}
        for j, k in itertools.product(range(outputs), range(self.kernel[axis])):
            seen.setdefault(j * self.strides[axis] + k * self.dilations[axis], []).append((j, k))
        return dict(sorted(seen.items()))


def window_of(p: Primitive) -> Window:
    """Those of a channels-last convolution over two axes."""
    x, y, w = p.inputs[0].shape, p.output.shape, p.inputs[1].shape
    return Window(x[3], (x[1], x[2]), (y[1], y[2]), (w[2], w[3]), p.attr("strides"), p.attr("dilations"),
                  p.attr("pads")[:2])  # fmt: skip
