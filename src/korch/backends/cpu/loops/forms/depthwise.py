"""Depthwise convolutions as C, channels-last: vectors along the channels, a block of outputs in registers.

Of every vector of channels a block has a few outputs of two rows. Each input vector is loaded once for all outputs of
the block that it reaches, and a block takes all channels one after another: what it reads is contiguous. With half as
many registers a block has one row where the weights of two would not fit, and turns take blocks below each other, some
channels at a time, so that what those share stays in the first-level cache. Columns beyond an edge are left out of the
text, rows beyond one are left out by branches.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from korch.backends.cpu.c import Block, Code, Function, Linkage, Statement, Statements, own
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops import epilogue
from korch.backends.cpu.loops.binding import Place
from korch.backends.cpu.loops.caches import L1, SETS, WAYS, outgrows
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.refusals import tensors_refusal
from korch.backends.cpu.loops.tile import registers
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.vector_epilogue import vector_epilogue_of
from korch.backends.cpu.loops.wide import Wide
from korch.backends.cpu.loops.windows import Window, window_of
from korch.backends.cpu.loops.writer import LINE, SMALL
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.primitive import Primitive

MOST_TAPS = 49
MANY_TAPS = 25
"""Taps of a window above which a block has one row: the text grows with both."""
BAND, TURNS = 8, 4
"""Blocks below each other that a turn takes, and turns that each thread has at least. A turn may keep three quarters of
the first-level cache."""


class DepthwiseForm:
    """A depthwise convolution, channels-last, and its epilogue."""

    priority = 30
    counts_elements = False

    def matches(self, cone: Cone) -> bool:
        """Whether the cone begins with a depthwise convolution."""
        p = cone.primitives[0]
        if not p.spec.is_convolution or p.output.rank not in (3, 4) or not p.attr("channels_last"):
            return False
        channels = p.inputs[0].shape[-1]
        return 1 < channels == p.attr("group") == p.output.shape[-1]

    def refusal(self, cone: Cone) -> str:
        """Why a cone that begins with one is not built; empty if it is."""
        p = cone.primitives[0]
        w = p.inputs[1]
        if len(cone.linear) > 1:
            return "a depthwise convolution stands alone"
        if not w.const or w.value is not None:
            return "a depthwise convolution with computed weights"
        if math.prod(w.shape[2:]) > MOST_TAPS or min(p.attr("pads")) < 0:
            return f"a window of more than {MOST_TAPS} taps, or negative pads"
        return epilogue.refusal(p, cone.primitives[1:]) or tensors_refusal(cone)

    def generate(self, cone: Cone, threads: int, place: Place | None = None) -> Code:
        """C for a depthwise convolution and its epilogue; the root may be the beginning of a larger tensor."""
        p = cone.primitives[0]
        window, threads = window_of(p), threads if multiply_adds(p) > SMALL else 1
        (height, width), shape = window.outputs, _shape(window, p.output.shape[0], threads)
        streamed = epilogue.streams(cone, place.shape if place else ())
        blocks, text = _Blocks(cone, window, shape, streamed), epilogue.begun(cone, p.inputs[0])
        last = height % shape.rows
        usual, below = blocks.call(shape.rows), blocks.call(last) if last else ""
        text.add(*blocks.tables)
        images, tops = Loop("image", p.output.shape[0]), Loop("top", -(-height // shape.band), shape.band)
        loops = (images, tops, Loop("block", -(-width // shape.columns)))
        with shared_out(text, loops, threads, multiply_adds(p)):
            text.add(
                f"const int left = KORCH_MIN(block * {shape.columns}, {width - shape.columns});",
                f"const int row = top * {window.strides[0]} - {window.pads[0]};",
            )
            if last:
                text.add(f"if (top == {height - last}) {below}", "else")
            text.add(usual)
        declarations = (*_weights(window, cone.leaves.index(p.inputs[1])), *blocks.functions)
        return epilogue.code(cone, text, threads, blocks.streamed, declarations)

    def places(self, cone: Cone, place: Place) -> bool:
        return place.begins

    def place(self, cone: Cone, place: Place) -> Code:
        return self.generate(cone, 1, place)


@dataclass(frozen=True)
class _Shape:
    """Rows and columns of a block, and what a turn takes: so many rows, as many channels at a time."""

    rows: int
    columns: int
    band: int
    channels: int


def _shape(window: Window, images: int, threads: int) -> _Shape:
    """Two rows of all channels. With few registers one row that goes down by steps, where those hold its sums and
    weights and what the steps share finds room in the first-level cache. (5x5 over 64 channels of 12x128: 93 us by two
    rows of four columns, 51 so; 3x3 over 64 channels of 12x64 17 and 11, but over 256 of 10x56, where columns meet in
    four sets of that cache, 56 and 65.)"""
    (height, width), wide, held = window.outputs, window.kernel[1], registers().count
    rows, most, single = min(1 if window.taps > MANY_TAPS else 2, height), held // 4, held - 1 - wide
    columns = _columns(width, min(max(single, 1), 2 * most))
    stays, both = _stays(window, columns), rows > 1 and rows * (most + wide) < held
    if not registers().few or single < most or (both and not stays):
        return _Shape(rows, _columns(width, most), rows, window.channels)
    bands = max(-(-height // BAND), min(-(-TURNS * threads // (images * -(-width // columns))), height))
    each = 4 * (window.taps + window.kernel[0] * len(window.readers(1, columns)) + columns)
    some = max(L1 * 3 // 4 // each // LINE, 1) * LINE
    return _Shape(1, columns, -(-height // bands), min(some, window.channels))


def _stays(window: Window, columns: int) -> bool:
    """Whether sets of the first-level cache have room for what a block reads of a few channels."""
    read = (window.at(row, column) for row in window.readers(0, 1) for column in window.readers(1, columns))
    return max(Counter(at // LINE % SETS for at in read).values()) <= WAYS


def _columns(width: int, most: int) -> int:
    """Columns of a block. Each costs what one column more would, to load inputs and to fill registers; the last block
    of a row begins earlier where it would be too long, and computes some outputs again."""
    return min(range(1, min(most, width) + 1), key=lambda n: -(-width // n) * (n + 1))


# The weights, tap by tap ------------------------------------------------------------------------------------------


def _weights(window: Window, leaf: int) -> tuple[Function, ...]:
    """The functions that make and free the state: [C, 1, taps] as [C / LINE, taps, LINE]. A block's weights are
    contiguous, or they meet in the sets of the first-level cache where columns of its input do. (5x5 over 384 channels
    of 128x128: 5.0 -> 4.35 ms on Zen 3.)"""
    channels, taps, place = window.channels, window.taps, f"(c / {LINE} * {window.taps} + t) * {LINE} + c % {LINE}"
    size = 4 * -(-channels // LINE) * LINE * taps
    making = init_function(
        (
            f"const float *w = in[{leaf}];",
            f"float *to = *state = korch_aligned({size});",
            "if (!to) return 1;",
            f"for (int c = 0; c < {channels}; ++c)",
            f"  for (int t = 0; t < {taps}; ++t) to[{place}] = w[c * {taps} + t];",
            packed(size),
        )
    )
    return making, FREE_PACKED


# Blocks of outputs ------------------------------------------------------------------------------------------------

PARAMETERS = (
    "const float *weights, const void *const *in, float *restrict out, int image, int top, int left, int row, "
    "int height"
)
"""The first block's place in the output; the first input row that it sees, and how many there are. What differs from
strip to strip of a convolution is not in the text: it is compiled once."""


@dataclass
class _Blocks:
    """The `functions` that compute blocks, one for every set of columns that windows may miss; the declarations
    `tables` say which computes which block of a row. The root may be `outgrown`: it goes past the caches then, if
    vectors can express the epilogue."""

    cone: Cone
    window: Window
    shape: _Shape
    outgrown: bool
    functions: list[Function] = field(default_factory=list[Function])
    tables: list[str] = field(default_factory=lambda: [f"typedef void Block({PARAMETERS});"])

    @property
    def streamed(self) -> bool:
        """Whether the root is stored so, a line at a time. (3x3 over 384 channels of 128x128: 2.75 -> 1.85 ms
        on Zen 3, 5x5 over 192 of 256x256 8.0 -> 5.95; by halves of lines as they are made, twice as long at times.)"""
        return self.outgrown and bool(self._ends(1, registers().lanes))

    def call(self, rows: int) -> str:
        """The statement that computes the block at `top` and `left`."""
        width = self.window.outputs[1]
        names: dict[tuple[int, ...], str] = {}
        blocks: list[str] = []
        for at in range(0, width, self.shape.columns):
            columns = self._there(min(at, width - self.shape.columns))
            if columns not in names:
                names[columns] = f"block{rows}_{len(names)}"
                self.functions.append(self._function(names[columns], rows, columns))
            blocks.append(own(names[columns]))
        self.tables.append(f"static Block *const blocks{rows}[] = {{{', '.join(blocks)}}};")
        return f"blocks{rows}[block](state, in, out, image, top, left, row, {self.window.inputs[0]});"

    def _there(self, first: int) -> tuple[int, ...]:
        """The columns that the windows of the outputs from `first` on see, from the first window's begin."""
        begin = first * self.window.strides[1] - self.window.pads[1]
        return tuple(c for c in self.window.readers(1, self.shape.columns) if 0 <= begin + c < self.window.inputs[1])

    def _function(self, name: str, rows: int, columns: tuple[int, ...]) -> Function:
        """Computes the blocks of a band whose windows see these `columns` of the input."""
        window, x = self.window, self.cone.primitives[0].inputs[0]
        text = Statements()
        for i, t in enumerate(self.cone.leaves):
            if t.value is None:
                text.add(f"const float *restrict in{i} = in[{i}]; (void)in{i};")
        text.add(f"const int column = left * {window.strides[1]} - {window.pads[1]};")
        text.add(*(self._next_block() if self._asks else ()))
        with self._band(text) as (begin, end):
            text.add(
                f"const float *x = in{self.cone.leaves.index(x)} + "
                f"((image * height + row) * {window.inputs[1]} + column) * {window.channels};",
                f"int c0 = {begin};",
            )
            for lanes in _lanes(window.channels):
                if lanes < LINE and self.streamed:
                    text.add(f"float line[{rows * self.shape.columns * LINE}] __attribute__((aligned(64)));")
                with text.block(f"for (; c0 + {lanes} <= {end}; c0 += {lanes})"):
                    ends = self._ends(rows, lanes) if lanes > 1 else None
                    start, asked = self._start(lanes) if ends else "{0}", self._asked_ahead(lanes)
                    _sums(text, window, rows, self.shape.columns, columns, lanes, start, asked)
                    text.add(*(ends or self._ends_in_memory(rows, lanes)))
        return Function(name, PARAMETERS, text.body, linkage=Linkage.SEPARATE)

    @contextmanager
    def _band(self, text: Statements) -> Generator[tuple[str, str]]:
        """C of the first channel and of the end, inside the loops over parts of the channels and over the blocks below
        each other, where there are several."""
        window, shape = self.window, self.shape
        begin, end = "0", str(window.channels)
        with ExitStack() as loops:
            if shape.channels < window.channels:
                head = f"for (int part = 0; part < {window.channels}; part += {shape.channels})"
                loops.enter_context(text.block(head))
                begin, end = "part", "stop"
                text.add(f"const int stop = KORCH_MIN(part + {shape.channels}, {window.channels});")
            if shape.band > shape.rows:
                text.add("const int first = top, from = row;")
                head = (
                    f"for (int top = first, row = from; top < KORCH_MIN(first + {shape.band}, {window.outputs[0]}); "
                    f"++top, row += {window.strides[0]})"
                )
                loops.enter_context(text.block(head))
            yield begin, end

    @property
    def _asks(self) -> bool:
        """Whether blocks ask for the input of the next one, as it comes from memory. What is in a cache would take a
        fifth longer."""
        goes_down = self.shape.band > self.shape.rows and self.window.channels >= registers().lanes
        return goes_down and outgrows(self.cone.primitives[0].inputs[0].shape)

    def _next_block(self) -> list[str]:
        """C of a walk along the rows that the next block sees, but for its halo to the left: the block to the right, or
        the first one of the band below."""
        window, shape, read = self.window, self.shape, self.cone.primitives[0].inputs[0]
        width, channels = window.inputs[1], window.channels
        halo = (window.kernel[1] - 1) * window.dilations[1] + 1 - window.strides[1]
        column = f"(left + {shape.columns}) * {window.strides[1]} + {halo - window.pads[1]}"
        place = f"(image * height + row + below * {shape.band * window.strides[0]}) * {width} + (below ? 0 : {column})"
        return [
            f"const int below = left + {shape.columns} >= {window.outputs[1]};",
            f"const float *next = in{self.cone.leaves.index(read)} + ({place}) * {channels};",
            f"const float *edge = next + {self._new};",
        ]

    def _asked_ahead(self, lanes: int) -> list[str]:
        """C that asks for a turn's share of that, each row line after line: so the processor joins in, and fetches
        twice as much at a time as from all columns in turn. (5x5 over 96 channels of 512x512 in steps of 2, on Zen 3:
        15.7 -> 10.6 ms, on two threads 8.9 -> 5.6; in steps of 1 29 -> 24; over 192 of 256x256 15.2 -> 13.1.)"""
        if not self._asks or lanes < registers().lanes:
            return []
        window, band = self.window, self.shape.band
        rows = (band - 1) * window.strides[0] + (window.kernel[0] - 1) * window.dilations[0] + 1
        share = -(-rows * -(-self._new // LINE) // (band * (window.channels // lanes)))
        down = f"next = (edge += {window.inputs[1] * window.channels}) - {self._new};"
        return [f"__builtin_prefetch(next, 0, 2), next += {LINE}; if (next >= edge) {down}"] * share

    @property
    def _new(self) -> int:
        """Floats in a row that a block sees and the one to its left does not."""
        return self.shape.columns * self.window.strides[1] * self.window.channels

    def _ends(self, rows: int, lanes: int) -> list[Statement] | None:
        """C that stores the epilogue of the sums, register by register; None where vectors cannot express it."""
        statements = list[Statement]()
        for n, (i, j) in enumerate(itertools.product(range(rows), range(self.shape.columns))):
            found = epilogue.from_register(self.cone, self.begun.output, lanes, f"a{i}_{j}")
            if found is None:
                return None
            stored = _in_whole_lines(*found, n) if self.outgrown else found[0].stored(found[1], False)
            statements.append(Block("", (f"const int h = top + {i}, w = left + {j};", *stored)))
        return statements

    def _ends_in_memory(self, rows: int, lanes: int) -> tuple[Statement, ...]:
        """The same by way of a block of sums."""
        text, at = Statements(), f"korch_at{lanes}" if lanes > 1 else "float"
        text.add(
            f"enum {{ count = {lanes} }};",
            f"float y[{rows * self.shape.columns * lanes}] __attribute__((aligned(64)));",
        )
        for i, j in itertools.product(range(rows), range(self.shape.columns)):
            text.add(f"*({at} *)(y + {(i * self.shape.columns + j) * lanes}) = a{i}_{j};")
        outputs = (
            f"for (int h = top; h < top + {rows}; ++h)",
            f"for (int w = left; w < left + {self.shape.columns}; ++w)",
        )
        with text.nest(outputs):
            text.add(f"const float *restrict z = y + ((h - top) * {self.shape.columns} + w - left) * {lanes};")
            epilogue.store(text, self.cone, self.cone.primitives[0], streamed=False, of=lanes)
        return text.body

    @property
    def begun(self) -> Primitive:
        """The sums, or the sums with what each channel has added first: they begin with it then."""
        steps = vector_epilogue_of(self.cone, self.cone.primitives[0])
        added = steps and steps.added_first()
        each = added in self.cone.leaves and added.shape[-1:] == (added.size,) == (self.window.channels,)
        return steps.steps[0].primitive if steps and each else self.cone.primitives[0]

    def _start(self, lanes: int) -> str:
        """C of the vector with which the sums begin."""
        if self.begun.spec.is_convolution:
            return "{0}"
        bias = next(t for t in self.begun.inputs if t in self.cone.leaves)
        return f"*(const korch_at{lanes} *)(in{self.cone.leaves.index(bias)} + c0)"


def _in_whole_lines(wide: Wide, place: str, n: int) -> Sequence[Statement]:
    """C that stores a vector past the caches, in the turn in which its line is whole: until then it waits in place `n`
    of `line`."""
    lanes, last = wide.lanes, LINE - wide.lanes
    if lanes == LINE:
        return wide.stored(place, True)
    waited = (
        f"korch_stream{lanes}({place} - {last - at}, *(korch_f{lanes} *)(line + {n * LINE + at}));"
        for at in range(0, last, lanes)
    )
    return [
        *wide.lines,
        f"if (c0 % {LINE} < {last})",
        f"  *(korch_f{lanes} *)(line + {n * LINE} + c0 % {LINE}) = {wide.value};",
        Block("else", (*waited, f"korch_stream{lanes}({place}, {wide.value});")),
    ]


def _lanes(channels: int) -> list[int]:
    """Whole vectors, then what is left in shorter ones."""
    most = registers().lanes
    return [n for n in (most, 4, 1) if n == most or channels % (most if n == 4 else 4)]


def _sums(
    text: Statements,
    window: Window,
    rows: int,
    outputs: int,
    columns: tuple[int, ...],
    lanes: int,
    start: str,
    asked: Sequence[str],
) -> None:
    """The convolution of one vector of channels, from `start` on: row by row of the input, all outputs that see it.
    Between rows, some of what is `asked` for."""
    kind, at = (f"korch_f{lanes}", f"korch_at{lanes}") if lanes > 1 else ("float", "float")
    text.add(
        f"{kind} {', '.join(f'a{i}_{j} = {start}' for i in range(rows) for j in range(outputs))};",
        f"const float *taps = weights + c0 / {LINE} * {LINE * window.taps} + c0 % {LINE};",
    )
    readers = window.readers(0, rows)
    for n, (line, pairs) in enumerate(readers.items()):
        text.add(*asked[n :: len(readers)])
        with text.block(f"if ((unsigned)(row + {line}) < (unsigned)height)"):
            for i, k in pairs:
                for tap in range(window.kernel[1]):
                    place = (k * window.kernel[1] + tap) * LINE
                    text.add(f"const {kind} w{i}_{tap} = *(const {at} *)(taps + {place});")
            for column, seen in window.readers(1, outputs).items():
                if column in columns:
                    sums = " ".join(f"a{i}_{j} += v * w{i}_{tap};" for j, tap in seen for i, _ in pairs)
                    text.add(f"{{ const {kind} v = *(const {at} *)(x + {window.at(line, column)} + c0); {sums} }}")


FORM: KernelForm = DepthwiseForm()
