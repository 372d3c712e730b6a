"""Direct convolutions as C: a tile of outputs along a row, by a group of channels, in registers.

Convolutions of images and sound, and those of groups, see so few channels at once that the layouts of libraries
waste lanes on it. Each step of a tile is one number of each window and one vector of weights for each vector of
channels. An image that comes channels-first is read as it lies. Windows that reach over the left or right edge are
copied, with zeros, first; rows beyond an edge are left out. Where there are many channels, `panels.py` has the loops.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from korch.backends.cpu.c import Code, Function, Statements
from korch.backends.cpu.loops import epilogue, panels, sums
from korch.backends.cpu.loops.direct import Direct, packing
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.refusals import tensors_refusal
from korch.backends.cpu.loops.tile import Group
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.windows import lines_seen, window_of
from korch.backends.cpu.loops.writer import SMALL
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.primitive import Primitive

FEW = 24
"""Channels of the input or of the output: of more of both, Winograd's algorithm takes fewer multiply-adds where square
windows move by one, and all channels are seen together. (Of oneDNN's time, on Zen 3 with two threads: 3x3 by two from
256 channels at 26x26 to 512 0.88, from 64 at 104x104 to 128 0.87; of groups with 8 to 32, by one 0.5 to 1.1, by two 0.4
to 0.9, with 4 0.1; 11 taps over 256 channels of a signal 0.7.)"""
LEAST = 4
"""Channels that each of several groups reads and makes at least."""
PATCH = 1 << 17
"""Bytes on the stack for windows at an edge."""


class DirectForm:
    """A convolution of windows, channels-last, and its epilogue."""

    priority = 30
    counts_elements = False

    def matches(self, cone: Cone) -> bool:
        """Whether the cone begins with a convolution of windows, but for views of its image."""
        return _parts(cone) is not None

    def refusal(self, cone: Cone) -> str:
        """Why a cone that begins with one is not built; empty if it is."""
        found = _parts(cone)
        assert found, "begins with another primitive"
        views, p, rest = found
        x, w = p.inputs
        if len(cone.linear) > 1:
            return "a direct convolution stands alone"
        if not w.const or w.value is not None or x.const:
            return "a convolution with computed weights"
        if views and not (_turns_planes(views) and {q.output for q in views}.isdisjoint(cone.leaves)):
            return "an image that is turned in another way"
        if min(p.attr("pads")) < 0 or (_is_transformed(p) and min(x.shape[-1], w.shape[0]) > FEW):
            return f"negative pads, or a square window over more than {FEW} channels"
        direct = _direct(views, p)
        if not direct.in_panels and 4 * direct.kernel[0] * direct.span(direct.tiles()[1]) * direct.channels > PATCH:
            return "windows at an edge are too large"
        return epilogue.refusal(p, rest) or tensors_refusal(cone)

    def generate(self, cone: Cone, threads: int) -> Code:
        """C for a direct convolution and its epilogue."""
        found = _parts(cone)
        assert found, "begins with another primitive"
        views, p, _ = found
        window, streamed = _direct(views, p), epilogue.streams(cone)
        threads = threads if multiply_adds(p) > SMALL else 1
        text = epilogue.begun(cone, window.image)
        write = panels.write if window.in_panels else _write
        functions = write(text, cone, p, window, threads, streamed)
        workspace = panels.workspace(window, threads) if window.in_panels else 0
        declarations = (*packing(window, cone.leaves.index(p.inputs[1])), *functions)
        return epilogue.code(cone, text, threads, streamed, declarations, workspace)


def _parts(cone: Cone) -> tuple[list[Primitive], Primitive, list[Primitive]] | None:
    """Views of an image, the convolution that reads them, and what stands behind it."""
    at = next((i for i, p in enumerate(cone.primitives) if not p.spec.moves_axes), 0)
    views, p, rest = [*cone.primitives[:at]], cone.primitives[at], [*cone.primitives[at + 1 :]]
    image = p.spec.is_convolution and p.output.rank in (3, 4) and p.attr("channels_last")
    if not image or not _fill_tiles(p, views):
        return None
    if any(q.output not in following.inputs[:1] for q, following in pairwise([*views, p])):
        return None
    return None if math.prod(p.inputs[1].shape[2:]) == 1 else (views, p, rest)


def _is_transformed(p: Primitive) -> bool:
    """Whether Winograd's algorithm has choices for it: square windows that move by one, which all see all channels."""
    kernel = p.inputs[1].shape[2:]
    return len(kernel) == 2 and len(set(kernel)) == 1 and p.attr("group") == 1 and set(p.attr("strides")) == {1}


def _fill_tiles(p: Primitive, views: Sequence[Primitive]) -> bool:
    """Whether each group, of several, reads and makes enough channels for tiles."""
    w, groups = p.inputs[1], p.attr("group")
    return groups == 1 or (not views and min(w.shape[1], w.shape[0] // groups) >= LEAST)


def _turns_planes(views: Sequence[Primitive]) -> bool:
    """Whether the views are some rows of an image, or a signal, that lies channel by channel, seen channels-last."""
    *sliced, turn = views
    if turn.spec.permutes and turn.attr("perm") == (0, 2, 1):
        return not sliced
    if len(sliced) > 1 or not turn.spec.permutes or turn.attr("perm") != (0, 2, 3, 1):
        return False
    x = views[0].inputs[0]
    return all(
        q.spec.cuts and set(q.attr("steps")) == {1} and q.output.shape == (*x.shape[:2], q.output.shape[2], x.shape[3])
        for q in sliced
    )


def _direct(views: Sequence[Primitive], p: Primitive) -> Direct:
    image = (*views, p)[0].inputs[0]
    begin = views[0].attr("starts")[2] if len(views) > 1 else 0
    return Direct(
        **vars(window_of(p)),
        made=p.inputs[1].shape[0],
        image=image,
        begin=begin,
        planar=bool(views),
        groups=p.attr("group"),
    )


def _write(
    text: Statements, cone: Cone, p: Primitive, window: Direct, threads: int, streamed: bool
) -> Iterable[Function]:
    """The functions that the kernel's loops call; adds these loops, tile by tile, as `panels.write` does by panels."""
    height, width = window.outputs
    count, columns = window.tiles()
    loops = (Loop("image", window.image.shape[0]), Loop("h", height), Loop("part", count))
    room, functions = sum(g.width for g in window.columns), dict[str, Function]()
    with shared_out(text, loops, threads, multiply_adds(p)):
        text.add(f"const int left = KORCH_MIN(part * {columns}, {width - columns});")
        _find(text, window, columns)
        text.add(f"float y[{columns * max(g.width for g in window.columns)}] __attribute__((aligned(64)));")
        with text.block(f"for (int some = 0; some < {window.groups}; ++some)"):
            text.add(
                f"const float *const own = a + some * {window.read};",
                f"const float *const packed = (const float *)state + some * {window.steps * room};",
            )
            for number, at, group in sums.alike(window.columns):
                name = f"tile{'_'.join(map(str, group.lanes))}"
                functions[name] = sums.function(name, columns, window.strides[1] * window.pixel, window.runs, group)
                with text.block(f"for (int group = 0; group < {number}; ++group)"):
                    _multiply(text, window, name, group, at)
                    _store(text, cone, p, group, columns, streamed)
    return functions.values()


def _multiply(text: Statements, window: Direct, name: str, group: Group, at: int) -> None:
    """The sums of a tile for a group of columns, of which `at` are packed before the first that is alike, by the
    function `name`."""
    text.add(
        f"enum {{ count = {group.columns} }};",
        f"const int c0 = some * {window.made // window.groups} + {group.first} + group * {group.width};",
        f"const float *b = packed + {window.steps} * ({at} + group * {group.width});",
    )
    sums.add(text, name, window.runs, group)


def _store(text: Statements, cone: Cone, p: Primitive, group: Group, columns: int, streamed: bool) -> None:
    """The root from the sums of a tile."""
    with text.block(f"for (int w = left; w < left + {columns}; ++w)"):
        text.add(f"const float *restrict z = y + (w - left) * {group.width};")
        epilogue.store(text, cone, p, streamed, of=group.columns)


def _find(text: Statements, window: Direct, columns: int) -> None:
    """Where the windows of the outputs from (h, left) on begin: `a`, its lines from `first` to `last` - 1, which are
    `line` floats apart, as channels are `plane`. Those that reach over the left or the right edge are in a copy of what
    they see, with zeros beyond."""
    width, dilation, span = window.inputs[1], window.dilations[0], window.span(columns)
    pixel, planes = window.pixel, window.channels if window.planar else 1
    row, image = width * pixel, math.prod(window.image.shape[1:])
    text.add(
        *lines_seen(window),
        f"const int column = left * {window.strides[1]} - {window.pads[1]};",
        f"const float *a = x + image * INT64_C({image}) + ({window.begin} + top + first * {dilation}) * {row} "
        f"+ column * {pixel};",
        f"int line = {dilation * row}, plane = {math.prod(window.image.shape[2:]) if window.planar else 0};",
        f"float patch[{window.kernel[0] * span * window.channels}] __attribute__((aligned(64)));",
    )
    with text.block(f"if (column < 0 || column + {span} > {width})"):
        text.add(
            f"const int from = KORCH_MIN(KORCH_MAX(0, -column), {span});",
            f"const int to = KORCH_MAX(KORCH_MIN({span}, {width} - column), from);",
        )
        with text.block(f"for (int l = 0; l < (last - first) * {planes}; ++l)"):
            text.add(
                f"float *const copy = patch + l * {span * pixel};",
                f"const float *const seen = a + l / {planes} * line + l % {planes} * plane;",
                f"memset(copy, 0, from * {4 * pixel});",
                f"memcpy(copy + from * {pixel}, seen + from * {pixel}, (to - from) * {4 * pixel});",
                f"memset(copy + to * {pixel}, 0, ({span} - to) * {4 * pixel});",
            )
        text.add(f"a = patch, line = {planes * span * pixel}, plane = {span * pixel};")


FORM: KernelForm = DirectForm()
