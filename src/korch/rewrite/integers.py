"""Products of codes: sums of scaled integers are scaled sums of integers.

An activation is on a grid where it is a scale times bytes less a zero point, as DequantizeLinear makes it. Constant
weights are on one where every output channel is a multiple of bytes, whoever rounded them. So no format is looked for:
quantized models, and float weights of a quantized training, take the same way. The int32 sums cannot overflow here, and
are exact; they are scaled once, where the sums of float32 are rounded in each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from korch.ir.graph import Graph
from korch.ir.ops.integers import BYTES
from korch.ir.ops.table import Array
from korch.ir.primitive import REASSOCIATED, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.table import rewrite
from korch.rewrite.transformed import Transformed

MOST = 255
"""The largest magnitude of an integer weight less its zero point."""
LOOKED_AT, TOGETHER = 16, 256
"""Elements of a channel by which most steps of a grid are ruled out, and channels that are looked at together."""
NEAR = 2.0**-21
"""Of a number: how far it may be from the whole multiple of a step that it is taken for; both are rounded float32."""


@rewrite(stage=0, error=REASSOCIATED)
def integer_sums(graph: Graph) -> Graph:
    """`graph` with int32 sums for products, and convolutions of one group, of scaled bytes and weights on a grid."""
    build = _Integers(graph, "integer_sums", REASSOCIATED)
    for p in graph.primitives:
        if p.spec.contracts and p.output.dtype == "float32" and _has_constant_weights(p):
            build.sums(p)
    return build.result


def _has_constant_weights(p: Primitive) -> bool:
    x, w = p.inputs
    if not w.const or x.const or w.value is not None:
        return False
    return p.attr("group") == 1 if p.spec.is_convolution else w.rank == 2


@dataclass(frozen=True)
class Codes:
    """scale * (bytes - zero)."""

    tensor: Tensor
    zero: int
    scale: Tensor


def codes_of(t: Tensor, graph: Graph) -> Codes | None:
    """`t` as a scale times bytes less a zero point; None where it is made in another way."""
    for p in graph.producers.get(t, ()):
        if p.op == "Mul":
            for x, scale in (p.inputs, p.inputs[::-1]):
                found = _shifted(x, graph) if scale.size == 1 and x.shape == t.shape else None
                if found:
                    return Codes(*found, scale)
    return None


def _shifted(t: Tensor, graph: Graph) -> tuple[Tensor, int] | None:
    """`t` as bytes less a zero point."""
    if (source := _bytes(t, graph)) is not None:
        return source, 0
    for p in graph.producers.get(t, ()):
        sign = {"Sub": 1.0, "Add": -1.0}.get(p.op)
        if sign is None or (number := p.inputs[1].value) is None:
            continue
        source, zero = _bytes(p.inputs[0], graph), sign * float(number)
        if source is not None and _is_one(zero, source.dtype):
            return source, int(zero)
    return None


def _bytes(t: Tensor, graph: Graph) -> Tensor | None:
    """The bytes that `t` has as another dtype."""
    sources = (p.inputs[0] for p in graph.producers.get(t, ()) if p.spec.casts)
    return next((source for source in sources if source.dtype in BYTES), None)


def _is_one(number: float, dtype: str) -> bool:
    """Whether the number is one of the integers of `dtype`."""
    return number.is_integer() and np.iinfo(dtype).min <= number <= np.iinfo(dtype).max


@dataclass(frozen=True)
class Grid:
    """Constant weights as `steps` [outputs] times (`integers`, which are int8, less `zero`)."""

    integers: Array
    zero: int
    steps: Array


def grid_of(weights: Array, axis: int) -> Grid | None:
    """The weights as whole multiples, up to `MOST`, of a step for each position of `axis`; None where they are none."""
    if not weights.size or not np.isfinite(weights).all():
        return None
    rows = np.moveaxis(weights, axis, 0).reshape(weights.shape[axis], -1).astype(np.float64)
    steps = _steps(rows)
    if steps is None:
        return None
    shape = [-1 if a == axis else 1 for a in range(weights.ndim)]
    numbers = np.rint(weights.astype(np.float64) / steps.reshape(shape))
    low, high = float(numbers.min()), float(numbers.max())
    zero = 0 if low >= -128 and high <= 127 else -128 - min(int(low), 0)
    return Grid((numbers + zero).astype(np.int8), zero, steps.astype(np.float32)) if high + zero <= 127 else None


def _steps(rows: Array) -> Array | None:
    """The largest step of each row of which all its numbers are whole multiples: the largest magnitude divided by the
    least count that makes them so. 1 for a row of zeros; None where a row has none."""
    largest = np.abs(rows).max(1)
    counts = np.arange(1.0, MOST + 1)
    with np.errstate(divide="ignore"):
        scales = np.where(largest[:, None] > 0, counts / largest[:, None], 1.0)  # to whole numbers, by row and count
    fits = np.concatenate([_whole(part[:, None, :LOOKED_AT] * scale[..., None]) for part, scale in _some(rows, scales)])
    left = np.arange(len(rows))
    while left.size:
        if not fits[left].any(1).all():
            return None
        least = fits[left].argmax(1)
        right = _whole(rows[left] * scales[left, least][:, None])
        fits[left[~right], least[~right]] = False
        left = left[~right]
    return 1 / scales[np.arange(len(rows)), fits.argmax(1)]


def _some(rows: Array, scales: Array) -> Iterator[tuple[Array, Array]]:
    """Some rows at a time, as all together are large."""
    for first in range(0, len(rows), TOGETHER):
        yield rows[first : first + TOGETHER], scales[first : first + TOGETHER]


def _whole(units: Array) -> Array:
    """Whether all numbers along the last axis are whole."""
    return np.asarray((np.abs(units - np.rint(units)) <= NEAR * np.abs(units)).all(-1))


class _Integers(Transformed):
    def sums(self, p: Primitive) -> None:
        """Adds the chain that ends in p's output."""
        x, w = p.inputs
        codes = codes_of(x, self.graph)
        if codes is None or MOST * MOST * p.spec.terms(p) > np.iinfo("int32").max:
            return
        axis = w.rank - 1 if p.spec.is_product else 0
        if not (grid := grid_of(self.graph.constants[w.name], axis)):
            return
        zero = self.given(f"{codes.tensor.name}_zero", np.asarray(codes.zero, codes.tensor.dtype))
        integers = self.given(f"{w.name}_integers", grid.integers)
        name = f"{p.output.name}_integers"
        attrs = dict(p.attrs) | {"w_zero": grid.zero}
        total = self.add(p, f"{p.op}Integer", (codes.tensor, integers, zero), name, **attrs)
        wide = self.add(p, "Cast", (total,), f"{name}_wide", to="float32")
        steps = grid.steps if p.spec.is_product else grid.steps.reshape(-1, *(1,) * (w.rank - 2))
        if codes.scale.const:
            scale = self.given(f"{name}_scale", steps * self.graph.constants[codes.scale.name].reshape(()))
        else:
            wide = self.add(p, "Mul", (wide, codes.scale), f"{name}_scaled")
            scale = self.given(f"{name}_scale", steps)
        self.add(p, "Mul", (wide, scale), p.output)
