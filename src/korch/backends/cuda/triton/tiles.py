"""Which elements a block of threads works on: variables, and how many positions it takes of each at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from korch.backends.maps.index import Var


def power_up(n: int) -> int:
    """The least power of two that is not below n."""
    return 1 << max(n - 1, 0).bit_length()


def power_down(n: int) -> int:
    """The greatest power of two that is not above n, at least 1."""
    return 1 << max(n, 1).bit_length() - 1


@dataclass(frozen=True)
class TileAxis:
    """A variable, taken by blocks of `block` positions, a power of two; by single ones as a number.

    Blocks of an `open` axis may reach past its end.
    """

    var: Var
    block: int = 1
    open: bool = False

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return -(-self.var.extent // self.block)

    @property
    def masked(self) -> bool:
        return self.open or self.var.extent % self.block != 0

    @property
    def mask(self) -> str:
        return f"{self.var.name}_in"


@dataclass(frozen=True)
class Tile:
    """`grid`: axes whose blocks are shared out, those of the last one first; `whole`: axes that every block of threads
    runs along from end to end, all of them in the tile's last dimension."""

    grid: tuple[TileAxis, ...]
    whole: tuple[TileAxis, ...] = ()

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The blocks' lengths; with several whole axes, the longest of theirs."""
        return (
            *(a.block for a in self.grid if a.block > 1),
            *([max(a.block for a in self.whole)] if self.whole else []),
        )

    def shape_along(self, axis: TileAxis) -> list[int]:
        """The shape of a block that runs along a whole axis."""
        return [*self.shape[:-1], axis.block]

    @property
    def programs(self) -> int:
        """Blocks of threads."""
        result = 1
        for axis in self.grid:
            result *= axis.count
        return result

    @cached_property
    def dims(self) -> dict[str, frozenset[int]]:
        """Which of the tile's dimensions variables and their masks have."""
        wide = [a for a in self.grid if a.block > 1]
        at = {a: frozenset((i,)) for i, a in enumerate(wide)} | {a: frozenset((len(wide),)) for a in self.whole}
        return {name: at.get(a, frozenset()) for a in (*self.grid, *self.whole) for name in (a.var.name, a.mask)}

    @property
    def masks(self) -> dict[str, str]:
        return {a.var.name: a.mask for a in (*self.grid, *self.whole) if a.masked}

    def header(self) -> list[str]:
        """The statements that give the variables of the grid their positions."""
        lines: list[str] = []
        step = 1
        for axis in reversed(self.grid):
            lines += self.positions(axis, _share(step, axis.count, self.programs))
            step *= axis.count
        return lines

    def positions(self, axis: TileAxis, number: str = "0", start: str = "") -> list[str]:
        """The positions of block `number` of an axis, or those from `start` on."""
        name = axis.var.name
        at = start or ("" if number == "0" else number if axis.block == 1 else f"{number} * {axis.block}")
        spread = self._spread(axis) if axis.block > 1 or axis in self.whole else ""
        lines = [f"{name} = {' + '.join(filter(None, (at, spread))) or '0'}"]
        return lines + [f"{axis.mask} = {name} < {axis.var.hi}"] * axis.masked

    def _spread(self, axis: TileAxis) -> str:
        (dim,) = self.dims[axis.var.name]
        rank = len(self.shape)
        slots = ", ".join(":" if i == dim else "None" for i in range(rank))
        return f"tl.arange(0, {axis.block})" + (f"[{slots}]" if rank > 1 else "")


def _share(step: int, count: int, programs: int) -> str:
    """The number of an axis' block, of `count`, that change every `step` blocks of threads."""
    if count == 1:
        return "0"
    text = "tl.program_id(0)"
    text = f"{text} // {step}" if step > 1 else text
    if step * count == programs:
        return f"({text})" if step > 1 else text
    return f"({text} % {count})"
