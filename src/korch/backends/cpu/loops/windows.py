"""A convolution over one or two axes in numbers: what kernels for windows are written with."""

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
    """Those of a convolution; one over a single axis has height 1."""
    x, y, w = p.inputs[0].shape, p.output.shape, p.inputs[1].shape
    axes = len(w) - 2
    first, channel = (1, -1) if p.attr("channels_last") else (2, 1)

    def both(along: tuple[int, ...], one: int) -> tuple[int, int]:
        return (one, along[0]) if axes == 1 else (along[0], along[1])

    return Window(
        x[channel],
        both(x[first : first + axes], 1),
        both(y[first : first + axes], 1),
        both(w[2:], 1),
        both(p.attr("strides"), 1),
        both(p.attr("dilations"), 1),
        both(p.attr("pads")[:axes], 0),
    )


def lines_seen(window: Window) -> list[str]:
    """C of `top`, where the windows of the outputs in row h begin, and of those of their lines that lie in the image,
    from `first` to `last` - 1; where there are none, `last` may be less."""
    high, dilation = window.inputs[0], window.dilations[0]
    return [
        f"const int top = h * {window.strides[0]} - {window.pads[0]};",
        f"const int first = top < 0 ? ({dilation - 1} - top) / {dilation} : 0;",
        f"const int last = top < {high} ? "
        f"KORCH_MIN({window.kernel[0]}, ({high + dilation - 1} - top) / {dilation}) : 0;",
    ]
