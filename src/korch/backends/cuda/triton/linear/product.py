"""A matrix product or convolution as rows x columns x steps, and where its operands and its result lie.

Every product is a batch of matrix products: `left[rows, steps] @ right[steps, columns]`. A convolution has the group
as its batch, images and positions as rows, output channels as columns, and taps and input channels as steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from korch.backends.maps.index import Index, unflat
from korch.backends.maps.trace import Indices
from korch.ir.ops.reduce import spatial_axes
from korch.ir.ops.table import Shape
from korch.ir.primitive import Primitive

Bounds = tuple[tuple[Index, int], ...]
"""Positions and the lengths of their axes: outside of these an operand is 0."""


class Contraction(Protocol):
    """What is multiplied. Indices come as one position in the batch, the rows, the columns, and one for each axis of
    `steps`, of which all but the last are taps of a window."""

    @property
    def primitive(self) -> Primitive: ...

    @property
    def batch(self) -> Shape: ...

    @property
    def rows(self) -> Shape: ...

    @property
    def columns(self) -> Shape: ...

    @property
    def steps(self) -> Shape: ...

    def left(self, batch: Index, row: Index, steps: Indices) -> Indices:
        """The indices of the first operand."""
        ...

    def right(self, batch: Index, column: Index, steps: Indices) -> Indices:
        """The indices of the second operand."""
        ...

    def result(self, batch: Index, row: Index, column: Index) -> Indices:
        """The indices of the primitive's output."""
        ...

    def bounds(self, left: Indices) -> Bounds:
        """Which of the first operand's indices may lie outside of it."""
        ...


@dataclass(frozen=True)
class Matrices:
    """A MatMul. Leading axes that only one operand has are more rows, or more columns."""

    primitive: Primitive

    @property
    def batch(self) -> Shape:
        return self._lead("both")

    @property
    def rows(self) -> Shape:
        return (*self._lead("left"), self.primitive.inputs[0].shape[-2])

    @property
    def columns(self) -> Shape:
        return (*self._lead("right"), self.primitive.inputs[1].shape[-1])

    @property
    def steps(self) -> Shape:
        return (self.primitive.inputs[0].shape[-1],)

    def left(self, batch: Index, row: Index, steps: Indices) -> Indices:
        *lead, last = unflat(row, self.rows)
        return (*self._own(0, batch, "left", lead), last, *steps)

    def right(self, batch: Index, column: Index, steps: Indices) -> Indices:
        *lead, last = unflat(column, self.columns)
        return (*self._own(1, batch, "right", lead), *steps, last)

    def result(self, batch: Index, row: Index, column: Index) -> Indices:
        *rows, i = unflat(row, self.rows)
        *columns, j = unflat(column, self.columns)
        parts = {"both": iter(unflat(batch, self.batch)), "left": iter(rows), "right": iter(columns)}
        return (*(next(parts[kind]) if kind else Index() for kind in self._kinds()), i, j)

    def bounds(self, left: Indices) -> Bounds:
        return ()

    def _kinds(self) -> list[str]:
        """For each leading axis of the result, who has it; empty where it has the length 1."""
        rank = self.primitive.output.rank - 2
        a, b = ((1,) * (rank + 2 - t.rank) + t.shape[:-2] for t in self.primitive.inputs)
        return ["both" if m > 1 < n else "left" if m > 1 else "right" if n > 1 else "" for m, n in zip(a, b)]

    def _lead(self, kind: str) -> Shape:
        return tuple(n for n, k in zip(self.primitive.output.shape, self._kinds()) if k == kind)

    def _own(self, operand: int, batch: Index, side: str, lead: list[Index]) -> Indices:
        """The leading indices of an operand."""
        parts = {"both": iter(unflat(batch, self.batch)), side: iter(lead)}
        kinds = self._kinds()
        own = [next(parts[kind]) if kind in parts else Index() for kind in kinds]
        return tuple(own[len(kinds) - (self.primitive.inputs[operand].rank - 2) :])


@dataclass(frozen=True)
class Convolution:
    """A Conv; the positions of an image stay one index as long as nothing asks for more."""

    primitive: Primitive

    @property
    def batch(self) -> Shape:
        return (self.primitive.attr("group"),)

    @property
    def rows(self) -> Shape:
        return (self.primitive.output.shape[0], math.prod(self._spatial))

    @property
    def columns(self) -> Shape:
        return (self.primitive.inputs[1].shape[0] // self.primitive.attr("group"),)

    @property
    def steps(self) -> Shape:
        return (*self.primitive.inputs[1].shape[2:], self.primitive.inputs[1].shape[1])

    def left(self, batch: Index, row: Index, steps: Indices) -> Indices:
        p, (image, position) = self.primitive, unflat(row, self.rows)
        strides, dilations, pads = p.attr("strides"), p.attr("dilations"), p.attr("pads")
        places = [
            i * strides[a] + k * dilations[a] - pads[a]
            for a, (i, k) in enumerate(zip(unflat(position, self._spatial), steps))
        ]
        return self._placed(image, batch * self.steps[-1] + steps[-1], places)

    def right(self, batch: Index, column: Index, steps: Indices) -> Indices:
        return (batch * self.columns[0] + column, steps[-1], *steps[:-1])

    def result(self, batch: Index, row: Index, column: Index) -> Indices:
        image, position = unflat(row, self.rows)
        return self._placed(image, batch * self.columns[0] + column, list(unflat(position, self._spatial)))

    def bounds(self, left: Indices) -> Bounds:
        x = self.primitive.inputs[0]
        places = ((left[a], x.shape[a]) for a in self._axes)
        return tuple((e, n) for e, n in places if e.range()[0] < 0 or e.range()[1] >= n)

    def _placed(self, image: Index, channel: Index, places: list[Index]) -> Indices:
        return (image, *places, channel) if self.primitive.attr("channels_last") else (image, channel, *places)

    @property
    def _axes(self) -> Shape:
        return spatial_axes(self.primitive.output.rank, self.primitive.attr("channels_last"))

    @property
    def _spatial(self) -> Shape:
        return tuple(self.primitive.output.shape[a] for a in self._axes)


def product_of(p: Primitive) -> Contraction:
    """How a MatMul or a Conv multiplies."""
    return Convolution(p) if p.spec.is_convolution else Matrices(p)


@dataclass(frozen=True, slots=True)
class Size:
    """The lengths of a product: matrix products in the batch, rows, columns, taps of the window, steps for a tap; and
    the bytes of an element of each factor where it is stored."""

    batch: int
    rows: int
    columns: int
    taps: int
    inner: int
    widths: tuple[int, int] = (4, 4)

    @staticmethod
    def of(product: Contraction, widths: tuple[int, int] = (4, 4)) -> Size:
        batch, rows, columns = math.prod(product.batch), math.prod(product.rows), math.prod(product.columns)
        return Size(batch, rows, columns, math.prod(product.steps[:-1]), product.steps[-1], widths)

    @property
    def steps(self) -> int:
        return self.taps * self.inner
