"""The table of primitive operators: every file of this folder adds its own by decorator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeGuard, TypeVar

import numpy as np
from numpy.typing import NDArray

from korch.ir.ops.spans import Part, Span
from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    import onnx

    from korch.ir.primitive import Primitive

Array = NDArray[Any]
Shape = tuple[int, ...]
Region = tuple[NDArray[np.int64], ...]
"""A part of a tensor: one array of positions an axis; the part is their grid."""


def is_array(x: object) -> TypeGuard[Array]:
    """Whether it is numpy's, of any elements."""
    return isinstance(x, np.ndarray)


class Category(Enum):
    """The paper's kinds of primitive (section 3)."""

    ELEMENTWISE = "elementwise"
    REDUCE = "reduce"
    BROADCAST = "broadcast"
    LAYOUT = "layout"
    LINEAR = "linear"
    OPAQUE = "opaque"


class Pull(Protocol):
    """Gives input `index` of a primitive on `region` (floats in the precision of the evaluation)."""

    def __call__(self, index: int, region: Region, /) -> Array: ...


class Emit(Protocol):
    """Where a primitive writes itself as ONNX nodes; returns the name of the node's output."""

    def node(
        self, op: str, inputs: Sequence[str], output: str | None = None, more: Sequence[str] = (), **attrs: Any
    ) -> str:
        """A node; `more` are the names of its outputs behind the first."""
        ...

    def const(self, value: Array) -> str: ...
    def opaque(self, model: onnx.ModelProto, inputs: Sequence[str], output: str, index: int) -> None:
        """A model of one node, of which `output` is the output number `index`."""
        ...


class ViewKind(Enum):
    """How a view, each of whose elements is one of its only input, has these."""

    REARRANGES = "each once"
    SELECTS = "each at most once"
    REPEATS = "some of them several times"


class Aggregate(Enum):
    """How several elements become one."""

    SUM = "sum"
    PRODUCT = "product"
    LARGEST = "largest"
    SMALLEST = "smallest"


Position = TypeVar("Position", bound="AxisPosition")


class AxisPosition(Protocol):
    """Positions along an axis: integers in arrays, or the symbols of a loop nest. They add up, and take integers."""

    def __add__(self, other: Self | int, /) -> Self: ...
    def __sub__(self, other: Self | int, /) -> Self: ...
    def __mul__(self, other: int, /) -> Self: ...
    def __floordiv__(self, other: int, /) -> Self: ...
    def __mod__(self, other: int, /) -> Self: ...


@dataclass(frozen=True)
class Element(Generic[Position]):
    """The element of the first input that an element of the output is; `fill` where one of `inside` is negative."""

    at: tuple[Position, ...]
    inside: tuple[Position, ...] = ()
    fill: float = 0.0


class Source(Protocol):
    """Says where the output of a primitive at `at`, one position an axis, has its elements from."""

    def __call__(self, p: Primitive, at: tuple[Position, ...], /) -> Element[Position]: ...


def fewest_by_category(p: Primitive, t: Tensor, out: float) -> float:
    """Sums and products read in proportion to what they compute, all else an element for an element."""
    if p.category in (Category.REDUCE, Category.LINEAR):
        return share(p, t, out)
    return min(t.size, out)


def share(p: Primitive, t: Tensor, out: float) -> float:
    """As large a share of `t` as `out` elements are of the output."""
    return t.size * out / max(p.output.size, 1)


def one(p: Primitive) -> int:
    return 1


def none(p: Primitive) -> int:
    return 0


def never(p: Primitive) -> bool:
    return False


def always(p: Primitive) -> bool:
    return True


def other_axes(p: Primitive, axis: int) -> int | None:
    """All axes but the one that it works along stay what they are."""
    return None if p.attr("axis") == axis else axis


def never_idle(operands: tuple[Tensor, ...], attrs: dict[str, Any]) -> Tensor | None:
    return None


def as_many(p: Primitive, out: float) -> float:
    """An operation for each element of the output."""
    return out


@dataclass(frozen=True)
class Op:
    """An operator: its meaning, its traits (true of it or not) and its relations.

    `infer(inputs, attrs)` gives the output's dtype and shape. `evaluate(p, region, pull)` is the reference: the
    output's values on `region`, asking `pull` for just the parts of the inputs it needs. `write(p, names, emit)`
    adds ONNX nodes that compute `p.output`. All else has a default that is safe: no trait, no relation.
    """

    name: str
    category: Category
    infer: Callable[[tuple[Tensor, ...], dict[str, Any]], tuple[str, Shape]]
    evaluate: Callable[[Primitive, Region, Pull], Array]
    write: Callable[[Primitive, Sequence[str], Emit], None]

    # Moves of elements
    source: Source | None = None
    """Where a layout or broadcast primitive has each element of its output from. Backends write loops by it."""
    view: ViewKind | None = None
    regroups: bool = False
    """Elements keep their row-major order; axes are split and merged."""
    permutes: bool = False
    """Axes change places, by the attribute `perm`."""
    cuts: bool = False
    """Keeps evenly spaced positions of each axis (`starts`, `steps`, `lengths`)."""
    joins: bool = False
    """The inputs follow one another along `axis`."""
    pads: bool = False
    """Adds positions around its input."""
    unpacks: bool = False
    """Each element of its input holds several integers."""
    takes: bool = False
    """The second input says which positions of the first are taken."""
    scatters: bool = False
    """The second input says to which positions of the first the third one goes."""
    indexed: Callable[[Primitive], int] | None = None
    """The length of the axis on which the second input's integers point to positions."""
    chooses: bool = False
    """Each element is one of those of the operands, by a condition."""

    # What rewriting asks
    idle: Callable[[tuple[Tensor, ...], dict[str, Any]], Tensor | None] = never_idle
    """The operand that it would only repeat."""
    axis_map: Callable[[Primitive, int], int | None] | None = None
    """Where an axis of its input is in its output, if it is linear and does the same at all positions of that axis."""
    keeps_constants: Callable[[Primitive], bool] = never
    """Whether it gives c everywhere for an input that is c everywhere."""

    # Parts and layouts
    reads: Callable[[Primitive, Span, dict[str, Any]], Part | None] | None = None
    """Its reads for a span of its output along one axis, and its attributes then; None where they are no spans."""
    granule: Callable[[Primitive], int] = one
    """Positions of the outermost axis that are computed together."""
    lead: Callable[[Primitive], int] = none
    """Positions that the first of these lacks."""
    channels_last: Callable[[dict[str, Any], int], dict[str, Any]] | None = None
    """The attributes, at that rank, with which it does the same where channels are the last axis."""

    # Sums of products
    is_product: bool = False
    """Rows times columns, over broadcast leading axes."""
    is_convolution: bool = False
    """Windows of the first input times weights [outputs, inputs of a group, *window]."""
    is_deconvolution: bool = False
    """The same the other way: each position of the first input is spread over a window."""
    adds_integers: bool = False
    """Sums int32 of products of bytes, whose third input is the zero point of the first."""
    interpolates: bool = False
    """Each position along `axis` is the sum of a few (`taps`) with constant `weights`; fuses with anything."""
    recurs: bool = False
    """Each step along the first axis depends on the one before."""
    transforms: bool = False
    """Sums before (`transforms_back`: after) products that take the place of another product or convolution."""
    transforms_back: bool = False
    sparse: bool = False
    """Sums whose coefficients are mostly zeros: terms that a kernel leaves out and the reference does not."""

    # Aggregates
    aggregate: Aggregate | None = None
    """How it makes one of several elements: of a window, of axes, of its operands."""
    is_pool: bool = False
    """Folds the window `kernel_shape` around each position."""
    folds: bool = False
    """Folds all positions of `axes`."""
    ranks: bool = False
    """Gives the position along `axis` of the first or last element that comes first in order."""
    averages: bool = False
    """A mean, perhaps a weighted one: of integers it is rounded."""

    # Functions of numbers
    casts: bool = False
    costly: bool = False
    """Its arithmetic counts beside moving its operands: worth computing once and keeping."""
    divides: bool = False
    """Processors take several times as long for it as for a product."""
    is_step: bool = False
    """Jumps: a rounded operand may give another result altogether."""
    increasing: bool = False
    """A function of one operand that nowhere falls."""
    compares: bool = False
    """Says in which order two elements come."""
    drops_nan: bool = False
    """Processors and libraries have instructions and calls for it that make a number of NaN."""

    # Counts
    fewest: Callable[[Primitive, Tensor, float], float] = fewest_by_category
    """How many elements of an input so many elements of the output need at least."""
    operations: Callable[[Primitive, float], float] = as_many
    """Element operations of so many elements of the output."""
    fan_in: Callable[[Primitive], int] = one
    """How many values of the first input a value of the output depends on."""
    terms: Callable[[Primitive], int] = one
    """How many products a value of the output sums."""
    multiply_adds: Callable[[Primitive], int] = none
    """Of dense products, exactly: those with padding are not done and not counted."""
    faster: float = 1.0
    """How many of them a processor does in the time of one of float32, at most."""

    @property
    def is_view(self) -> bool:
        """Whether each element of its output is an element of its one input."""
        return self.view is not None

    @property
    def selects(self) -> bool:
        """Whether it is a view that has no element twice."""
        return self.view in (ViewKind.SELECTS, ViewKind.REARRANGES)

    @property
    def rearranges(self) -> bool:
        """Whether it is a view that has every element once."""
        return self.view is ViewKind.REARRANGES

    @property
    def moves_axes(self) -> bool:
        """Whether each axis of its output is one of the input's, or evenly spaced positions of it."""
        return self.permutes or self.cuts

    @property
    def moves(self) -> bool:
        """Whether every element of its output is one of its operands', or a number that fills."""
        moving = self.category in (Category.LAYOUT, Category.BROADCAST) and not self.unpacks
        return moving or self.is_view or self.chooses

    @property
    def picks(self) -> int:
        """1 where the result is the largest of some elements, or its place; -1 for the smallest."""
        return (self.aggregate is Aggregate.LARGEST) - (self.aggregate is Aggregate.SMALLEST)

    @property
    def orders(self) -> bool:
        """Whether it knows of its operands' elements only in which order they come."""
        return self.compares or self.picks != 0

    @property
    def convolves(self) -> bool:
        """Whether it multiplies windows by weights, in either direction."""
        return self.is_convolution or self.is_deconvolution

    @property
    def is_bilinear(self) -> bool:
        """Whether it sums products of elements of its two inputs."""
        return self.is_product or self.convolves

    @property
    def contracts(self) -> bool:
        """Whether each element is a row of the first input, or what a window has of it, times a column of weights."""
        return self.is_product or self.is_convolution

    @property
    def slides(self) -> bool:
        """Whether it has a window that moves over spatial axes, and attributes that say how."""
        return self.convolves or self.is_pool


def is_view(op: Op) -> bool:
    return op.is_view


def selects(op: Op) -> bool:
    return op.selects


def rearranges(op: Op) -> bool:
    return op.rearranges


_TABLE: dict[str, Op] = {}


def add(op: Op) -> Op:
    """Enters `op` into the table; two operators of one name are a mistake."""
    if op.name in _TABLE:
        raise ValueError(f"primitive operator {op.name} is defined twice")
    _TABLE[op.name] = op
    return op


def op_named(name: str) -> Op:
    """The operator called `name`; KeyError where there is none."""
    return _TABLE[name]


def write_same(p: Primitive, names: Sequence[str], emit: Emit) -> None:
    """Writes a primitive whose operator and attributes are ONNX's own."""
    emit.node(p.op, names, p.output.name, **dict(p.attrs))


def write_reshape(emit: Emit, name: str, shape: Shape, output: str | None = None) -> str:
    """Writes the tensor called `name` in another shape."""
    return emit.node("Reshape", [name, emit.const(np.asarray(shape, np.int64))], output)


def whole(shape: Shape) -> Region:
    """The region that is all of a tensor."""
    return tuple(np.arange(n) for n in shape)


def is_whole(region: Region, shape: Shape) -> bool:
    return all(len(r) == n and (n == 0 or (r[0] == 0 and r[-1] == n - 1)) for r, n in zip(region, shape, strict=True))
