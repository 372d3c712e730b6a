"""A product of few rows with weights that its cone widens from constants of float16, which stay so in memory.

The weights pass by once for some rows, a vector of columns widened in registers at each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from korch.backends.cpu.c import Code, Function, Linkage, Statements, own
from korch.backends.cpu.c.tree import init_function
from korch.backends.cpu.loops import epilogue
from korch.backends.cpu.loops.form import KernelForm
from korch.backends.cpu.loops.language import tables_of
from korch.backends.cpu.loops.narrow_weights import TensorElement, behind, has_plain_ends, of_constants, traced
from korch.backends.cpu.loops.refusals import outer_refusal
from korch.backends.cpu.loops.tile import registers
from korch.backends.cpu.loops.turns import Loop, shared_out
from korch.backends.cpu.loops.vector_epilogue import broadcast
from korch.backends.cpu.loops.writer import SMALL, aligned
from korch.backends.cpu.packed import FREE_PACKED, packed
from korch.backends.maps.index import Index, Var
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds

UNROLLED = 4
"""Steps between two turns of a tile's loop."""


class HalfWeightsForm:
    """Products with weights of float16, and their epilogue."""

    priority = 71
    counts_elements = False

    def matches(self, cone: Cone) -> bool:
        return len(cone.linear) == 1 and has_plain_ends(cone) and _halves(cone) is not None

    def refusal(self, cone: Cone) -> str:
        return outer_refusal(cone)

    def generate(self, cone: Cone, threads: int) -> Code:
        p = cone.linear[0]
        threads = threads if multiply_adds(p) > SMALL else 1
        tiles = _Tiles.of(p.output.size // p.output.shape[-1], *p.inputs[1].shape)
        text = epilogue.begun(cone, p.inputs[0])
        _write(text, cone, tiles, threads)
        functions = (*_packing(cone, tiles), _multiply(tiles))
        room = aligned(4 * tiles.width * tiles.rows)
        return epilogue.code(
            cone, text, threads, declarations=(*tables_of(functions), *functions), workspace=room * threads
        )


def _halves(cone: Cone) -> TensorElement | None:
    """The element of the constant of float16 that the weight of step k and column n is."""
    w = cone.linear[0].inputs[1]
    if w not in cone.makers or w.rank != 2 or not of_constants(cone, w):
        return None
    at = tuple(Index.of(Var(name, 0, length)) for name, length in zip("kn", w.shape, strict=True))
    e = behind(cone, TensorElement(w, at))
    p = cone.makers.get(e.tensor)
    if p is None or not p.spec.casts or p.inputs[0].dtype != "float16":
        return None
    e = behind(cone, TensorElement(p.inputs[0], e.at))
    return e if e.tensor in cone.leaves else None


@dataclass(frozen=True)
class _Tiles:
    """`rows` of `steps` times [steps, columns]; tiles of `high` rows by so many `vectors`."""

    rows: int
    steps: int
    columns: int
    high: int
    vectors: int

    @staticmethod
    def of(rows: int, steps: int, columns: int) -> _Tiles:
        """With sums in half of the registers; one row has as many vectors as that."""
        most, lanes = registers().count // 2, registers().lanes
        high = -(-rows // -(-rows // most))
        return _Tiles(rows, steps, columns, high, max(1, min(most // high, -(-columns // lanes))))

    @property
    def width(self) -> int:
        return self.vectors * registers().lanes

    @property
    def count(self) -> int:
        """Of the tiles side by side."""
        return -(-self.columns // self.width)

    @property
    def tile_bytes(self) -> int:
        return 2 * self.steps * self.width


def _write(text: Statements, cone: Cone, tiles: _Tiles, threads: int) -> None:
    """Adds the loops. The last tile of rows ends with the last row, and computes some again."""
    p, width = cone.linear[0], tiles.width
    room = aligned(4 * width * tiles.rows)
    text.add(f"float *const sums = (float *)((char *)workspace + {epilogue.thread_number(threads)} * INT64_C({room}));")
    with shared_out(text, (Loop("tile", tiles.count),), threads, multiply_adds(p)):
        text.add(f"const char *const w = (const char *)state + tile * INT64_C({tiles.tile_bytes});")
        with text.block(f"for (int r = 0; r < {tiles.rows}; r += {tiles.high})"):
            text.add(
                f"const int from = KORCH_MIN(r, {tiles.rows - tiles.high});",
                f"{own('dots')}(w, x + from * INT64_C({tiles.steps}), sums + from * {width});",
            )
        text.add(f"const int c0 = tile * {width}, count = KORCH_MIN({width}, {tiles.columns} - c0);")
        with text.block(f"for (int row = 0; row < {tiles.rows}; ++row)"):
            text.add(f"const float *restrict z = sums + row * {width};")
            epilogue.store_row(text, cone, p, streamed=False, of=1)


def _multiply(tiles: _Tiles) -> Function:
    """Multiplies a tile: weights from `w` on, rows from `x` on, sums to `out`."""
    lanes, text = registers().lanes, Statements()
    cells = [(r, g) for r in range(tiles.high) for g in range(tiles.vectors)]
    text.add(*(f"korch_f{lanes} s{r}_{g} = {{0}};" for r, g in cells), f"#pragma GCC unroll {UNROLLED}")
    with text.block(f"for (int k = 0; k < {tiles.steps}; ++k, w += {2 * tiles.width})"):
        for g in range(tiles.vectors):
            text.add(f"korch_f{lanes} w{g};", f"KORCH_WIDENED{lanes}(w{g}, w + {2 * g * lanes});")
        for r in range(tiles.high):
            added = " ".join(f"KORCH_FMA{lanes}(s{r}_{g}, all, w{g});" for g in range(tiles.vectors))
            number = broadcast(f"x[{r * tiles.steps} + k]", lanes)
            text.add(f"{{ const korch_f{lanes} all = {number}; {added} }}")
    text.add(*(f"*(korch_at{lanes} *)(out + {r * tiles.width + g * lanes}) = s{r}_{g};" for r, g in cells))
    parameters = "const char *restrict w, const float *restrict x, float *restrict out"
    return Function("dots", parameters, text.body, linkage=Linkage.SEPARATE)


def _packing(cone: Cone, tiles: _Tiles) -> Iterator[Function]:
    """The functions that make and free the state: tile by tile, step by step."""
    halves, text, size = _halves(cone), Statements(), tiles.tile_bytes * tiles.count
    assert halves, "the form matches no such cone"
    leaf = cone.leaves.index(halves.tensor)
    text.add(
        f"const _Float16 *restrict in{leaf} = in[{leaf}];",
        f"_Float16 *to = *state = korch_aligned({size});",
        "if (!to) return 1;",
        f"for (int first = 0; first < {tiles.columns}; first += {tiles.width})",
        f"  for (int k = 0; k < {tiles.steps}; ++k)",
    )
    with text.block(f"    for (int column = first; column < first + {tiles.width}; ++column)"):
        trace = traced(cone)
        value = trace.value(halves.tensor, halves.at)
        text.add(f"const int n = KORCH_MIN(column, {tiles.columns - 1});", *trace.lines)
        text.add(f"*to++ = column < {tiles.columns} ? {value} : (_Float16)0;")
    text.add(packed(size))
    yield init_function(text.body)
    yield FREE_PACKED


FORM: KernelForm = HalfWeightsForm()
