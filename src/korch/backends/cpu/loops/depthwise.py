"""Depthwise convolutions as C, channels-last: vectors along the channels, a few outputs of a row in registers.

Each input element is loaded once for all outputs of a block that it reaches. Where a window hangs over an edge, single
outputs are computed from pointers, to zeros where there is nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from korch.backends.cpu.loops import epilogue
from korch.backends.cpu.loops.emit import Code
from korch.backends.cpu.loops.epilogue import BLOCK, open_run, simd
from korch.backends.cpu.loops.tile import APART, registers
from korch.backends.cpu.loops.writer import SMALL, Text
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.primitive import Primitive

WIDTHS = (8, 4)
"""Outputs of a row that are computed together: as many accumulators, and a vector of weights for each tap of a row."""
MOST_TAPS = 49


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
    def reach(self) -> tuple[int, int]:
        """Input positions from the first to the last that an output sees."""
        (kh, kw), (dh, dw) = self.kernel, self.dilations
        return (kh - 1) * dh + 1, (kw - 1) * dw + 1

    @property
    def inner(self) -> tuple[int, int]:
        """The columns of the output, from the first to behind the last, whose windows lie inside the input's."""
        stride, pad = self.strides[1], self.pads[1]
        last = (self.inputs[1] + pad - self.reach[1]) // stride
        return min(-(-pad // stride), self.outputs[1]), max(min(last + 1, self.outputs[1]), 0)

    def at(self, row: int, column: int) -> int:
        """Floats from an input position to the one so many rows and columns further."""
        return (row * self.inputs[1] + column) * self.channels


def window_of(p: Primitive) -> Window:
    x, y, w = p.inputs[0].shape, p.output.shape, p.inputs[1].shape
    return Window(x[3], (x[1], x[2]), (y[1], y[2]), (w[2], w[3]), p.attr("strides"), p.attr("dilations"),
                  p.attr("pads")[:2])  # fmt: skip


def heads(cone: Cone) -> bool:
    """Whether the cone begins with a depthwise convolution."""
    p = cone.primitives[0]
    if p.op != "Conv" or p.output.rank != 4 or not p.attr("channels_last"):
        return False
    channels = p.inputs[0].shape[3]
    return 1 < channels == p.attr("group") == p.output.shape[3]


def objection(cone: Cone) -> str:
    """Why a cone that begins with one is not built; empty if it is."""
    p = cone.primitives[0]
    w = p.inputs[1]
    if len(cone.linear) > 1 or cone.exports:
        return "a depthwise convolution stands alone and stores one tensor"
    if not w.const or w.value is not None:
        return "a depthwise convolution with computed weights"
    if w.shape[2] * w.shape[3] > MOST_TAPS or min(p.attr("pads")) < 0:
        return f"a window of more than {MOST_TAPS} taps, or negative pads"
    return epilogue.objection(cone)


def generate(cone: Cone, threads: int) -> Code:
    """C for a depthwise convolution and what stands behind it."""
    p = cone.primitives[0]
    window, threads = window_of(p), threads if multiply_adds(p) > SMALL else 1
    text = Text()
    open_run(text, cone, p, threads)
    text.add("const float *restrict weights = state;")
    if threads > 1:
        text.add("#pragma omp for schedule(static) collapse(2)")
    text.open(f"for (int image = 0; image < {p.output.shape[0]}; ++image)")
    text.open(f"for (int h = 0; h < {window.outputs[0]}; ++h)")
    _row(text, window, epilogue.lines(cone, p))
    text.close(2)
    text.close(2 if threads > 1 else 1)
    parts = [*_weights(window, cone.leaves.index(p.inputs[1])), *_single(window)]
    for width in WIDTHS:
        parts += _block(window, width)
    return Code("\n".join([*parts, *text.lines]) + "\n", 0)


# The weights, tap by tap ------------------------------------------------------------------------------------------


def _weights(window: Window, leaf: int) -> list[str]:
    """State: [C, 1, kh, kw] as [kh * kw, C]."""
    channels, taps = window.channels, window.kernel[0] * window.kernel[1]
    return [
        "static int KERNEL_init(void **state, const void *const *in) {",
        f"  const float *w = in[{leaf}];",
        f"  float *to = *state = korch_aligned({4 * channels * taps});",
        "  if (!to) return 1;",
        f"  for (int c = 0; c < {channels}; ++c)",
        f"    for (int t = 0; t < {taps}; ++t) to[t * {channels} + c] = w[c * {taps} + t];",
        "  return 0;",
        "}",
        "static void KERNEL_free(void *state) { free(state); }",
        f"static const float KERNEL_nothing[{channels}];",
    ]


# Blocks of outputs ------------------------------------------------------------------------------------------------


def _block(window: Window, width: int) -> list[str]:
    """A function for `width` outputs of a row, `count` channels of each. `x` is the first window's corner, `weights`
    those of its first row; of its rows, `rows` are there."""
    each = window.kernel[1] * window.channels
    takes = "const float *restrict x, const float *restrict weights, int rows, int count, float *restrict y"
    lines = [APART, f"static void KERNEL_block{width}({takes}) {{", "  int c = 0;"]
    for lanes in _lanes(window.channels):
        kind, at = (f"korch_f{lanes}", f"korch_at{lanes}") if lanes > 1 else ("float", "float")
        lines += [f"  for (; c + {lanes} <= count; c += {lanes}) {{",
                  f"    {kind} {', '.join(f'a{j} = {{0}}' for j in range(width))};",
                  "    for (int row = 0; row < rows; ++row) {",
                  f"      const float *const line = x + row * {window.at(window.dilations[0], 0)} + c;",
                  f"      const float *const taps = weights + row * {each} + c;"]  # fmt: skip
        lines += [f"      {line}" for line in _taps(window, width, kind, at)]
        lines += ["    }", *(f"    *({at} *)(y + {j * BLOCK} + c) = a{j};" for j in range(width)), "  }"]
    return [*lines, "}"]


def _lanes(channels: int) -> list[int]:
    """Whole vectors, then what is left in shorter ones."""
    most = registers().lanes
    return [most, *([4] if channels % most else []), *([1] if channels % 4 else [])]


def _taps(window: Window, width: int, kind: str, at: str) -> Iterator[str]:
    """One row of the window: its weights, then every input position once for all outputs that see it."""
    taps, stride, dilation = window.kernel[1], window.strides[1], window.dilations[1]
    for k in range(taps):
        yield f"const {kind} w{k} = *(const {at} *)(taps + {k * window.channels});"
    seen: dict[int, list[tuple[int, int]]] = {}
    for j in range(width):
        for k in range(taps):
            seen.setdefault(j * stride + k * dilation, []).append((j, k))
    for column, pairs in sorted(seen.items()):
        sums = " ".join(f"a{j} += v * w{k};" for j, k in pairs)
        yield f"{{ const {kind} v = *(const {at} *)(line + {window.at(0, column)}); {sums} }}"


def _single(window: Window) -> list[str]:
    """A function for one output, `x` pointing to what each tap sees."""
    taps = window.kernel[0] * window.kernel[1]
    total = " + ".join(f"x[{t}][c0 + c] * weights[{t * window.channels} + c]" for t in range(taps))
    return [
        "static inline void KERNEL_single(const float *const *x, const float *restrict weights, int c0, int count, "
        "float *restrict y) {",
        "#pragma omp simd",
        f"  for (int c = 0; c < count; ++c) y[c] = {total};",
        "}",
    ]


# A row ------------------------------------------------------------------------------------------------------------


def _row(text: Text, window: Window, behind: list[str]) -> None:
    (rows, columns), channels, apart, (lo, hi) = window.inputs, window.channels, window.dilations[0], window.inner
    text.add(f"const int top = h * {window.strides[0]} - {window.pads[0]};")
    text.add(f"const int above = top < 0 ? ({apart - 1} - top) / {apart} : 0;")
    text.add(f"const int there = KORCH_MIN({window.kernel[0]}, ({rows + apart - 1} - top) / {apart}) - above;")
    text.add("int together = 0;")
    text.open(f"for (int first = 0; first < {window.outputs[1]}; first += together)")
    text.add("together = 1;")
    for width in WIDTHS:  # the last block begins earlier and computes some outputs again
        if hi - lo >= width:
            few = "" if width == WIDTHS[-1] else f" && {hi} - first > {WIDTHS[-1]}"
            text.add(f"if (together == 1 && there > 0 && first >= {lo} && first < {hi}{few}) "
                     f"together = {width}, first = KORCH_MIN(first, {hi - width});")  # fmt: skip
    text.add(f"const int left = first * {window.strides[1]} - {window.pads[1]};")
    _pointers(text, window)
    text.open(f"for (int c0 = 0; c0 < {channels}; c0 += {BLOCK})")
    text.add(f"const int count = {f'KORCH_MIN({BLOCK}, {channels} - c0)' if channels % BLOCK else BLOCK};")
    text.add(f"float y[{WIDTHS[0] * BLOCK}] __attribute__((aligned(64)));")
    corner = f"x + ((image * {rows} + top + above * {apart}) * {columns} + left) * {channels} + c0"
    first = f"weights + above * {window.kernel[1] * channels} + c0"
    for width in WIDTHS:
        text.add(f"if (together == {width}) KERNEL_block{width}({corner}, {first}, there, count, y);")
    text.add("if (together == 1) KERNEL_single(seen, weights + c0, c0, count, y);")
    text.open("for (int j = 0; j < together; ++j)")
    text.add("const int w = first + j; (void)w;", f"const float *restrict z = y + j * {BLOCK};")
    simd(text, behind)
    text.close(3)


def _pointers(text: Text, window: Window) -> None:
    """What a single output's taps see."""
    (kh, kw), (rows, columns), channels = window.kernel, window.inputs, window.channels
    text.add(f"const float *seen[{kh * kw}];")
    text.open(f"if (together == 1) for (int t = 0; t < {kh * kw}; ++t)")
    text.add(f"const int row = top + t / {kw} * {window.dilations[0]}, column = left + t % {kw} * "
             f"{window.dilations[1]};")  # fmt: skip
    text.add(f"const int inside = row >= 0 && row < {rows} && column >= 0 && column < {columns};")
    text.add(f"seen[t] = inside ? x + ((image * {rows} + row) * {columns} + column) * {channels} : KERNEL_nothing;")
    text.close()
