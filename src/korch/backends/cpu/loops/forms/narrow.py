"""A product of few rows with weights that its cone widens from constants of four or eight bits (`narrow_dots.py`).

Every thread makes digits of all rows, and then takes tiles of columns: the weights pass by once.
"""

from __future__ import annotations

from korch.backends.cpu.c import Code, Statements, own
from korch.backends.cpu.loops import epilogue, narrow_dots, narrow_floats
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.language import tables_of
from korch.backends.cpu.loops.narrow_dots import NarrowDots
from korch.backends.cpu.loops.narrow_weights import NarrowWeights, has_plain_ends, narrow_weights
from korch.backends.cpu.loops.refusals import outer_refusal
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.writer import SMALL, aligned
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds


class NarrowForm:
    """Products with narrow weights, and their epilogue."""

    priority = 70
    counts_elements = False

    def matches(self, cone: Cone) -> bool:
        return len(cone.linear) == 1 and has_plain_ends(cone) and narrow_weights(cone) is not None

    def refusal(self, cone: Cone) -> str:
        return outer_refusal(cone)

    def generate(self, cone: Cone, threads: int) -> Code:
        p = cone.linear[0]
        threads = threads if multiply_adds(p) > SMALL else 1
        weights = narrow_weights(cone)
        assert weights, "the form matches no such cone"
        rows = p.output.size // p.output.shape[-1]
        dots = NarrowDots.of(cone, weights, rows)
        text = epilogue.begun(cone, p.inputs[0])
        room = _write(text, cone, weights, dots, rows, threads)
        functions = (
            *narrow_dots.packing(cone, dots),
            (narrow_dots if dots.digits else narrow_floats).function("dots", dots),
            narrow_dots.plain_function("one_by_one", dots),
        )
        declarations = (*tables_of(functions), *functions)
        return epilogue.code(cone, text, threads, declarations=declarations, workspace=room * threads)


def _write(text: Statements, cone: Cone, weights: NarrowWeights, dots: NarrowDots, rows: int, threads: int) -> int:
    """Adds the loops; bytes of the workspace of a thread."""
    p, width = weights.product, dots.width
    high = -(-rows // dots.rows) * dots.rows
    units = aligned(4 * dots.row * high)
    sums = units + aligned(4 * dots.units * high)
    room = sums + aligned(4 * width * high)
    text.add(
        f"char *const own_room = (char *)workspace + {epilogue.thread_number(threads)} * INT64_C({room});",
        f"float *const units = (float *)(own_room + {units}), *const sums = (float *)(own_room + {sums});",
        f"const int infinite = *(const int *)((const char *)state + INT64_C({dots.size - narrow_dots.TAIL}));",
        f"int plain[{rows}];",
    )
    given = _rows(text, dots, rows, high)
    with shared_out(text, (Loop("tile", dots.tiles),), threads, multiply_adds(p)):
        text.add(
            f"const char *const w = (const char *)state + tile * INT64_C({dots.tile_bytes});",
            f"for (int r = 0; r < {high}; r += {dots.rows}) {own('dots')}(w, {given}, sums + r * {width});",
            f"const int c0 = tile * {width}, count = KORCH_MIN({width}, {weights.columns} - c0);",
        )
        with text.block(f"for (int row = 0; row < {rows}; ++row)"):
            text.add(
                f"if (plain[row]) {own('one_by_one')}(w, x + row * {weights.steps}, sums + row * {width});",
                f"const float *restrict z = sums + row * {width};",
            )
            epilogue.store_row(text, cone, p, streamed=False, of=1)
    return room


def _rows(text: Statements, dots: NarrowDots, rows: int, high: int) -> str:
    """Adds what makes activations as tiles read them, those of rows that only fill a tile too; those from row r on."""
    steps, to = dots.weights.steps, f"rows + r * {dots.row}"
    if dots.digits:
        given = f"{to}, units + r * {dots.units}"
        made = f"x + r * {steps}, {steps}, {dots.weights.block}, {dots.weights.center}, {dots.shared}, {given}"
        text.add("int32_t *const rows = (int32_t *)own_room;")
        text.add(f"for (int r = 0; r < {rows}; ++r) plain[r] = infinite | korch_digits({made});")
        return given
    count = f"KORCH_MIN({dots.rows}, {rows} - r)"
    text.add(
        "float *const rows = (float *)own_room; (void)units;",
        f"for (int r = 0; r < {rows}; ++r) plain[r] = infinite;",
        f"for (int r = 0; r < {high}; r += {dots.rows})",
        f"  korch_by_steps(x + r * {steps}, {steps}, {count}, {dots.rows}, {dots.row}, {to});",
    )
    return to


FORM: KernelForm = NarrowForm()
