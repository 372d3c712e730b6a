"""Panels: the part of a product's or convolution's input that a thread copies before it multiplies, as lanes hold it.

A panel is made for some units of the result (`lanes.py`): tiles of rows, or lines of an image. It stays in a near cache
while all weights pass by. Rows that lanes hold as they are in memory are not copied.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from korch.backends.cpu.c import Statements
from korch.backends.cpu.loops.ctypes import C_TYPES
from korch.backends.cpu.loops.dots import SIGN, Dots, Lane
from korch.backends.cpu.loops.turns import Loop
from korch.ir.ops.windows import is_still
from korch.ir.primitive import Primitive


@dataclass(frozen=True)
class TilePlaces:
    """Where the tiles of a chunk are, in C: `heads` of loops over them, the number of the panel where one begins, and
    its first row of sums."""

    heads: tuple[str, ...]
    source: str
    row: str


@dataclass(frozen=True)
class StoredRows:
    """Rows of sums that are stored, in C: `heads` of loops over them, the `row` of the result and that of `sums`."""

    heads: tuple[str, ...]
    row: str
    sums: str


class Panel(Protocol):
    """The input of `held` units from `first` on, which are C variables. Of these a chunk of `some`, `begin` units
    after the first one, is multiplied and stored at a time."""

    copied: bool
    """Whether the panel is a copy; else it is the input itself."""

    @property
    def product(self) -> Dots: ...

    @property
    def units(self) -> int:
        """The most that one panel may have."""
        ...

    @property
    def rows(self) -> int:
        """Rows of sums of a unit."""
        ...

    @property
    def number(self) -> str:
        """C for a number that no other panel has."""
        ...

    def size(self, units: int) -> int:
        """Bytes of a panel of so many units."""
        ...

    def loops(self, units: int) -> tuple[Loop, ...]:
        """Loops over all panels of so many units."""
        ...

    def fill(self, text: Statements) -> None: ...

    def tiles(self) -> TilePlaces: ...

    def results(self) -> StoredRows: ...


def panel_of(p: Primitive, lane: Lane) -> Panel:
    """The panel that moves least."""
    columns, steps = p.output.shape[-1], p.spec.terms(p)
    rows = p.output.size // columns
    if p.spec.channels_last is None or is_still(p):
        product = Dots.of(rows, steps, columns, lane)
        as_it_is = lane is Lane.QUAD and p.inputs[0].dtype == "uint8" and product.row == steps
        return (RowsInPlace if as_it_is else RowPanel)(p, product, rows)
    channels, across = p.inputs[0].shape[-1], p.inputs[1].shape[3]
    if p.attr("dilations")[1] == 1 and (lane is not Lane.HALVES or across * channels % lane.steps == 0):
        return LinePanel.of(p, lane)
    return WindowPanel(p, Dots.of(rows, steps, columns, lane), rows)


@dataclass(frozen=True)
class RowPanel:
    """Rows of a matrix, zeros for those that are beyond the last, and behind the steps, where weights are zeros. A unit
    is a tile of them."""

    primitive: Primitive
    product: Dots
    count: int
    """Rows of the result."""
    copied = True
    number = "first"

    @property
    def units(self) -> int:
        return -(-self.count // self.product.rows)

    @property
    def rows(self) -> int:
        return self.product.rows

    def size(self, units: int) -> int:
        return units * self.rows * self.product.row_bytes

    def loops(self, units: int) -> tuple[Loop, ...]:
        return (Loop("first", -(-self.units // units), units),)

    def fill(self, text: Statements) -> None:
        product = self.product
        with text.block(f"for (int r = 0; r < held * {self.rows}; ++r)"):
            text.add(f"{product.lane.row_type} *restrict to = panel + r * {product.row};")
            text.add(f"const int at = first * {self.rows} + r;")
            text.add(f"if (at >= {self.count}) {{ memset(to, 0, {product.row_bytes}); continue; }}")
            if product.row > product.steps:
                text.add(f"for (int k = {product.steps}; k < {product.row}; ++k) to[k] = 0;")
            self.copy(text)

    def copy(self, text: Statements) -> None:
        """Adds the statements that write row `at` to `to`."""
        x, steps = self.primitive.inputs[0], self.product.steps
        text.add(f"const {C_TYPES[x.dtype]} *restrict from = x + at * INT64_C({steps});")
        text.add(_copied(self.primitive, self.product.lane, "to", "from", str(steps)))

    def tiles(self) -> TilePlaces:
        head = f"for (int r = 0; r < some * {self.rows}; r += {self.rows})"
        return TilePlaces((head,), f"(begin * {self.rows} + r) * {self.product.row}", "r")

    def results(self) -> StoredRows:
        low = f"(first + begin) * {self.rows}"
        end = f"KORCH_MIN(some * {self.rows}, {self.count} - {low})"
        return StoredRows((f"for (int r = 0; r < {end}; ++r)",), f"{low} + r", "r")


class RowsInPlace(RowPanel):
    """Rows where they are in memory. The last tile ends with the last row, and may repeat some of the one before."""

    copied = False

    def tiles(self) -> TilePlaces:
        low, end, last = f"(first + begin) * {self.rows}", "(first + begin + some)", self.count - self.rows
        head = f"for (int r = {low}; r < {end} * {self.rows}; r += {self.rows})"
        row = f"KORCH_MIN(r, {last})"
        return TilePlaces((head,), f"{row} * INT64_C({self.product.row})", f"{row} - {self._begin}")

    def results(self) -> StoredRows:
        low, end = f"(first + begin) * {self.rows}", f"(first + begin + some) * {self.rows}"
        head = f"for (int r = {low}; r < KORCH_MIN({end}, {self.count}); ++r)"
        return StoredRows((head,), "r", f"r - {self._begin}")

    @property
    def _begin(self) -> str:
        """C for the row of the first sums."""
        return f"KORCH_MIN((first + begin) * {self.rows}, {self.count - self.rows})"


class WindowPanel(RowPanel):
    """Windows of a convolution as rows of all their channels."""

    def copy(self, text: Statements) -> None:
        p, lane = self.primitive, self.product.lane
        _, height, width, channels = p.inputs[0].shape
        _, out_height, out_width, _ = p.output.shape
        (taps_h, taps_w), (top, left, *_) = p.inputs[1].shape[2:], p.attr("pads")
        (step_h, step_w), (apart_h, apart_w) = p.attr("strides"), p.attr("dilations")
        text.add(
            f"const int image = at / {out_height * out_width}, w = at % {out_width} * {step_w} - {left};",
            f"const int h = at / {out_width} % {out_height} * {step_h} - {top};",
        )
        with text.block(f"for (int i = 0; i < {taps_h}; ++i)"):
            text.add(f"const int line = h + i * {apart_h};")
            # runs of a line, and the places side by side of one
            count, places = (1, taps_w) if apart_w == 1 else (taps_w, 1)
            with text.block(f"for (int j = 0; j < {count}; ++j, to += {places * channels})"):
                text.add(f"const int column = w + j * {apart_w};")
                _copy_places(text, p, lane, places, height, width)


@dataclass(frozen=True)
class LinePanel:
    """Whole lines of an image with zeros at their edges. The windows of a line of the result overlap in them: each
    begins a stride after the one before. A unit is a line of the result."""

    primitive: Primitive
    product: Dots
    copied = True

    @staticmethod
    def of(p: Primitive, lane: Lane) -> LinePanel:
        """With tiles for parts of a line."""
        product = Dots.of(p.output.shape[2], p.spec.terms(p), p.output.shape[3], lane)
        between = LinePanel(p, product).line * p.attr("dilations")[0]
        return LinePanel(p, replace(product, runs=p.inputs[1].shape[2], between=between, apart=_step(p)))

    @property
    def units(self) -> int:
        return self.primitive.output.shape[1]

    @property
    def number(self) -> str:
        return f"image * {self.units} + first"

    @property
    def rows(self) -> int:
        return -(-self.primitive.output.shape[2] // self.product.rows) * self.product.rows

    @property
    def places(self) -> int:
        """Places of a line that windows see."""
        p = self.primitive
        return (p.output.shape[2] - 1) * p.attr("strides")[1] + p.inputs[1].shape[3]

    @property
    def line(self) -> int:
        """Numbers of a line."""
        return self.places * self.primitive.inputs[0].shape[3]

    def lines(self, units: int) -> int:
        """Lines of the image that so many of the result see."""
        p = self.primitive
        return (units - 1) * p.attr("strides")[0] + (p.inputs[1].shape[2] - 1) * p.attr("dilations")[0] + 1

    def size(self, units: int) -> int:
        number = self.product.row_bytes // self.product.row
        beyond = (self.rows - self.primitive.output.shape[2]) * _step(self.primitive) + self.product.lane.steps
        return number * (self.lines(units) * self.line + beyond)

    def loops(self, units: int) -> tuple[Loop, ...]:
        return (Loop("image", self.primitive.output.shape[0]), Loop("first", -(-self.units // units), units))

    def fill(self, text: Statements) -> None:
        p, lane = self.primitive, self.product.lane
        _, height, width, _ = p.inputs[0].shape
        (top, left, *_), step = p.attr("pads"), p.attr("strides")[0]
        text.add(f"const int lines = (held - 1) * {step} + {self.lines(1)};")
        with text.block("for (int i = 0; i < lines; ++i)"):
            text.add(
                f"{lane.row_type} *restrict to = panel + i * {self.line};",
                f"const int line = first * {step} - {top} + i, column = {-left};",
            )
            _copy_places(text, p, lane, self.places, height, width)

    def tiles(self) -> TilePlaces:
        p, rows = self.primitive, self.product.rows
        heads = ("for (int h = 0; h < some; ++h)", f"for (int w = 0; w < {self.rows}; w += {rows})")
        source = f"(begin + h) * {p.attr('strides')[0] * self.line} + w * {_step(p)}"
        return TilePlaces(heads, source, f"h * {self.rows} + w")

    def results(self) -> StoredRows:
        _, height, width, _ = self.primitive.output.shape
        heads = ("for (int h = 0; h < some; ++h)", f"for (int w = 0; w < {width}; ++w)")
        return StoredRows(heads, f"(image * {height} + first + begin + h) * {width} + w", f"h * {self.rows} + w")


def _step(p: Primitive) -> int:
    """Numbers between windows side by side."""
    return p.attr("strides")[1] * p.inputs[0].shape[3]


def _copied(p: Primitive, lane: Lane, to: str, source: str, count: str) -> str:
    """The statement that copies `count` numbers to a row."""
    if lane is Lane.HALVES:
        return f"for (int k = 0; k < {count}; ++k) ({to})[k] = korch_to_bf16(({source})[k]);"
    if lane is Lane.QUAD and p.inputs[0].dtype == "uint8":
        return f"memcpy({to}, {source}, {count});"
    shift = f"+ {SIGN}" if lane is Lane.QUAD else "- zero"
    return f"for (int k = 0; k < {count}; ++k) ({to})[k] = ({lane.row_type})(({source})[k] {shift});"


def _edge(lane: Lane, to: str, count: str) -> str:
    """The statement that writes `count` zeros, as a row has them."""
    return f"memset({to}, zero, {count});" if lane is Lane.QUAD else f"memset({to}, 0, 2 * ({count}));"


def _copy_places(text: Statements, p: Primitive, lane: Lane, places: int, height: int, width: int) -> None:
    """Adds the copy of so many places of `line`, from `column` on: zeros beyond the edges of an image."""
    channels = p.inputs[0].shape[3]
    text.add(
        f"const int low = line < 0 || line >= {height} ? {places} : KORCH_MIN(KORCH_MAX(-column, 0), {places});",
        f"const int end = KORCH_MAX(KORCH_MIN({width} - column, {places}), low);",
        f"const {C_TYPES[p.inputs[0].dtype]} *restrict from = "
        f"x + ((image * INT64_C({height}) + line) * {width} + column) * {channels};",
        _edge(lane, "to", f"low * {channels}"),
        _copied(p, lane, f"to + low * {channels}", f"from + low * {channels}", f"(end - low) * {channels}"),
        _edge(lane, f"to + end * {channels}", f"({places} - end) * {channels}"),
    )
