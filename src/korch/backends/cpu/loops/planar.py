"""Direct convolutions to few channels as C, channels-first: vectors of neighbours along a row, all channels together.

Images and maps of depth have fewer channels than a vector has lanes, and a layout with channels innermost wastes the
others. Each step of a tile is one vector of the row for each of its places and one weight for each channel, all of them
multiplied with each other. A whole row of outputs is summed over some channels of the input at a time, so that these
are read in whole lines. What lies beyond the left or right edge is not loaded; rows beyond an edge are left out. (On
Zen 3 with two threads, from cold caches: 9x9 from 32 channels to 3 at 224x224 5.5 ms, 4.2 at the peak, where Winograd's
algorithm in blocks takes 8 and oneDNN 100; 3x3 from 64 to 3 at 256x256 2.3 of 1.2, 7x7 at 128x128 2.7 of 1.6.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from korch.backends.cpu.loops import epilogue, tile
from korch.backends.cpu.loops.emit import Code
from korch.backends.cpu.loops.epilogue import close_run, open_run
from korch.backends.cpu.loops.tile import DEEP, registers
from korch.backends.cpu.loops.turns import Loop, open_shared
from korch.backends.cpu.loops.windows import Window, lines_seen, window_of
from korch.backends.cpu.loops.writer import LINE, SMALL, Text
from korch.backends.cpu.packed import FREE, packed
from korch.backends.shared import APART
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.primitive import Primitive

UNROLLED = 9
"""Steps of a line that are written out, at most."""
MOST = 1 << 17
"""Bytes of a row of sums."""


def heads(cone: Cone) -> bool:
    """Whether the cone begins with a convolution, channels-first, to fewer channels than a vector has lanes, whose
    windows move along rows by one."""
    p = cone.primitives[0]
    if not p.spec.is_convolution or p.output.rank not in (3, 4) or p.attr("channels_last") or p.attr("group") > 1:
        return False
    made, _, *kernel = p.inputs[1].shape
    lanes = registers().lanes
    return made < lanes <= p.output.shape[-1] and p.attr("strides")[-1] == 1 and math.prod(kernel) > 1


def objection(cone: Cone) -> str:
    """Why a cone that begins with one is not built; empty if it is."""
    p = cone.primitives[0]
    x, w = p.inputs
    if len(cone.linear) > 1:
        return "a direct convolution stands alone"
    if not w.const or w.value is not None or x.const:
        return "a convolution with computed weights"
    if min(p.attr("pads")) < 0:
        return "negative pads"
    if _Shape.of(p).row * 4 > MOST:
        return "too long a row"
    return epilogue.objection(p, cone.primitives[1:])


@dataclass(frozen=True)
class _Shape:
    """A row of `count` tiles, each so many vectors for each of the channels `made`."""

    window: Window
    made: int
    count: int
    vectors: int

    @staticmethod
    def of(p: Primitive) -> _Shape:
        """Sums fill the registers, but for the fewer of a step's two kinds of operands and one of the other. The last
        tile of a row begins earlier where it would be too long, and computes some outputs again."""
        window, made, lanes = window_of(p), p.output.shape[1], registers().lanes
        width = window.outputs[1]
        fit = [n for n in range(1, width // lanes + 1) if n * made + min(n, made) + 1 <= registers().count]
        shapes = [_Shape(window, made, -(-width // (n * lanes)), n) for n in fit or (1,)]
        return min(shapes, key=lambda s: (s.count * max(s.vectors * made, DEEP), -s.vectors))

    @property
    def columns(self) -> int:
        """Outputs of a tile along the row."""
        return self.vectors * registers().lanes

    @property
    def tile(self) -> int:
        """Floats that a tile sums up."""
        return self.made * self.columns

    @property
    def row(self) -> int:
        """Floats that a row of tiles sums up."""
        return self.count * self.tile

    @property
    def channels(self) -> int:
        """Of the input, that are summed at a time: sums of sums err less than one long sum."""
        return max(1, tile.LONGEST // self.window.taps)


def generate(cone: Cone, threads: int) -> Code:
    """C for a direct convolution to few channels and what stands behind it."""
    p = cone.primitives[0]
    shape, text, threads = _Shape.of(p), Text(), threads if multiply_adds(p) > SMALL else 1
    window, made, columns = shape.window, shape.made, shape.columns
    (height, width), plane = window.outputs, math.prod(window.inputs)
    open_run(text, cone, p.inputs[0], threads)
    opened = open_shared(text, (Loop("image", p.output.shape[0]), Loop("h", height)), threads, multiply_adds(p))
    text.add(
        *lines_seen(window),
        f"const float *const a = x + (image * INT64_C({window.channels * window.inputs[0]}) + top + first * "
        f"{window.dilations[0]}) * {window.inputs[1]};",
        f"const float *const b = (const float *)state + first * {window.kernel[1] * made};",
        f"float y[{shape.row}] __attribute__((aligned(64)));",
    )
    text.open(f"for (int c = 0; c < {window.channels}; c += {shape.channels})")
    text.open(f"for (int part = 0; part < {shape.count}; ++part)")
    text.add(
        f"const int left = KORCH_MIN(part * {columns}, {width - columns}) - {window.pads[1]};",
        f"const float *const at = a + c * INT64_C({plane}) + left;",
        f"const float *const packed = b + c * {window.taps * made};",
        f"float *const sums = y + part * {shape.tile};",
        f"const int channels = KORCH_MIN({shape.channels}, {window.channels} - c);",
    )
    if window.span(width) > window.inputs[1]:
        text.add(
            f"if (left < 0 || left + {window.span(columns)} > {window.inputs[1]})",
            "  KERNEL_edge(at, packed, sums, channels, last - first, c > 0, left);",
            "else",
        )
    text.add("KERNEL_tile(at, packed, sums, channels, last - first, c > 0, left);")
    text.close(2)
    text.open(f"for (int part = 0; part < {shape.count}; ++part)")
    text.open(f"for (int m = 0; m < {made}; ++m)")
    text.add(
        f"enum {{ count = {columns} }};",
        f"const int row = (image * {made} + m) * {height} + h, c0 = KORCH_MIN(part * {columns}, {width - columns});",
        f"const float *restrict z = y + (part * {made} + m) * {columns};",
    )
    epilogue.store_row(text, cone, p, streamed=False, of=columns)
    text.close(2)
    close_run(text, opened, streamed=False)
    edges = _tile(shape, edge=True) if window.span(width) > window.inputs[1] else []
    lines = [*_packing(shape, cone.leaves.index(p.inputs[1])), *_tile(shape, edge=False), *edges, *text.lines]
    return Code("\n".join(lines) + "\n", 0)


def _tile(shape: _Shape, edge: bool) -> list[str]:
    """C that sums a tile into y, over some channels and so many lines of the windows; at an `edge`, of what begins at
    `left` in its row. It asks for the line that the tile below will see and this one does not."""
    window, made, lanes = shape.window, shape.made, registers().lanes
    (high, wide), line, plane = window.kernel, window.dilations[0] * window.inputs[1], math.prod(window.inputs)
    sums = [(m, v) for m in range(made) for v in range(shape.vectors)]
    lines = [
        APART,
        f"static void KERNEL_{'edge' if edge else 'tile'}(const float *restrict a, const float *restrict b, "
        "float *restrict y, int channels, int lines, int more, int left) {",
        *(_masks(shape) if edge else ["  (void)left;"]),
        *(f"  korch_f{lanes} s{m}_{v} = {{0}};" for m, v in sums),
        f"  for (int c = 0; c < channels; ++c, a += {plane}, b += {high * wide * made}) {{",
        f"    const float *row = a, *next = b, *const ahead = a + lines * {line};",
        *(f"    __builtin_prefetch(ahead + {at}, 0, 2);" for at in range(0, shape.columns, LINE)),
        f"    for (int l = 0; l < lines; ++l, row += {line})",
    ]
    each = max(n for n in range(1, UNROLLED + 1) if wide % n == 0)
    lines += [
        f"      for (int k0 = 0; k0 < {wide}; k0 += {each})",
        f"#pragma GCC unroll {each}",
        f"        for (int i = 0; i < {each}; ++i, next += {made}) {{",
        "          const int k = k0 + i;",
        *_step(shape, edge),
        tile.STEP_ENDS,
        "        }",
        "  }",
    ]
    places = [(f"*(korch_at{lanes} *)(y + {m * shape.columns + v * lanes})", f"s{m}_{v}") for m, v in sums]
    lines += ["  if (more) {", *(f"    {s} += {place};" for place, s in places), "  }"]
    return [*lines, *(f"  {place} = {s};" for place, s in places), "}"]


def _masks(shape: _Shape) -> list[str]:
    """C of which lanes each step has of each vector of the row: those that are in the image."""
    lanes, wide, width = registers().lanes, shape.window.kernel[1], shape.window.inputs[1]
    return [
        f"  korch_some{lanes} masks[{wide}][{shape.vectors}];",
        f"  for (int k = 0; k < {wide}; ++k)",
        f"    for (int v = 0; v < {shape.vectors}; ++v) {{",
        f"      const int at = left + k * {shape.window.dilations[1]} + v * {lanes};",
        f"      masks[k][v] = korch_between{lanes}(-at, {width} - at);",
        "    }",
    ]


def _step(shape: _Shape, edge: bool) -> list[str]:
    """C of step k of a line, which holds the fewer of its operands, weights or vectors of the row, and takes the others
    one after another."""
    made, vectors, lanes = shape.made, shape.vectors, registers().lanes

    def seen(v: int) -> str:
        place = f"row + k * {shape.window.dilations[1]} + {v * lanes}"
        return f"korch_load_some{lanes}({place}, masks[k][{v}])" if edge else f"*(const korch_at{lanes} *)({place})"

    weights = [[f"const korch_fn w{m} = KORCH_ALL(next[{m}]);"] for m in range(made)]
    row = [[f"korch_f{lanes} x{v} = {seen(v)};", *tile.held(f"x{v}")] for v in range(vectors)]
    held, others = (weights, row) if made <= vectors else (row, weights)
    lines = [line for operand in held for line in operand]
    for i, operand in enumerate(others):
        pairs = [(j, i) if made <= vectors else (i, j) for j in range(len(held))]
        lines += ["{", *operand, *(f"KORCH_FMA{lanes}(s{m}_{v}, w{m}, x{v});" for m, v in pairs), "}"]
    return [f"          {line}" for line in lines]


def _packing(shape: _Shape, leaf: int) -> list[str]:
    """State: the weights [made, channels, taps] as [channels, taps, made]."""
    made, steps = shape.made, shape.window.channels * shape.window.taps
    return [
        "static int KERNEL_init(void **state, const void *const *in) {",
        f"  const float *w = in[{leaf}];",
        f"  float *to = *state = korch_aligned({4 * made * steps});",
        "  if (!to) return 1;",
        f"  for (int step = 0; step < {steps}; ++step)",
        f"    for (int m = 0; m < {made}; ++m) *to++ = w[m * {steps} + step];",
        f"  {packed(4 * made * steps)}",
        "}",
        FREE,
    ]
