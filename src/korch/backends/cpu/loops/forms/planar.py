"""Direct convolutions to few channels as C, channels-first: vectors of neighbours along a row, all channels together.

Images and maps of depth have fewer channels than a vector has lanes, and a layout with channels innermost wastes the
others. Each step of a tile is one vector of the row for each of its places and one weight for each channel, all of them
multiplied with each other. A whole row of outputs is summed over some channels of the input at a time, so that these
are read in whole lines. Elements beyond the left or right edge are not loaded; rows beyond an edge are left out. (On
Zen 3 with two threads, from cold caches: 9x9 from 32 channels to 3 at 224x224 5.5 ms, 4.2 at the peak, where Winograd's
algorithm in blocks takes 8 and oneDNN 100; 3x3 from 64 to 3 at 256x256 2.3 of 1.2, 7x7 at 128x128 2.7 of 1.6.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from korch.backends.cpu.c import Block, Code, Function, Linkage, Statement, Statements, own
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops import epilogue, tile
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.refusals import tensors_refusal
from korch.backends.cpu.loops.tile import DEEP, registers
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.windows import Window, lines_seen, window_of
from korch.backends.cpu.loops.writer import LINE, SMALL
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.primitive import Primitive

UNROLLED = 9
"""Steps of a line that are written out, at most."""
MOST = 1 << 17
"""Bytes of a row of sums."""


class PlanarForm:
    """A convolution, channels-first, to fewer channels than a vector has lanes, and its epilogue."""

    priority = 30
    counts_elements = False

    def matches(self, cone: Cone) -> bool:
        """Whether the cone begins with a convolution, channels-first, to fewer channels than a vector has lanes, whose
        windows move along rows by one."""
        p = cone.primitives[0]
        if not p.spec.is_convolution or p.output.rank not in (3, 4) or p.attr("channels_last") or p.attr("group") > 1:
            return False
        made, _, *kernel = p.inputs[1].shape
        lanes = registers().lanes
        return made < lanes <= p.output.shape[-1] and p.attr("strides")[-1] == 1 and math.prod(kernel) > 1

    def refusal(self, cone: Cone) -> str:
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
        return epilogue.refusal(p, cone.primitives[1:]) or tensors_refusal(cone)

    def generate(self, cone: Cone, threads: int) -> Code:
        """C for a direct convolution to few channels and its epilogue."""
        p = cone.primitives[0]
        shape, threads = _Shape.of(p), threads if multiply_adds(p) > SMALL else 1
        window, text = shape.window, epilogue.begun(cone, p.inputs[0])
        loops = Loop("image", p.output.shape[0]), Loop("h", window.outputs[0])
        with shared_out(text, loops, threads, multiply_adds(p)):
            text.add(
                *lines_seen(window),
                f"const float *const a = x + (image * INT64_C({window.channels * window.inputs[0]}) + top + first * "
                f"{window.dilations[0]}) * {window.inputs[1]};",
                f"const float *const b = (const float *)state + first * {window.kernel[1] * shape.made};",
                f"float y[{shape.row}] __attribute__((aligned(64)));",
            )
            _multiply(text, shape)
            _store(text, cone, p, shape)
        tiles = [_tile(shape, edge) for edge in (False, True)[: 1 + shape.has_edges]]
        declarations = (*_packing(shape, cone.leaves.index(p.inputs[1])), *tiles)
        return epilogue.code(cone, text, threads, declarations=declarations)


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

    @property
    def has_edges(self) -> bool:
        """Whether windows reach over the left or the right edge."""
        return self.window.span(self.window.outputs[1]) > self.window.inputs[1]


def _multiply(text: Statements, shape: _Shape) -> None:
    """The sums of a row, over some channels of the input at a time, tile by tile."""
    window, made, columns, width = shape.window, shape.made, shape.columns, shape.window.inputs[1]
    parts = (
        f"for (int c = 0; c < {window.channels}; c += {shape.channels})",
        f"for (int part = 0; part < {shape.count}; ++part)",
    )
    with text.nest(parts):
        text.add(
            f"const int left = KORCH_MIN(part * {columns}, {window.outputs[1] - columns}) - {window.pads[1]};",
            f"const float *const at = a + c * INT64_C({math.prod(window.inputs)}) + left;",
            f"const float *const packed = b + c * {window.taps * made};",
            f"float *const sums = y + part * {shape.tile};",
            f"const int channels = KORCH_MIN({shape.channels}, {window.channels} - c);",
        )
        operands = "at, packed, sums, channels, last - first, c > 0, left"
        if shape.has_edges:
            text.add(
                f"if (left < 0 || left + {window.span(columns)} > {width})",
                f"  {own('edge')}({operands});",
                "else",
            )
        text.add(f"{own('tile')}({operands});")


def _store(text: Statements, cone: Cone, p: Primitive, shape: _Shape) -> None:
    """The root from the sums of a row."""
    made, columns, (height, width) = shape.made, shape.columns, shape.window.outputs
    rows = (f"for (int part = 0; part < {shape.count}; ++part)", f"for (int m = 0; m < {made}; ++m)")
    with text.nest(rows):
        text.add(
            f"enum {{ count = {columns} }};",
            f"const int row = (image * {made} + m) * {height} + h, "
            f"c0 = KORCH_MIN(part * {columns}, {width - columns});",
            f"const float *restrict z = y + (part * {made} + m) * {columns};",
        )
        epilogue.store_row(text, cone, p, streamed=False, of=columns)


def _tile(shape: _Shape, edge: bool) -> Function:
    """Sums a tile into y, over some channels and so many lines of the windows; at an `edge`, of what begins at `left`
    in its row. It prefetches the line that the tile below reads and this one does not."""
    window, made, lanes = shape.window, shape.made, registers().lanes
    (high, wide), line, plane = window.kernel, window.dilations[0] * window.inputs[1], math.prod(window.inputs)
    sums = [(m, v) for m in range(made) for v in range(shape.vectors)]
    text = Statements()
    if edge:
        _add_masks(text, shape)
    else:
        text.add("(void)left;")
    text.add(*(f"korch_f{lanes} s{m}_{v} = {{0}};" for m, v in sums))
    each = max(n for n in range(1, UNROLLED + 1) if wide % n == 0)
    with text.block(f"for (int c = 0; c < channels; ++c, a += {plane}, b += {high * wide * made})"):
        text.add(
            f"const float *row = a, *next = b, *const ahead = a + lines * {line};",
            *(f"__builtin_prefetch(ahead + {at}, 0, 2);" for at in range(0, shape.columns, LINE)),
            f"for (int l = 0; l < lines; ++l, row += {line})",
            f"  for (int k0 = 0; k0 < {wide}; k0 += {each})",
            f"#pragma GCC unroll {each}",
        )
        with text.block(f"    for (int i = 0; i < {each}; ++i, next += {made})"):
            text.add("const int k = k0 + i;", *_step(shape, edge), tile.STEP_ENDS)
    places = [(f"*(korch_at{lanes} *)(y + {m * shape.columns + v * lanes})", f"s{m}_{v}") for m, v in sums]
    with text.block("if (more)"):
        text.add(*(f"{s} += {place};" for place, s in places))
    text.add(*(f"{place} = {s};" for place, s in places))
    parameters = (
        "const float *restrict a, const float *restrict b, float *restrict y, int channels, int lines, int more, "
        "int left"
    )
    return Function("edge" if edge else "tile", parameters, text.body, linkage=Linkage.SEPARATE)


def _add_masks(text: Statements, shape: _Shape) -> None:
    """Masks of the lanes of each vector of the row that are in the image, for each step."""
    lanes, wide, width = registers().lanes, shape.window.kernel[1], shape.window.inputs[1]
    text.add(
        f"korch_some{lanes} masks[{wide}][{shape.vectors}];",
        f"for (int k = 0; k < {wide}; ++k)",
    )
    with text.block(f"  for (int v = 0; v < {shape.vectors}; ++v)"):
        text.add(
            f"const int at = left + k * {shape.window.dilations[1]} + v * {lanes};",
            f"masks[k][v] = korch_between{lanes}(-at, {width} - at);",
        )


def _step(shape: _Shape, edge: bool) -> list[Statement]:
    """C of step k of a line, which holds the fewer of its operands, weights or vectors of the row, and takes the others
    one after another."""
    made, vectors, lanes = shape.made, shape.vectors, registers().lanes

    def seen(v: int) -> str:
        place = f"row + k * {shape.window.dilations[1]} + {v * lanes}"
        return f"korch_load_some{lanes}({place}, masks[k][{v}])" if edge else f"*(const korch_at{lanes} *)({place})"

    weights = [[f"const korch_fn w{m} = KORCH_ALL(next[{m}]);"] for m in range(made)]
    row = [[f"korch_f{lanes} x{v} = {seen(v)};", *tile.held(f"x{v}")] for v in range(vectors)]
    held, others = (weights, row) if made <= vectors else (row, weights)
    statements: list[Statement] = [line for operand in held for line in operand]
    for i, operand in enumerate(others):
        pairs = [(j, i) if made <= vectors else (i, j) for j in range(len(held))]
        added = (f"KORCH_FMA{lanes}(s{m}_{v}, w{m}, x{v});" for m, v in pairs)
        statements.append(Block("", (*operand, *added)))
    return statements


def _packing(shape: _Shape, leaf: int) -> tuple[Function, ...]:
    """The functions that make and free the state: the weights [made, channels, taps] as [channels, taps, made]."""
    made, steps = shape.made, shape.window.channels * shape.window.taps
    making = init_function(
        (
            f"const float *w = in[{leaf}];",
            f"float *to = *state = korch_aligned({4 * made * steps});",
            "if (!to) return 1;",
            f"for (int step = 0; step < {steps}; ++step)",
            f"  for (int m = 0; m < {made}; ++m) *to++ = w[m * {steps} + step];",
            packed(4 * made * steps),
        )
    )
    return making, FREE_PACKED


FORM: KernelForm = PlanarForm()
