"""The loop of a product: what stands before it, and what one turn loads and multiplies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from korch.backends.cuda.triton.linear.language import Looped, parted
from korch.backends.cuda.triton.linear.operands import TracedOperand, Weights, conditions
from korch.backends.cuda.triton.linear.product import Contraction, Size
from korch.backends.cuda.triton.linear.tiles import ProductTile
from korch.backends.maps.index import Index, Var, unflat
from korch.backends.maps.trace import Indices
from korch.backends.precision import HALVES
from korch.ir.cone import Cone

CHANGING = frozenset({"step", "tap", "ka", "kb", "steps_a", "steps_b", "inside"})
"""Names that a turn gives anew."""


def variables(size: Size) -> tuple[Index, Index, Index]:
    """The place in the batch, the rows, the columns."""
    z, m, n = (
        Index.of(Var(name, 0, length)) if length > 1 else Index()
        for name, length in (("z", size.batch), ("m", size.rows), ("n", size.columns))
    )
    return z, m, n


def masks(tile: ProductTile, size: Size) -> dict[str, str]:
    """The conditions on rows and columns that the tiles do not divide."""
    return ({"m": "rows"} if size.rows % tile.rows else {}) | ({"n": "columns"} if size.columns % tile.columns else {})


@dataclass(frozen=True)
class Mainloop:
    """One turn of the loop over steps: of one tap's channels, or of all steps as one axis."""

    cone: Cone
    product: Contraction
    tile: ProductTile
    precision: str
    weights: tuple[Weights, ...]
    tables: dict[tuple[float, ...], str]
    before: dict[Index, str] = field(default_factory=dict[Index, str])

    def written(self) -> tuple[list[str], list[str]]:
        """(statements before the loop, statements of a turn)."""
        z, m, n = variables(self.size)
        left = self.product.left(z, m, self._steps("ka"))
        a, opening, zero = self._left(left)
        b = self._language({"kb": "steps_b"} if self.masked else {})
        one = TracedOperand(self.cone, self.product, 0, self.weights, a, zero)
        two = TracedOperand(self.cone, self.product, 1, self.weights, b, ("steps_b",) if self.masked else ())
        lines_a, x = one.traced(left)
        lines_b, y = two.traced(self.product.right(z, n, self._steps("kb")))
        still, turn = parted([*self._start(), *opening, *lines_a, *lines_b], CHANGING)
        return [*a.statements(), *still], [*turn, self._dot(x, y)]

    @property
    def size(self) -> Size:
        return Size.of(self.product)

    @property
    def by_taps(self) -> bool:
        return self.tile.by_taps(self.size)

    @property
    def length(self) -> int:
        """Of the axis that the turns walk along."""
        return self.size.inner if self.by_taps else self.size.steps

    @property
    def masked(self) -> bool:
        """Whether the last turn runs over the end."""
        return self.length % self.tile.depth != 0

    def _language(self, more: dict[str, str]) -> Looped:
        return Looped(masks(self.tile, self.size) | more, self.tables, CHANGING, self.before)

    def _left(self, at: Indices) -> tuple[Looped, list[str], tuple[str, ...]]:
        """The language of the first operand, what stands before its loads, and the conditions where it is not 0."""
        own = {"ka": "steps_a"} if self.masked else {}
        language = self._language(own)
        found = conditions(self.product.bounds(at), language)
        if not found:
            return language, [], tuple(own.values())
        known = [language.masks[v] for v in ("m", *(() if self.by_taps else own)) if v in language.masks]
        names = ("m", "tap") if self.by_taps else ("m", "ka")
        language.masks = {**language.masks, **dict.fromkeys(names, "inside")}
        zero = ("inside", *own.values()) if self.by_taps else ("inside",)
        return language, [f"inside = {' & '.join([*known, *found])}"], zero

    def _steps(self, k: str) -> Indices:
        """The indices along the steps, in terms of the variable `k`."""
        along = Index.of(Var(k, 0, self.length))
        if self.by_taps:
            return (*unflat(Index.of(Var("tap", 0, self.size.taps)), self.product.steps[:-1]), along)
        return unflat(along, self.product.steps)

    def _start(self) -> list[str]:
        depth, chunks = self.tile.depth, math.ceil(self.length / self.tile.depth)
        lines: list[str] = []
        at = f"step * {depth} + "
        if self.by_taps:
            lines = [f"tap = step // {chunks}" if chunks > 1 else "tap = step"]
            at = f"step % {chunks} * {depth} + " if chunks > 1 else ""
        lines += [f"ka = {at}tl.arange(0, {depth})[None, :]", f"kb = {at}tl.arange(0, {depth})[:, None]"]
        return lines + [f"steps_{s} = k{s} < {self.length}" for s in "ab" if self.masked]

    def _dot(self, x: str, y: str) -> str:
        tile = self.tile
        x, y = self._shaped(x, tile.rows, tile.depth), self._shaped(y, tile.depth, tile.columns)
        how = "" if self.precision in HALVES else f', input_precision="{self.precision}"'
        return f"total = tl.dot({x}, {y}, total{how})"

    def _shaped(self, value: str, height: int, width: int) -> str:
        """The operand as a tile of the type that is multiplied."""
        whole = f"tl.broadcast_to({value}, ({height}, {width}))"
        return f"tl.cast({whole}, tl.{HALVES[self.precision]})" if self.precision in HALVES else whole
