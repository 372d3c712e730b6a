"""The numbers of a direct convolution, and the order of its weights in the kernel's state."""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.cpu.c import Function, Statements, Table
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops import tile
from korch.backends.cpu.loops.caches import L1
from korch.backends.cpu.loops.sums import Runs
from korch.backends.cpu.loops.tile import Group, registers
from korch.backends.cpu.loops.windows import Window
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.ir.tensor import Tensor

LONG = 64
"""Channels that windows see, from which on one place of the kernel is enough steps for a tile."""
SHARES = 8
"""Rows, or groups of columns, that panels leave to be divided by threads."""
ABREAST = 3
"""Vectors of a tile of panels where there are registers enough: it reads weights for nine rows, one of four vectors for
six. (Of 153 GFLOP/s of a core of Cascade Lake, 3x3 by two, 256 channels at 28x28 to 512: 131 with two vectors, 137 with
three, 135 with four; 512 at 26x26 to 1024 107, 134 and 131; 512 at 14x14 to 512 130, 135 and 115.)"""


@dataclass(frozen=True)
class Direct(Window):
    """A convolution, and the leaf that it reads."""

    made: int
    """Channels of the output."""
    image: Tensor
    begin: int
    """The first row that is seen of the image."""
    planar: bool
    """Whether the image lies channel by channel."""
    groups: int = 1

    @property
    def read(self) -> int:
        """Channels that an output sees."""
        return self.channels // self.groups

    @property
    def weights(self) -> int:
        """Bytes of a group's."""
        return 4 * self.taps * self.read * self.made // self.groups

    @property
    def by_columns(self) -> bool:
        """Whether threads divide columns, of weights that have more bytes than an image, rather than its rows."""
        several = len(self._of_panels) * self.groups * self.image.shape[0] >= SHARES
        return several and self.weights > 4 * self.inputs[0] * self.inputs[1] * self.read

    @property
    def in_panels(self) -> bool:
        """Whether weights come panel by panel (`panels.py`): a group's leave the first-level cache between tiles, and
        there is enough to divide."""
        enough = self.by_columns or self.outputs[0] * self.groups * self.image.shape[0] >= SHARES
        return enough and not self.planar and self.read >= LONG and self.weights > 2 * L1

    @property
    def columns(self) -> tuple[Group, ...]:
        """The channels that each group makes, as tiles take them."""
        return self._of_panels if self.in_panels else tile.groups(self.made // self.groups)

    @property
    def _of_panels(self) -> tuple[Group, ...]:
        return tile.groups(self.made // self.groups, 0 if registers().few else ABREAST)

    @property
    def runs(self) -> Runs:
        taps, dilation = self.kernel[1], self.dilations[1]
        if self.planar:
            return Runs(self.channels, None, taps, dilation)
        if dilation == self.groups == 1 and taps * self.channels <= tile.LONGEST and not self.in_panels:
            return Runs(1, 0, taps * self.channels, 1)
        return Runs(taps, dilation * self.channels, self.read, 1)

    @property
    def pixel(self) -> int:
        """Floats from one position of a row to the next."""
        return 1 if self.planar else self.channels

    @property
    def steps(self) -> int:
        return self.kernel[0] * self.runs.steps

    def tiles(self) -> tuple[int, int]:
        """(tiles of a row, outputs of one)."""
        most = min(registers().rows(len(g.lanes)) for g in self.columns)
        count = -(-self.outputs[1] // most)
        return count, -(-self.outputs[1] // count)


def packing(window: Direct, leaf: int) -> tuple[Function, ...]:
    """The functions that make and free the state: [made, channels, kh, kw] group by group, in each its columns group by
    group, each step by step."""
    made, (high, wide) = window.made // window.groups, window.kernel
    found = [(some * made + g.first, g.columns, g.width) for some in range(window.groups) for g in window.columns]
    size = 4 * window.steps * sum(width for *_, width in found)
    channel, tap = _place(window)
    text = Statements()
    text.add(
        f"const float *w = in[{leaf}];",
        f"float *to = *state = korch_aligned({size});",
        "if (!to) return 1;",
        Table("int", "groups", (", ".join(f"{{{a}, {b}, {c}}}" for a, b, c in found),), "[][3]"),
        f"for (int g = 0; g < {len(found)}; ++g)",
        f"  for (int l = 0; l < {high}; ++l)",
        f"    for (int o = 0; o < {window.runs.outer}; ++o)",
        f"      for (int k = 0; k < {window.runs.inner}; ++k)",
    )
    with text.block("        for (int n = 0; n < groups[g][2]; ++n)"):
        text.add(
            f"const int channel = {channel}, tap = {tap};",
            f"const int at = ((groups[g][0] + n) * {window.read} + channel) * {high} + l;",
            f"*to++ = n < groups[g][1] ? w[at * {wide} + tap] : 0.0f;",
        )
    text.add(packed(size))
    return init_function(text.body), FREE_PACKED


def _place(window: Direct) -> tuple[str, str]:
    """C for the channel, and for the column of the kernel, of step k of run o."""
    if window.planar:
        return "o", "k"
    if window.runs.outer > 1:
        return "k", "o"
    return f"k % {window.channels}", f"k / {window.channels}"
