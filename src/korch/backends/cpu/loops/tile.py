"""The innermost loop of matrix products: a tile of the result in registers, a multiply-add for each of its vectors.

A tile is some rows by one group of columns. Each step loads the group's vectors of one row of the second operand, and
one number of each row of the first, which is multiplied with all of them. No operand is copied for it but constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from korch.backends.cpu.c import Function, Linkage, Statements
from korch.backends.cpu.loops.vector_epilogue import VectorEpilogue, broadcast
from korch.backends.cpu.loops.writer import LINE
from korch.ir.tensor import Tensor
from korch.system.processor import computes_512_bits_at_once, cpu_flags

LONGEST = 128 if computes_512_bits_at_once() else 256
"""Steps between two visits to memory: what a group reads in them stays near. Who multiplies two vectors a turn has to
find it in the first-level cache. (Of 256 steps and more, 3 to 7% on Granite Rapids; nothing on Zen 4. `efficientvit`
1 to 2% on Zen 5, with pieces for it.)"""
DEEP = 8
"""Multiply-adds that a core has under way at once: smaller tiles wait for results."""
STEP_ENDS = '__asm__ volatile("" ::: "memory");'
"""Between steps. What rows or windows share, compilers would keep for later steps in more registers than there are."""
UNROLLED = 8
"""Steps between two turns of a tile's loop: what counts and asks ahead is a fifth of a step's instructions else, and a
core that works for two gets as many as it can decode. (192 rows of 1024 steps for 480 columns on Zen 3 while others
work beside: 84 instead of 72 GFLOP/s of 103, and 83 by 4 steps; else 98 both ways.)"""


@dataclass(frozen=True)
class Registers:
    """`count` vector registers of `lanes` floats each."""

    count: int
    lanes: int

    @property
    def few(self) -> bool:
        """Whether kernels have shapes of their own for them: half as many as processors with AVX-512 have."""
        return self.count < 32

    @property
    def abreast(self) -> int:
        """Vectors of a group: a tile then loads about half as often as it multiplies."""
        return self.count // 8

    def rows(self, vectors: int) -> int:
        """Rows of a tile with so many vectors each: sums fill the registers, but for operands and a number."""
        return max(1, min(16, (self.count - vectors - 1) // vectors))


@cache
def registers() -> Registers:
    return Registers(32, 16) if "avx512f" in cpu_flags() else Registers(16, 8)


def held(vector: str) -> list[str]:
    """C that keeps a vector of the second operand in its register, where there are few: compilers load it for each row
    again. (Four rows of three vectors, on Zen 3: 8.2 turns a step, 6.0 so, as many as they have multiply-adds.)"""
    return [f"KORCH_HOLD({vector});"] if registers().few else []


@dataclass(frozen=True)
class Group:
    """Columns from `first` on that are computed together: vectors of `lanes`, `columns` of them wanted."""

    first: int
    columns: int
    lanes: tuple[int, ...]

    @property
    def width(self) -> int:
        return sum(self.lanes)

    @property
    def cost(self) -> float:
        """Vectors, by what they take."""
        return sum(lanes / registers().lanes for lanes in self.lanes)

    def vectors(self) -> Iterator[tuple[int, int, int]]:
        """(offset, lanes, lanes wanted) of each."""
        at = 0
        for lanes in self.lanes:
            yield at, lanes, min(lanes, self.columns - at)
            at += lanes


@cache
def groups(columns: int, abreast: int = 0) -> tuple[Group, ...]:
    """`columns` in groups as even as can be, of so many vectors at most, the last ending in a shorter vector where that
    will do. None but the only one has a single vector: tiles load once for each multiply-add then."""
    full = registers().lanes
    vectors = -(-columns // full)
    each = -(-vectors // -(-vectors // (abreast or registers().abreast)))
    starts = [v for v in range(0, vectors, each) if not v or v < vectors - 1]
    found = list[Group]()
    for first, end in pairwise((*(full * v for v in starts), columns)):
        wanted = end - first
        lanes = [full] * (wanted // full)
        if rest := wanted % full:
            lanes.append(next(n for n in (4, 8, 16) if n >= rest))
        found.append(Group(first, wanted, tuple(lanes)))
    return tuple(found)


def runs(rows: int, vectors: int) -> Iterator[tuple[int, int, int]]:
    """`rows` in tiles as even as can be: (first row, end, rows of a tile) of the higher ones and of the others."""
    count = -(-rows // registers().rows(vectors))
    low, higher = divmod(rows, count)
    yield from ((b, e, n) for b, e, n in ((0, higher * (low + 1), low + 1), (higher * (low + 1), rows, low)) if b < e)


@dataclass(frozen=True)
class Strides:
    """Floats between neighbours: rows and steps of the first operand, steps of the second, rows of the result."""

    row: int
    step: int
    second: int
    result: int
    others: tuple[tuple[int, int], ...] = ()
    """Of each operand of what follows: floats between its rows, and between its columns."""
    packed: bool = False
    """Whether the second operand has whole vectors."""
    streamed: bool = False
    """Whether the result goes past the caches."""


@dataclass(frozen=True)
class Ahead:
    """What a tile asks for in each step: so many lines, `step` floats behind those of the step before."""

    lines: int
    step: int

    @property
    def every(self) -> int:
        """Steps that lie in one line, of those that tiles take together."""
        return min(1 << (LINE // self.step).bit_length() - 1, UNROLLED) if self.lines == 1 and self.step < LINE else 1

    @property
    def lines_asked(self) -> list[str]:
        """C that asks for what step k has to ask for."""
        return [f"__builtin_prefetch(ahead + k * {self.step} + {LINE * i}, 0, 2);" for i in range(self.lines)]


def function(
    name: str,
    rows: int,
    group: Group,
    strides: Strides,
    more: bool,
    epilogue: VectorEpilogue | None,
    ahead: Ahead | None = None,
) -> Function:
    """Multiplies `count` steps of a tile and ends with the `epilogue`. With `more`, the sums are added to what the
    result holds already: sums of sums err less than one long sum."""
    vectors = list(group.vectors())
    tail = _tail_of(rows, group, strides)
    first = None if more or tail else _first_of(epilogue, strides)
    sums = [(f"s{r}_{j}", r, v) for r in range(rows) for j, v in enumerate(vectors)]
    whole = list(enumerate(vectors))[: len(vectors) - bool(tail)]
    text = Statements()
    if first is None:
        text.add(*(f"korch_f{lanes} s{r}_{j} = {{0}};" for r in range(rows) for j, (_, lanes, _) in whole))
    else:
        text.add(*(_loaded(f"s0_{j}", f"e{first} + {at}", *width) for j, (at, *width) in whole))
        text.add(*(f"korch_f{lanes} s{r}_{j} = s0_{j};" for r in range(1, rows) for j, (_, lanes, _) in whole))
        assert epilogue
        epilogue = epilogue.without_first()
    text.add(*(tail.before if tail else ()))
    step = list[str]()
    for j, (at, lanes, wanted) in whole:
        step.append(_loaded(f"b{j}", f"b + k * {strides.second} + {at}", lanes, lanes if strides.packed else wanted))
        step += held(f"b{j}")
    for r in range(rows):
        added = [(f"s{r}_{j}", f"b{j}", lanes) for j, (_, lanes, _) in whole]
        step.append(multiplied(f"a[{r * strides.row} + k * {strides.step}]", added))
    _add_steps(text, [*step, *(tail.within if tail else ()), STEP_ENDS], ahead)
    text.add(*(tail.after if tail else ()))
    for s, r, vector in sums:
        text.add(*_stored(s, r, vector, strides, more, epilogue))
    parameters = [
        "const float *restrict a, const float *restrict b, float *restrict c, int count",
        *(["const float *ahead"] if ahead else []),
        *(f"const float *restrict e{i}" for i in range(len(strides.others))),
    ]
    return Function(name, ", ".join(parameters), text.body, linkage=Linkage.SEPARATE)


def multiplied(place: str, sums: Sequence[tuple[str, str, int]]) -> str:
    """C that adds to each sum, of (sum, vector, lanes), the number at a place times the vector. (One vector of 16 by 16
    numbers, 3x3 over 12 channels on one core of Cascade Lake: 1.44 -> 1.34 ms.)"""
    if len(sums) == 1:
        ((total, vector, lanes),) = sums
        return f"KORCH_FMA_FROM{lanes}({total}, {place}, {vector});"
    added = (f"KORCH_FMA{lanes}({total}, all, {vector});" for total, vector, lanes in sums)
    return " ".join((f"{{ const float x = {place}; const korch_fn all = KORCH_ALL(x);", *added, "}"))


def _add_steps(text: Statements, step: list[str], ahead: Ahead | None) -> None:
    """The loop over k of `step`, so many together."""
    asked = ahead.lines_asked if ahead else []
    text.add("int k0 = 0;", f"for (; k0 + {UNROLLED} <= count; k0 += {UNROLLED})", f"#pragma GCC unroll {UNROLLED}")
    with text.block(f"  for (int i = 0; i < {UNROLLED}; ++i)"):
        text.add("const int k = k0 + i;")
        if ahead:
            with text.block(f"if (i % {ahead.every} == 0)"):
                text.add(*asked)
        text.add(*step)
    with text.block("for (int k = k0; k < count; ++k)"):
        text.add(*asked, *step)


def _first_of(epilogue: VectorEpilogue | None, strides: Strides) -> int | None:
    """The number of the operand that is added to every row of a product before anything else, with which sums begin."""
    added = epilogue and epilogue.added_first()
    if not epilogue or not added:
        return None
    i = epilogue.operands.index(added)
    return i if strides.others[i] == (0, 1) else None


@dataclass(frozen=True)
class _Tail:
    """C for a last column on its own, which ends in the first lane of a vector for each row: a vector with a single
    number wanted takes half as long as a whole one."""

    before: list[str]
    within: list[str]
    after: list[str]


def _tail_of(rows: int, group: Group, strides: Strides) -> _Tail | None:
    """The last of the columns where there are others and it is alone: as a vector of rows, or as sums along the steps,
    whichever of them lie side by side."""
    *others, (at, lanes, wanted) = group.vectors()
    column, sums = f"b[k * {strides.second} + {at}]", [f"s{r}_{len(others)}" for r in range(rows)]
    if not others or wanted > 1:
        return None
    if strides.row == 1 and rows in (4, 8, 16):
        step = f"tail += *(const korch_at{rows} *)(a + k * {strides.step}) * {column};"
        placed = [f"korch_f{lanes} {s} = {{tail[{r}]}};" for r, s in enumerate(sums)]
        return _Tail([f"korch_f{rows} tail = {{0}};"], [step], placed)
    if strides.step == 1:
        gathered = [
            f"float column[{LONGEST}] __attribute__((aligned(64)));",
            f"for (int k = 0; k < count; ++k) column[k] = {column};",
        ]
        placed = [
            f"korch_f{lanes} {s} = {{korch_dot(a + {r * strides.row}, column, count)}};" for r, s in enumerate(sums)
        ]
        return _Tail(gathered, [], placed)
    return None


def _stored(
    s: str, r: int, vector: tuple[int, int, int], strides: Strides, more: bool, epilogue: VectorEpilogue | None
) -> list[str]:
    """C that puts the sum `s` of row `r`, with what is added to it and what follows it, in its place."""
    at, lanes, wanted = vector
    place, lines = f"c + {r * strides.result + at}", list[str]()
    if more:
        lines += [_loaded(f"c_{s}", place, lanes, wanted), f"{s} += c_{s};"]
    if epilogue:
        loaded: dict[Tensor, str] = {}
        needed = {t for step in epilogue.steps for t in step.inputs}
        for i, (t, (row, column)) in enumerate(zip(epilogue.operands, strides.others, strict=True)):
            if t not in needed:
                continue
            loaded[t], where = f"x{i}{s}", f"e{i} + {r * row + at * column}"
            single = f"korch_f{lanes} {loaded[t]} = {broadcast('*(' + where + ')', lanes)};"
            lines.append(_loaded(loaded[t], where, lanes, wanted) if column else single)
        statements, s = epilogue.lines(s, lanes, loaded, s)
        lines += statements
    if lanes != wanted:
        return [*lines, f"korch_store_first{lanes}({place}, {s}, {wanted});"]
    streamed = f"korch_stream{lanes}({place}, {s});"
    return [*lines, streamed if strides.streamed else f"*(korch_at{lanes} *)({place}) = {s};"]


def _loaded(vector: str, place: str, lanes: int, wanted: int) -> str:
    """A vector from memory, no element beyond the wanted touched."""
    if lanes == wanted:
        return f"korch_f{lanes} {vector} = *(const korch_at{lanes} *)({place});"
    return f"korch_f{lanes} {vector} = korch_load_first{lanes}({place}, {wanted});"
