"""A product or convolution of narrow numbers with the elementwise primitives behind it, lane by lane (`dots.py`).

A thread copies what some rows of the result see to a panel (`lane_panels.py`), as lanes hold it: unsigned bytes, bytes
less their zero point as int16, or floats rounded to bfloat16. For each tile of columns it multiplies and stores a chunk
of the rows after the other: the tile's weights come from a far cache once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from korch.backends.cpu.c import Code, Statements, own
from korch.backends.cpu.loops import dots, epilogue
from korch.backends.cpu.loops.caches import L1, L2
from korch.backends.cpu.loops.ctypes import is_expressible, literal
from korch.backends.cpu.loops.dots import SIGN, Dots, Lane
from korch.backends.cpu.loops.lane_panels import Panel, panel_of
from korch.backends.cpu.loops.refusals import outer_refusal
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.writer import SMALL, aligned
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive

NEAR, NEAREST = L2 // 2, L1 // 2
"""Bytes of a panel, and of the sums of a tile's columns. The weights of a tile, which pass by, have the other half."""
SHARES = 4
"""Turns of the shared loops for each thread, at least."""
FEWEST = 32
"""Columns of a part, at least: a thread may copy the rows anew for each. (To widen 16 numbers takes two turns, to
multiply them with 32 columns 16 or more.)"""


def code_of(cone: Cone, threads: int, lane: Lane) -> Code:
    """The C of a cone that `refusal` takes, for a team of `threads`."""
    p = cone.primitives[0]
    x, w = p.inputs[:2]
    threads = threads if multiply_adds(p) > SMALL else 1
    panel = panel_of(p, lane)
    product, share = panel.product, _share_of(panel, threads)
    text = epilogue.begun(cone, x)
    room = _write(text, cone, p, panel, share, threads)
    multiply = dots.function("dots", product, product.width)
    place = f"k * {product.columns} + n" if w.rank == 2 else _weight(p)
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


def _write(text: Statements, cone: Cone, p: Primitive, panel: Panel, share: _Share, threads: int) -> int:
    """Adds the loops; bytes of the workspace of a thread."""
    product = panel.product
    size = aligned(panel.size(share.units)) if panel.copied else 0
    kind, total = product.lane.row_type, product.lane.sum_type
    room = size + aligned(4 * product.width * share.chunk * panel.rows)
    text.add(
        f"char *const mine = (char *)workspace + {epilogue.thread_number(threads)} * INT64_C({room});",
        f"{kind} *const panel = ({kind} *)mine;" if panel.copied else f"const {kind} *const panel = x;",
        f"{total} *const sums = ({total} *)(mine + {size});",
        f"const int zero = {_zero(cone, p, product.lane)};",
        *(["int filled = -1;"] if panel.copied else []),
    )
    loops = (Loop("part", share.parts), *panel.loops(share.units))
    with shared_out(text, loops, threads, multiply_adds(p)):
        low, end = (f"{n} * {product.groups} / {share.parts}" for n in ("part", "(part + 1)"))
        text.add(f"const int held = KORCH_MIN({share.units}, {panel.units} - first), low = {low}, end = {end};")
        if panel.copied:
            with text.block(f"if (filled != {panel.number})"):
                panel.fill(text)
                text.add(f"filled = {panel.number};")
        with text.block("for (int group = low; group < end; ++group)"):
            text.add(
                f"const char *const b = (const char *)state + group * INT64_C({product.group_bytes});",
                f"const int c0 = group * {product.width}, count = {_count(product)};",
            )
            with text.block(f"for (int begin = 0; begin < held; begin += {share.chunk})"):
                _write_chunk(text, cone, p, panel, share)
    return room


def _write_chunk(text: Statements, cone: Cone, p: Primitive, panel: Panel, share: _Share) -> None:
    """Adds the products of a chunk's tiles, and the stores of its rows."""
    tiles, results, product = panel.tiles(), panel.results(), panel.product
    text.add(f"const int some = KORCH_MIN({share.chunk}, held - begin);")
    with text.nest(tiles.heads):
        text.add(f"{own('dots')}(panel + {tiles.source}, b, zero, sums + ({tiles.row}) * {product.width});")
    with text.nest(results.heads):
        text.add(
            f"const int row = {results.row};",
            f"const {product.lane.sum_type} *restrict z = sums + ({results.sums}) * {product.width};",
        )
        epilogue.store_row(text, cone, p, streamed=False, of=1)


@dataclass(frozen=True)
class _Share:
    """A turn of the shared loops: so many units of a panel, by one of so many parts of the columns. A chunk has so many
    units."""

    units: int
    parts: int
    chunk: int


def _share_of(panel: Panel, threads: int) -> _Share:
    """As many rows as the second-level cache holds, as weights pass by once for each panel of them. The rows are
    divided among the threads if they are more bytes than the weights, and else the columns."""
    product, units = panel.product, panel.units
    fit, chunk = max(1, NEAR // panel.size(1)), max(1, NEAREST // (4 * product.width * panel.rows))
    panels = math.prod(loop.count for loop in panel.loops(units))  # at least
    turns, wanted = -(-units // fit), SHARES * threads if threads > 1 else 1
    if panels * panel.size(units) > product.groups * product.group_bytes:
        turns = min(units, max(turns, -(-wanted // panels)))
    parts = min(-(-wanted // (turns * panels)), max(1, product.columns // FEWEST), product.groups)
    parts = -(-product.groups // (product.groups // parts))  # alike
    turns = min(units, max(turns, -(-wanted // (parts * panels))))
    units = -(-units // turns)
    return _Share(units, parts, min(chunk, units))


def _count(product: Dots) -> str:
    """C for the columns of a tile: compilers make better loops of a number."""
    if product.columns % product.width == 0:
        return str(product.width)
    return f"KORCH_MIN({product.columns} - c0, {product.width})"


def _zero(cone: Cone, p: Primitive, lane: Lane) -> str:
    """C for the zero point, of unsigned bytes if these are in quads; floats have none."""
    if lane is Lane.HALVES:
        return "0"
    zero = p.inputs[2]
    given = literal(zero.value, zero.dtype) if zero.value is not None else f"in{cone.leaves.index(zero)}[0]"
    return f"{given} + {SIGN}" if lane is Lane.QUAD and zero.dtype == "int8" else given
