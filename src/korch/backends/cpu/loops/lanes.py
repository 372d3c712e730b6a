"""A product or convolution of narrow numbers with the elementwise primitives behind it, lane by lane (`dots.py`).

A thread copies what some rows of the result see to a panel, as lanes hold it: unsigned bytes, bytes less their zero
point as int16, or floats rounded to bfloat16. Windows of a convolution become rows of all their channels. The panel
stays in a near cache while all weights pass by.
"""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.cpu.c import Code, Statements, own
from korch.backends.cpu.loops import dots, epilogue
from korch.backends.cpu.loops.caches import L2
from korch.backends.cpu.loops.ctypes import C_TYPES, is_expressible, literal
from korch.backends.cpu.loops.dots import SIGN, Dots, Lane
from korch.backends.cpu.loops.refusals import outer_refusal
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.writer import SMALL, aligned
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.ops.table import Category
from korch.ir.ops.windows import is_still
from korch.ir.primitive import Primitive

NEAR = L2 // 2
"""Bytes of a panel and of its sums. The weights of a tile, which pass by, have the other half."""
SHARES = 4
"""Turns of the shared loops for each thread, at least."""
FEWEST = 32
"""Columns of a part, at least: every part copies the rows anew. (To widen 16 numbers takes two turns, to multiply them
with 32 columns 16 or more.)"""


def code_of(cone: Cone, threads: int, lane: Lane) -> Code:
    """The C of a cone that `refusal` takes, for a team of `threads`."""
    p = cone.primitives[0]
    x, w = p.inputs[:2]
    threads = threads if multiply_adds(p) > SMALL else 1
    columns = p.output.shape[-1]
    rows = p.output.size // columns
    product = Dots.of(rows, p.spec.terms(p), columns, lane)
    share = _share_of(product, rows, threads)
    text = epilogue.begun(cone, x)
    room = _write(text, cone, p, product, rows, share, threads)
    multiply = dots.function("dots", product, share.columns(product))
    place = f"k * {columns} + n" if w.rank == 2 else _weight(p)
    zero = 0 if lane is Lane.HALVES else p.attr("w_zero")
    packing = dots.packing(product, cone.leaves.index(w), w.dtype, zero, place)
    return epilogue.code(cone, text, threads, declarations=(*packing, multiply), workspace=room * threads)


def refusal(cone: Cone) -> str:
    """Why no lanes compute the cone, whose first primitive is a product or convolution; empty if they do."""
    p, *rest = cone.primitives
    x, w = p.inputs[:2]
    if x not in cone.leaves or not w.const or x.const:
        return "an operand is computed"
    if p.spec.channels_last is None and w.rank != 2:
        return "the second operand is more than a matrix"
    if p.spec.channels_last is not None and not _is_taken(p):
        return "a convolution that is not one of images channels-last, in one group"
    if any(q.category is not Category.ELEMENTWISE or q.output.shape != p.output.shape for q in rest):
        return f"more than elementwise primitives behind {p.op}"
    return next((f"{q.op} on {q.inputs[0].dtype}" for q in rest if not is_expressible(q)), outer_refusal(cone))


def _is_taken(p: Primitive) -> bool:
    return bool(p.attr("channels_last")) and p.attr("group") == 1 and p.output.rank == 4 and min(p.attr("pads")) >= 0


def _weight(p: Primitive) -> str:
    """Where the weight of step k, the channels of one place of the kernel after the other, is for channel n."""
    channels, height, width = p.inputs[1].shape[1:]
    return f"(n * {channels} + k % {channels}) * {height * width} + k / {channels}"


def _write(text: Statements, cone: Cone, p: Primitive, product: Dots, rows: int, share: _Share, threads: int) -> int:
    """Adds the loops; bytes of the workspace of a thread."""
    high, across = share.tiles * product.rows, share.columns(product)
    panel, kind, total = aligned(product.row_bytes * high), product.lane.row_type, product.lane.sum_type
    room = panel + aligned(4 * across * high)
    text.add(
        f"char *const mine = (char *)workspace + {epilogue.thread_number(threads)} * INT64_C({room});",
        f"{kind} *const panel = ({kind} *)mine;",
        f"{total} *const sums = ({total} *)(mine + {panel});",
        f"const int zero = {_zero(cone, p, product.lane)};",
    )
    loops = (Loop("part", share.parts), Loop("first", -(-rows // high), high))
    with shared_out(text, loops, threads, multiply_adds(p)):
        low, end = (f"{n} * {product.groups} / {share.parts}" for n in ("part", "(part + 1)"))
        text.add(f"const int some = KORCH_MIN({high}, {rows} - first), low = {low}, end = {end};")
        _fill(text, p, product, high)
        with text.block("for (int group = low; group < end; ++group)"):
            text.add(
                f"const char *const b = (const char *)state + group * INT64_C({product.group_bytes});",
                f"{total} *const to = sums + (group - low) * {product.width};",
                f"for (int r = 0; r < some; r += {product.rows})",
                f"  {own('dots')}(panel + r * {product.row}, b, zero, to + r * {across});",
            )
        text.add(
            f"const int c0 = low * {product.width}, count = KORCH_MIN(end * {product.width}, {product.columns}) - c0;"
        )
        with text.block("for (int r = 0; r < some; ++r)"):
            text.add("const int row = first + r;", f"const {total} *restrict z = sums + r * {across};")
            epilogue.store_row(text, cone, p, streamed=False, of=1)
    return room


@dataclass(frozen=True)
class _Share:
    """A turn of the shared loops: rows of so many tiles, by one of so many parts of the columns."""

    tiles: int
    parts: int

    def columns(self, product: Dots) -> int:
        """Of a part, at most."""
        return -(-product.groups // self.parts) * product.width


def _share_of(product: Dots, rows: int, threads: int) -> _Share:
    """As many rows as a near cache holds, as weights pass by once for each panel of them; the columns in parts where
    there are too few panels for all threads."""
    tiles = -(-rows // product.rows)
    fit = max(1, NEAR // (product.rows * (product.row_bytes + 4 * product.columns)))
    turns, wanted = -(-tiles // fit), SHARES * threads if threads > 1 else 1
    parts = min(-(-wanted // turns), max(1, product.columns // FEWEST), product.groups)
    turns = min(tiles, max(turns, -(-wanted // parts)))
    return _Share(-(-tiles // turns), parts)


def _zero(cone: Cone, p: Primitive, lane: Lane) -> str:
    """C for the zero point, of unsigned bytes if these are in quads; floats have none."""
    if lane is Lane.HALVES:
        return "0"
    zero = p.inputs[2]
    given = literal(zero.value, zero.dtype) if zero.value is not None else f"in{cone.leaves.index(zero)}[0]"
    return f"{given} + {SIGN}" if lane is Lane.QUAD and zero.dtype == "int8" else given


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


def _fill(text: Statements, p: Primitive, product: Dots, high: int) -> None:
    """Writes the panel: a row for each of the result's from `first` on, zeros for those that are beyond the last, and
    behind the steps, where weights are zeros."""
    x = p.inputs[0]
    with text.block(f"for (int r = 0; r < {high}; ++r)"):
        text.add(f"{product.lane.row_type} *restrict to = panel + r * {product.row};")
        text.add(f"if (r >= some) {{ memset(to, 0, {product.row_bytes}); continue; }}")
        if product.row > product.steps:
            text.add(f"for (int k = {product.steps}; k < {product.row}; ++k) to[k] = 0;")
        if p.spec.channels_last is None or is_still(p):
            text.add(f"const {C_TYPES[x.dtype]} *restrict from = x + (first + r) * INT64_C({product.steps});")
            text.add(_copied(p, product.lane, "to", "from", str(product.steps)))
        else:
            _fill_windows(text, p, product.lane)


def _fill_windows(text: Statements, p: Primitive, lane: Lane) -> None:
    """Adds the copy of a window of one output: the channels of each place, zeros beyond the edges."""
    _, height, width, channels = p.inputs[0].shape
    _, out_height, out_width, _ = p.output.shape
    (taps_h, taps_w), (top, left, *_) = p.inputs[1].shape[2:], p.attr("pads")
    (step_h, step_w), (apart_h, apart_w) = p.attr("strides"), p.attr("dilations")
    text.add(
        f"const int at = first + r, image = at / {out_height * out_width};",
        f"const int h = at / {out_width} % {out_height} * {step_h} - {top}, w = at % {out_width} * {step_w} - {left};",
    )
    with text.block(f"for (int i = 0; i < {taps_h}; ++i)"):
        text.add(f"const int line = h + i * {apart_h};")
        count, places = (
            (1, taps_w) if apart_w == 1 else (taps_w, 1)
        )  # runs of a line, and the places side by side of one
        with text.block(f"for (int j = 0; j < {count}; ++j, to += {places * channels})"):
            text.add(
                f"const int column = w + j * {apart_w};",
                f"const int low = line < 0 || line >= {height} ? {places} : "
                f"KORCH_MIN(KORCH_MAX(-column, 0), {places});",
                f"const int end = KORCH_MAX(KORCH_MIN({width} - column, {places}), low);",
                f"const {C_TYPES[p.inputs[0].dtype]} *restrict from = "
                f"x + ((image * INT64_C({height}) + line) * {width} + column) * {channels};",
                _edge(lane, "to", f"low * {channels}"),
                _copied(p, lane, f"to + low * {channels}", f"from + low * {channels}", f"(end - low) * {channels}"),
                _edge(lane, f"to + end * {channels}", f"({places} - end) * {channels}"),
            )
