"""The table of primitive operators: every file of this folder adds its own by decorator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from korch.ir.tensor import Tensor

if TYPE_CHECKING:
    import onnx

    from korch.ir.primitive import Primitive

Array = NDArray[Any]
Shape = tuple[int, ...]
Region = tuple[NDArray[np.int64], ...]
"""A part of a tensor: one array of positions an axis; the part is their grid."""


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


@dataclass(frozen=True)
class Op:
    """What an operator means.

    `infer(inputs, attrs)` gives the output's dtype and shape. `evaluate(p, region, pull)` is the reference: the
    output's values on `region`, asking `pull` for just the parts of the inputs it needs. `write(p, names, emit)`
    adds ONNX nodes that compute `p.output`.
    """

    name: str
    category: Category
    infer: Callable[[tuple[Tensor, ...], dict[str, Any]], tuple[str, Shape]]
    evaluate: Callable[[Primitive, Region, Pull], Array]
    write: Callable[[Primitive, Sequence[str], Emit], None]


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
