"""Tiles of products whose rows overlap in memory, as neighbouring windows do: so many lines of each, of each line some
runs of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from korch.backends.cpu.c import Function, Linkage, Statements, own
from korch.backends.cpu.loops import tile
from korch.backends.cpu.loops.tile import Group

UNROLLED = 9
"""Steps of a run that are written out, at most."""


@dataclass(frozen=True)
class Runs:
    """The steps of one line of a window: `outer` runs of `inner` steps. A run begins `outer_step` floats behind the
    one before, None where that is the distance of two channels; a step is `inner_step` floats."""

    outer: int
    outer_step: int | None
    inner: int
    inner_step: int

    @property
    def steps(self) -> int:
        return self.outer * self.inner

    @property
    def run_stride(self) -> str:
        """C for the distance of two runs."""
        return "plane" if self.outer_step is None else str(self.outer_step)


def add(text: Statements, name: str, runs: Runs, group: Group) -> None:
    """The statements that sum a tile by the `function` called `name`, from `own` on, by the packed `b`, into y: its
    lines from `first` to `last` - 1. Of long sums, some lines at a time, or some runs of one, as sums of sums err
    less."""
    lines = max(1, tile.LONGEST // runs.steps)
    some = runs.outer if runs.steps <= tile.LONGEST else max(1, tile.LONGEST // runs.inner)
    at = f"b + (l * {runs.steps} + o * {runs.inner}) * {group.width}"
    text.add(
        "int more = 0;",
        f"for (int l = first; l < last || !more; l += {lines})",
        f"  for (int o = 0; o < {runs.outer}; o += {some}, more = 1)",
        f"    {own(name)}(own + (l - first) * line + o * {runs.run_stride}, line, plane, {at}, y, "
        f"KORCH_MIN({lines}, last - l), KORCH_MIN({some}, {runs.outer} - o), more);",
    )


def alike(columns: Sequence[Group]) -> Iterator[tuple[int, int, Group]]:
    """(how many, columns packed before, the first) of groups of columns that are alike."""
    at = 0
    for _, some in groupby(columns, key=lambda g: (g.columns, g.lanes)):
        same = list(some)
        yield len(same), at, same[0]
        at += len(same) * same[0].width


def function(name: str, rows: int, row_stride: int, runs: Runs, group: Group) -> Function:
    """Sums a tile into y, so many rows of the group's vectors, over so many lines of the windows, of each so many runs;
    the windows of neighbouring rows are `row_stride` floats apart."""
    vectors = list(group.vectors())
    sums = [(r, j, at, lanes) for r in range(rows) for j, (at, lanes, _) in enumerate(vectors)]
    text = Statements()
    text.add("(void)plane;", *(f"korch_f{lanes} s{r}_{j} = {{0}};" for r, j, _, lanes in sums))
    each = max(n for n in range(1, UNROLLED + 1) if runs.inner % n == 0)
    text.add("for (int l = 0; l < lines; ++l, a += line)")
    with text.block("  for (int o = 0; o < runs; ++o)"):
        text.add(f"for (int k0 = 0; k0 < {runs.inner}; k0 += {each})", f"#pragma GCC unroll {each}")
        with text.block(f"  for (int i = 0; i < {each}; ++i, b += {group.width})"):
            text.add("const int k = k0 + i;")
            for j, (at, lanes, _) in enumerate(vectors):
                text.add(f"korch_f{lanes} b{j} = *(const korch_at{lanes} *)(b + {at});", *tile.held(f"b{j}"))
            for r in range(rows):
                place = f"a[o * {runs.run_stride} + {r * row_stride} + k * {runs.inner_step}]"
                text.add(
                    tile.multiplied(place, [(f"s{r}_{j}", f"b{j}", lanes) for j, (_, lanes, _) in enumerate(vectors)])
                )
            text.add(tile.STEP_ENDS)
    places = [(f"*(korch_at{lanes} *)(y + {r * group.width + at})", f"s{r}_{j}") for r, j, at, lanes in sums]
    with text.block("if (more)"):
        text.add(*(f"{s} += {place};" for place, s in places))
    text.add(*(f"{place} = {s};" for place, s in places))
    parameters = (
        "const float *restrict a, int line, int plane, const float *restrict b, float *restrict y, "
        "int lines, int runs, int more"
    )
    return Function(name, parameters, text.body, linkage=Linkage.SEPARATE)
