"""Direct convolutions of many channels as C, panel by panel of their weights.

A panel is what one place of the kernel has for some steps of a group of columns: what the first-level cache holds. It
is multiplied with what all outputs of a band of rows see of the image there, and their sums wait beside the panel until
the last. So weights are read once a band instead of once a tile. What lies beyond an edge is left out: every
column of the kernel has tiles for those outputs of a row that see the image through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from korch.backends.cpu.c import Function, Statements, own
from korch.backends.cpu.loops import epilogue, tile
from korch.backends.cpu.loops.caches import L2
from korch.backends.cpu.loops.direct import Direct
from korch.backends.cpu.loops.sums import alike
from korch.backends.cpu.loops.tile import Group, Strides
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.writer import LINE, aligned
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.primitive import Primitive

SUMS = L2 // 8
"""Bytes of a band's sums for a group of columns, which are read and written once a panel."""
HEAVY = L2 // 2
"""Bytes of weights from which on the next panel is asked for while one is multiplied."""


@dataclass(frozen=True)
class _Share:
    """A turn of the shared loops: one of so many bands of rows, of one of the convolution's groups, and one of so many
    parts of its groups of columns."""

    bands: int
    parts: int

    def rows(self, window: Direct) -> int:
        """Rows of a band, at most."""
        return -(-window.outputs[0] // self.bands)


def write(
    text: Statements, cone: Cone, p: Primitive, window: Direct, threads: int, streamed: bool
) -> Iterable[Function]:
    """The functions that the kernel's loops call; adds these loops. `streamed`: the root goes past the caches."""
    share, functions = _share_of(window, threads), dict[str, Function]()
    room = _room(window, share)
    text.add(f"float *const y = (float *)((char *)workspace + {epilogue.thread_number(threads)} * INT64_C({room}));")
    loops = (
        Loop("image", window.image.shape[0]),
        Loop("band", share.bands),
        Loop("some", window.groups),
        Loop("part", share.parts),
    )
    height, groups, before = window.outputs[0], len(window.columns), 0
    with shared_out(text, loops, threads, multiply_adds(p)):
        text.add(f"const int top = band * {height} / {share.bands}, end = (band + 1) * {height} / {share.bands};")
        for number, at, group in alike(window.columns):
            low, high = (f"({part}) * {groups} / {share.parts} - {before}" for part in ("part", "part + 1"))
            with text.block(f"for (int group = KORCH_MAX({low}, 0); group < KORCH_MIN({high}, {number}); ++group)"):
                _begin(text, window, group, at)
                _multiply(text, window, group, share, functions)
                _store(text, cone, p, window, group, streamed)
            before += number
    return functions.values()


def workspace(window: Direct, threads: int) -> int:
    """Bytes for the sums of all threads."""
    return _room(window, _share_of(window, threads)) * threads


def _room(window: Direct, share: _Share) -> int:
    """Bytes for the sums of one thread: of a band, for the widest group of columns."""
    return aligned(4 * share.rows(window) * window.outputs[1] * max(g.width for g in window.columns))


def _share_of(window: Direct, threads: int) -> _Share:
    """The turns of which every thread gets about equal work."""
    images, height = window.image.shape[0] * window.groups, window.outputs[0]
    parts = threads if window.by_columns and images % threads else 1
    bands = least = threads if images * parts % threads else 1
    row = 4 * window.outputs[1] * max(g.width for g in window.columns)
    while -(-height // bands) * row > SUMS and bands < height:
        bands += least
    return _Share(min(bands, height), parts)


def _begin(text: Statements, window: Direct, group: Group, at: int) -> None:
    """The first output channel and the weights of a group of columns, of which `at` are packed before the first that is
    alike, and sums of zero."""
    packed = window.steps * sum(g.width for g in window.columns)
    text.add(
        f"enum {{ count = {group.columns} }};",
        f"const int c0 = some * {window.made // window.groups} + {group.first} + group * {group.width};",
        f"const float *const packed = (const float *)state + some * INT64_C({packed}) "
        f"+ INT64_C({window.steps}) * ({at} + group * {group.width});",
        f"memset(y, 0, (end - top) * {4 * window.outputs[1] * group.width});",
    )


def _multiply(text: Statements, window: Direct, group: Group, share: _Share, functions: dict[str, Function]) -> None:
    """The sums of a band, panel by panel; what they call is added to `functions`."""
    read, (high, wide) = window.read, window.kernel
    each = -(-read // -(-read // tile.LONGEST))
    with text.block(f"for (int l = 0; l < {high}; ++l)"):
        for begin, end, (low, to) in _taps(window):
            panels = (f"for (int t = {begin}; t < {end}; ++t)", f"for (int k0 = 0; k0 < {read}; k0 += {each})")
            with text.nest(panels):
                text.add(
                    f"const int steps = {f'KORCH_MIN({each}, {read} - k0)' if read % each else each};",
                    f"const float *const b = packed + ((l * {wide} + t) * {read} + k0) * {group.width};",
                )
                with text.block("for (int h = top; h < end; ++h)"):
                    _row(text, window, group, share, low, to, functions)


def _taps(window: Direct) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Columns of the kernel from `begin` to `end` - 1 through which the same outputs of a row see the image."""
    stride, dilation, pad, width = window.strides[1], window.dilations[1], window.pads[1], window.inputs[1]

    def seeing(t: int) -> tuple[int, int]:
        first = pad - t * dilation
        low = max(0, -(-first // stride))
        return low, max(low, min(window.outputs[1], (width - 1 + first) // stride + 1))

    for outputs, taps in groupby(range(window.kernel[1]), key=seeing):
        some = list(taps)
        if outputs[0] < outputs[1]:
            yield some[0], some[-1] + 1, outputs


def _row(
    text: Statements, window: Direct, group: Group, share: _Share, low: int, end: int, functions: dict[str, Function]
) -> None:
    """The tiles of row h over the outputs from `low` to `end` - 1, by the panel `b`; what they call is added to
    `functions`."""
    (high, wide), (down, right) = window.inputs, window.strides
    pixel, runs = window.channels, list(tile.runs(end - low, len(group.lanes)))
    tiles = sum((b - a) // rows for a, b, rows in runs)
    asked = -(-group.width // (tiles * share.rows(window)))
    ahead = tile.Ahead(-(-asked // LINE), asked) if window.weights > HEAVY else None
    strides = Strides(right * pixel, 1, group.width, group.width, packed=True)
    text.add(
        f"const int row = h * {down} - {window.pads[0]} + l * {window.dilations[0]};",
        f"if (row < 0 || row >= {high}) continue;",
        f"const float *const a = x + ((image * {high} + row) * INT64_C({wide}) + t * {window.dilations[1]} "
        f"+ {low * right - window.pads[1]}) * {pixel} + some * {window.read} + k0;",
        f"float *const c = y + ((h - top) * {window.outputs[1]} + {low}) * {group.width};",
    )
    done = 0
    for first, last, rows in runs:
        name = f"tile{'_'.join(map(str, group.lanes))}x{rows}"
        name += f"_{ahead.lines}ahead{ahead.step}" if ahead else ""
        functions[name] = tile.function(name, rows, group, strides, True, None, ahead)
        number = f"((h - top) * {tiles} + {done} + (r - {first}) / {rows})"
        behind = f", b + ({group.width} + {number} * {asked}) * steps" if ahead else ""
        text.add(
            f"for (int r = {first}; r < {last}; r += {rows})",
            f"  {own(name)}(a + r * {strides.row}, b, c + r * {group.width}, steps{behind});",
        )
        done += (last - first) // rows


def _store(text: Statements, cone: Cone, p: Primitive, window: Direct, group: Group, streamed: bool) -> None:
    """The root from the sums of a band."""
    with text.nest(("for (int h = top; h < end; ++h)", f"for (int w = 0; w < {window.outputs[1]}; ++w)")):
        text.add(f"const float *restrict z = y + ((h - top) * {window.outputs[1]} + w) * {group.width};")
        epilogue.store(text, cone, p, streamed, of=group.columns)
