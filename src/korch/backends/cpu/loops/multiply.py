"""The loop nests of a stage that is a matrix product: tiles (`tile.py`) over the rows and columns of its block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from korch.backends.cpu.c import Statements, own
from korch.backends.cpu.loops import ahead, tile
from korch.backends.cpu.loops.binding import Schedule, Stage
from korch.backends.cpu.loops.block import LEAST, Operand, ProductBlock, block_of, packs, start_of, step_of
from korch.backends.cpu.loops.packing import packed_at, packing
from korch.backends.cpu.loops.tile import Group, Strides
from korch.backends.cpu.loops.vector_epilogue import VectorEpilogue
from korch.backends.cpu.loops.writer import FAR, LINE, Writer
from korch.backends.maps.index import Var

AHEAD = 4
"""Tiles by which rows are asked for before their turn."""
HEAVY = 1 << 20
"""Bytes of packed constants from which on a group's are asked for while the one before it is multiplied: else the first
of its tiles waits for memory, and memory for the others. (16 x 49 rows of 512 steps, 1024 columns: 4.2 instead of 4.8
ms, 36 x 16 rows 3.9 instead of 4.6.)"""


_Grouped = tuple[Group, str]
"""A group of columns, and where the constants lie that its tiles ask for."""


def rows_first(writer: Writer) -> tuple[Var, ...]:
    """The shared loops as they are nested: those of a product's rows around its matrices where rows are divided."""
    plan = writer.plan
    return tuple(sorted(plan.hoisted, key=lambda v: v not in _rows(plan))) if _divides_rows(writer) else plan.hoisted


def row_parts(writer: Writer) -> int:
    """Into how many parts the rows of every matrix are divided, one a thread, where no shared loop runs over rows; 0
    where threads take whole matrices."""
    if not _divides_rows(writer) or not _rows(writer.plan).isdisjoint(writer.plan.hoisted):
        return 0
    block = block_of(writer.plan, writer.plan.stages[-1])
    return writer.threads if block and not block.others and block.height >= writer.threads else 0


def column_parts(writer: Writer) -> int:
    """Into how many parts the columns of few rows are divided, one a thread; 0 where they are not."""
    return writer.threads if writer.threads > 1 and writer.plan.config.divided and not _many_rows(writer.plan) else 0


def _many_rows(plan: Schedule) -> bool:
    """Whether there are rows to divide: of fewer, threads divide the columns."""
    y = plan.stages[-1].maker.output
    return y.size // y.shape[-1] >= LEAST


def _divides_rows(writer: Writer) -> bool:
    """Whether threads divide the rows of all matrices. What precedes and follows such a product divides them so, and
    what lies in one core's cache stays there; constants, which all cores read then, must be less than that. (36 x 196
    rows of 128 steps for 128 columns between Winograd's transforms, on Zen 5 while a line takes 200 ns and more from
    core to core: 160 instead of 220 us for the one before, 107 for 145 behind; 62 and 30 both ways while it takes 40.
    Columns in several blocks read the rows again, which takes 3%.)"""
    plan, (s, *others) = writer.plan, writer.plan.stages
    if plan.config.divided:
        return writer.threads > 1 and _many_rows(plan)
    if others or writer.threads == 1 or not s.maker.spec.is_product or not packs(plan, s):
        return False
    (x, w), rows = s.maker.inputs, s.maker.output.shape[-2]
    matrices = {v for i in s.second[:-2] for v in i.vars()}
    few = w.nbytes * writer.threads <= x.nbytes + s.tensor.nbytes
    shared = matrices.intersection(plan.hoisted)
    whole = bool(shared) and {*plan.hoisted} <= shared | _rows(plan)
    return few and rows >= LEAST * writer.threads and whole


def _rows(plan: Schedule) -> frozenset[Var]:
    """The loops over the rows of the product that makes the root."""
    return plan.stages[-1].source[-2].vars()


def write_product(writer: Writer, s: Stage) -> None:
    """The tiles of the stage's block, inside what is left of its loops."""
    block, text = block_of(writer.plan, s), writer.text
    assert block is not None, "no product was planned"
    if block.second is None:
        writer.functions.update(packing(writer.plan, s, block))
    count = block.step.extent
    chunks = -(-count // tile.LONGEST)
    each = -(-count // chunks)
    steps = f"for (int k0 = 0; k0 < {count}; k0 += {each})" if chunks > 1 else ""
    with writer.loops(block.others), text.block(steps):
        if chunks == 1:
            text.add("const int k0 = 0;")
        _add_tiles(writer, s, block, chunks, each)


def _add_tiles(writer: Writer, s: Stage, block: ProductBlock, chunks: int, each: int) -> None:
    """The tiles of `each` steps from `k0` on, one of so many `chunks` of the steps."""
    count, text = block.step.extent, writer.text
    text.add(f"const int count = {f'KORCH_MIN({each}, {count} - k0)' if count % each else each};")
    parts = row_parts(writer)
    low, higher = divmod(block.height, parts or 1)
    text.add(f"const int first = {f'part * {low} + KORCH_MIN(part, {higher})' if parts else 0};")
    at = f"{start_of(block.first, (*block.rows, block.step))} + first * {step_of(block.first, block.row)}"
    text.add(f"const float *restrict a = {at} + k0 * {step_of(block.first, block.step)};")
    at = f"{start_of(block.result, (*block.rows, *block.columns))} + first * {step_of(block.result, block.row)}"
    text.add(f"float *restrict c = {at};")
    if block.second:
        at = start_of(block.second, (*block.columns, block.step))
        text.add(f"const float *restrict b = {at} + k0 * {block.second.step(block.step)};")
    else:
        text.add(f"const float *restrict b = (const float *)state + {packed_at(s, block)};")
    for i, o in enumerate(block.extras):
        at = f"{start_of(o, (*block.rows, *block.columns))} + first * {step_of(o, block.row)}"
        text.add(f"const float *restrict e{i} = {at};")
    streamed = _streams(writer.plan, s, block)
    writer.streamed |= streamed
    grouped = list(zip(tile.groups(block.width), _following(s, block, each), strict=True))
    later = _next_block(writer, block, chunks, each)
    for condition, height, some in _shares(grouped, column_parts(writer), low, higher):
        with text.block(condition):
            for group, following in some:
                _write_group(writer, block, height, group, following, streamed, later)


def _shares(
    grouped: Sequence[_Grouped], parts: int, low: int, higher: int
) -> Iterator[tuple[str, int, Sequence[_Grouped]]]:
    """(condition, rows, groups of columns) of what different threads do: parts of the columns, or so many rows, of
    which the first threads have one more."""
    if parts:
        edges = [i * len(grouped) // parts for i in range(parts + 1)]
        yield from ((f"if (part == {i})", low, grouped[a:b]) for i, (a, b) in enumerate(pairwise(edges)))
    elif higher:
        yield from ((f"if (part < {higher})", low + 1, grouped), ("else", low, grouped))
    else:
        yield "", low, grouped


def _following(s: Stage, block: ProductBlock, each: int) -> list[str]:
    """Where behind `b` the constants lie that are wanted after each group's; empty where they are not asked for."""
    groups, steps = tile.groups(block.width), block.step.extent
    if block.second or s.maker.inputs[1].nbytes < HEAVY:
        return [""] * len(groups)
    last = f"(k0 + {each}) * {groups[0].width}" if each < steps else f"{sum(g.width for g in groups) * steps}"
    return [*(f"{g.first * steps} + k0 * {g.width}" for g in groups[1:]), last]


def _next_block(writer: Writer, block: ProductBlock, chunks: int, each: int) -> _Later | None:
    """The rows of the block behind this one, where they come from afar and tiles take `each` of their steps at a time;
    None where no such block lies there."""
    steps, row = block.step.extent, step_of(block.first, block.row)
    outer = next((v for v in reversed(writer.plan.hoisted) if block.first.step(v)), None)
    follows = outer and not block.others and block.first.step(outer) == block.height * row
    dense = block.first.step(block.step) == 1 and row == steps
    if chunks == 1 or not follows or not dense or column_parts(writer) or not _comes_from_afar(writer, block.first):
        return None
    groups = tile.groups(block.width)
    tiles = sum(_tiles_of(block.height, group) for group in groups)
    floats = block.height * row
    return _Later(ahead.spread(f"a - k0 + {floats}", floats, chunks * tiles), f"k0 / {each} * {tiles}")


@dataclass(frozen=True)
class _Later:
    """What tiles ask for in equal shares, and the number of tiles before a turn of their steps, in C."""

    spread: ahead.Spread
    before: str


def _tiles_of(height: int, group: Group) -> int:
    return sum((end - begin) // rows for begin, end, rows in tile.runs(height, len(group.lanes)))


def _write_group(
    writer: Writer, block: ProductBlock, height: int, group: Group, following: str, streamed: bool, later: _Later | None
) -> None:
    """The tiles of a group of columns, each of which asks for a share of every step's lines at `following`, and of what
    comes `later`."""
    text = writer.text
    others = tuple((step_of(o, block.row), step_of(o, block.columns[-1])) for o in block.extras)
    second = step_of(block.second, block.step) if block.second else group.width
    strides = Strides(
        step_of(block.first, block.row),
        step_of(block.first, block.step),
        second,
        step_of(block.result, block.row),
        others,
        packed=not block.second,
        streamed=streamed,
    )
    steps, turns = block.step.extent, _turns(writer.plan, block)
    where = f"b + {group.first}" if block.second else f"b + {group.first * steps} + k0 * {group.width}"
    runs = list(tile.runs(height, len(group.lanes)))
    done = 0
    earlier = sum(_tiles_of(height, g) for g in tile.groups(block.width) if g.first < group.first)
    wanted = _constants(following, group, _tiles_of(height, group)) if following else _next_piece(writer)
    for begin, end, rows in runs:
        with text.block(f"for (int r = {begin}; r < {end}; r += {rows})"):
            call = f"(a + r * {strides.row}, {where}, c + r * {strides.result} + {group.first}, count"
            ends = "".join(f", e{i} + r * {row} + {group.first * column}" for i, (row, column) in enumerate(others))
            afar = not group.first and block.first.step(block.step) == 1 and _comes_from_afar(writer, block.first)
            asked = wanted or (_next_rows(rows, steps) if afar and strides.row == steps <= tile.LONGEST else None)
            tiles, number = _Tiles(writer, rows, group, strides, asked and asked.ahead), f"(r - {begin}) / {rows}"
            if asked:
                text.add(f"const float *const ahead = {asked.at(f'({done} + {number})')};")
                call += ", ahead"
            if later:
                text.add(*later.spread.in_turn(f"({later.before} + {earlier + done} + {number})"))
            done += (end - begin) // rows
            if afar and asked is wanted and not later:
                _ask_ahead(text, rows, f"a + (r + j) * {strides.row}", "count")
            for i, (o, (row, column)) in enumerate(zip(block.extras, others, strict=True)):
                if row and column == 1 and _comes_from_afar(writer, o):
                    _ask_ahead(text, rows, f"e{i} + (r + j) * {row} + {group.first}", str(group.columns))
            if not turns:
                text.add(f"{tiles.named(False, block.epilogue)}{call}{ends});")
            else:
                text.add(
                    f"if ({turns[0]}) {tiles.named(False, None)}{call});",
                    f"else if ({turns[1]}) {tiles.named(True, None)}{call});",
                    f"else {tiles.named(True, block.epilogue)}{call}{ends});",
                )


@dataclass(frozen=True)
class _Wanted:
    """What tiles ask for step by step, because it is needed after them, and where that begins for a tile, in C, by the
    C of its number."""

    ahead: tile.Ahead
    at: Callable[[str], str]


def _constants(following: str, group: Group, tiles: int) -> _Wanted:
    """A share for each of the tiles, line after line: so the processor joins in and fetches more."""
    share = -(-group.width // tiles)
    ahead = tile.Ahead(-(-share // LINE), share)
    return _Wanted(ahead, lambda number: f"b + {following} + {number} * {share} * count")


def _next_rows(rows: int, steps: int) -> _Wanted:
    """The rows of a later tile, which lie side by side, line after line. (65536 rows of 96 steps for 24 columns, from
    afar: 1.15 ms, 1.6 where all lines are asked for at once.)"""
    return _Wanted(tile.Ahead(-(-rows // LINE), rows), lambda _: f"a + (r + {AHEAD * rows}) * {steps}")


def _next_piece(writer: Writer) -> _Wanted | None:
    """Of operands that are stored for some steps at a time, what the next piece of one is made of: for one tile after
    the other that of one operand."""
    found = ahead.in_next_piece(writer)
    if not found:
        return None
    place, lines, step = found[0]
    places = [p for p, *same in found if same == [lines, step]]

    def at(number: str) -> str:
        others = (f"{number} % {len(places)} == {i} ? {other} : " for i, other in enumerate(places[1:], 1))
        return "".join((*others, place))

    return _Wanted(tile.Ahead(lines, step), at)


def _turns(plan: Schedule, block: ProductBlock) -> tuple[str, str] | None:
    """C for "these are the first steps" and "others follow", where a tile is not computed in one go."""
    if plan.pieces:
        (piece,) = plan.pieces
        return f"{piece.name} == 0", f"{piece.name} < {piece.extent - 1}"
    steps = block.step.extent
    return ("k0 == 0", f"k0 + count < {steps}") if steps > tile.LONGEST else None


def _streams(plan: Schedule, s: Stage, block: ProductBlock) -> bool:
    """Whether tiles store whole lines past the caches, with which they are done then."""
    whole = step_of(block.result, block.row) % LINE == 0 and all(
        g.columns % LINE == 0 for g in tile.groups(block.width)
    )
    return plan.streams(s) and not _turns(plan, block) and whole


def _comes_from_afar(writer: Writer, o: Operand) -> bool:
    """Whether what the tiles read row by row is worth asking for before it is needed: the processor foresees one stream
    of addresses, not as many as a tile has rows."""
    return o.tensor in writer.plan.cone.leaves and o.tensor.nbytes >= FAR


def _ask_ahead(text: Statements, rows: int, at: str, count: str) -> None:
    """Asks for `count` numbers from `at` on, of each row j that a later tile of so many rows reads."""
    text.add(
        f"for (int j = {AHEAD * rows}; j < {(AHEAD + 1) * rows}; ++j)",
        f"  for (int l = 0; l < {count}; l += {LINE}) __builtin_prefetch({at} + l, 0, 2);",
    )


@dataclass(frozen=True)
class _Tiles:
    """The functions of one kind of tile."""

    writer: Writer
    rows: int
    group: Group
    strides: Strides
    ahead: tile.Ahead | None

    def named(self, more: bool, epilogue: VectorEpilogue | None) -> str:
        """The name of such a function, which the kernel has then."""
        strides = self.strides if epilogue else replace(self.strides, others=())
        numbers = (self.rows, self.group.columns, strides.row, strides.step, strides.second, strides.result, int(more))
        ahead = f"_{self.ahead.lines}ahead{self.ahead.step}" if self.ahead else ""
        forms = {ahead: self.ahead, "_streamed": strides.streamed, "_all": epilogue}
        named = "_".join(map(str, numbers)) + "".join(form for form, is_so in forms.items() if is_so)
        name = f"tile_{named.replace('-', 'm')}"
        if name not in self.writer.functions:
            self.writer.functions[name] = tile.function(
                name, self.rows, self.group, strides, more, epilogue, self.ahead
            )
        return own(name)
