"""Sub-pixel convolution: on an image enlarged twice by repetition, most products of a 3x3 kernel repeat (9 -> 4).

Either four 2x2 convolutions whose results are woven together, or the same as one transposed convolution, which needs
no weaving: that is the form in which Winograd's algorithm takes all four at once (`winograd.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from korch.ir.ops.layout import padded_positions
from korch.ir.ops.windows import Positions
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.maps import is_dense
from korch.rewrite.rule import algebra
from korch.rewrite.space import Space

DEEPEST = 5
SPATIAL = (2, 3)
ZERO = -1
"""The position of a padded zero."""
TAPS = np.array([[[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1]]], np.float64)
"""[phase, 2, 3]: the taps of a kernel that fall on the same element, for even and for odd places of the result."""
SPREAD = TAPS[::-1, ::-1].transpose(1, 0, 2).reshape(4, 3)
"""[4, 3]: the same taps in the order of the transposed convolution's."""


@dataclass(frozen=True)
class Picked:
    """A tensor whose elements are those of `source` at `positions` of the spatial axes."""

    source: Tensor
    positions: tuple[Positions, Positions]


@algebra()
def subpixel_convolutions(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """conv3x3(repeat2(x)) interleaves four 2x2 convolutions of x.

    Output 2m + r reads x at m - 1 + r and m + r: where two of the three taps meet, their weights add up.
    """
    for x, border in _repeated(s, p):
        kernels = _kernels(s, p.inputs[1])
        yield _woven(
            s, [[_small(s, p, x, kernels[r][c], (1 - r, 1 - c, r, c), border) for c in (0, 1)] for r in (0, 1)]
        )


@algebra()
def transposed_upsampling(s: Space, p: Primitive) -> Iterator[Tensor | None]:
    """conv3x3(repeat2(x)) is a transposed convolution of x by 4x4 kernels with stride 2.

    Output 2m + r takes tap 3 - r of x at m - 1 + r and tap 1 - r of x at m + r.
    """
    for x, border in _repeated(s, p):
        both = np.einsum("ah,bw,oihw->ioab", SPREAD, SPREAD, s.value(p.inputs[1]))
        wide, beside = (x, 1) if border == "constant" else (_framed(s, x, (1, 1, 1, 1), border), 3)
        attrs = dict(p.attrs) | {"strides": (2, 2), "pads": (beside,) * 4, "output_shape": p.output.shape}
        yield s.op("ConvTranspose", wide, s.constant(both, p.inputs[1].dtype), **attrs)


def _repeated(s: Space, p: Primitive) -> Iterator[tuple[Tensor, str]]:
    """The x, and how it is padded, of which a 3x3 convolution reads every element twice along both axes."""
    if is_dense(p) and p.inputs[1].shape[2:] == (3, 3) and {*p.attr("strides"), *p.attr("dilations")} == {1}:
        for picked in _origins(s, _padded(Picked(p.inputs[0], _all(p.inputs[0])), p.attr("pads"))):
            border = _border(picked)
            if border:
                yield picked.source, border


def _kernels(s: Space, w: Tensor) -> list[list[Tensor]]:
    """[o, i, 3, 3] -> [o, i, 2, 2] for each pair of phases."""
    four = np.einsum("rah,scw,oihw->rsoiac", TAPS, TAPS, s.value(w))
    return [[s.constant(k, w.dtype) for k in row] for row in four]


def _small(s: Space, p: Primitive, x: Tensor, w: Tensor, pads: tuple[int, int, int, int], border: str) -> Tensor:
    """The results of one phase; zeros around x are added by the convolution itself."""
    if border == "constant":
        return s.op("Conv", x, w, **dict(p.attrs) | {"pads": pads})
    return s.op("Conv", _framed(s, x, pads, border), w, **dict(p.attrs) | {"pads": (0, 0, 0, 0)})


def _framed(s: Space, x: Tensor, pads: tuple[int, int, int, int], mode: str) -> Tensor:
    """x with `pads` around its spatial axes."""
    return s.op("Pad", x, pads=(0, 0, *pads[:2], 0, 0, *pads[2:]), mode=mode, value=0.0)


def _woven(s: Space, phases: list[list[Tensor]]) -> Tensor:
    """Places 2m + r, 2n + c of the result from `phases[r][c]`: a row of the result is half a row of all four."""
    four = s.op("Concat", *phases[0], *phases[1], axis=3)
    n, channels, height, width = phases[0][0].shape
    order = tuple(k for r in (0, 1) for m in range(width) for k in (2 * r * width + m, (2 * r + 1) * width + m))
    rows = s.op("Gather", four, axis=3, indices=order)
    return s.op("Reshape", rows, shape=(n, channels, 2 * height, 2 * width))


# What the convolution reads ------------------------------------------------------------------------------------


def _origins(s: Space, picked: Picked, depth: int = 0) -> Iterator[Picked]:
    """`picked` seen through the primitives that pick and pad elements of spatial axes."""
    yield picked
    for q in s.producers(picked.source) if depth < DEEPEST else ():
        positions = _positions(q)
        if positions:
            both = (_through(positions[0], picked.positions[0]), _through(positions[1], picked.positions[1]))
            yield from _origins(s, Picked(q.inputs[0], both), depth + 1)


def _positions(q: Primitive) -> tuple[Positions, Positions] | None:
    """Where in the input of `q` its elements are; None if `q` does more than pick along spatial axes."""
    x = q.inputs[0]
    if x.rank != 4:
        return None
    if q.op == "Gather" and q.attr("axis") in SPATIAL:
        picked = np.asarray(q.attr("indices"), np.int64)
        rows, columns = _all(x)
        return (picked, columns) if q.attr("axis") == 2 else (rows, picked)
    return (_shown(q, 2), _shown(q, 3)) if _pads_image(q) else None


def _pads_image(q: Primitive) -> bool:
    zeros = q.spec.pads and (q.attr("mode") != "constant" or not q.attr("value"))
    return zeros and not any(q.attr("pads")[a] for a in (0, 1, 4, 5))


def _shown(q: Primitive, axis: int) -> Positions:
    positions, inside = padded_positions(
        q.inputs[0].shape[axis], q.attr("pads")[axis], np.arange(q.output.shape[axis]), q.attr("mode")
    )
    return np.where(inside, positions, ZERO)


def _all(x: Tensor) -> tuple[Positions, Positions]:
    return np.arange(x.shape[2]), np.arange(x.shape[3])


def _through(inner: Positions, outer: Positions) -> Positions:
    return np.where(outer == ZERO, ZERO, inner[outer])


def _padded(picked: Picked, pads: tuple[int, ...]) -> Picked:
    """With the zeros that the convolution itself adds."""
    rows, columns = (
        np.pad(positions, (pads[i], pads[i + 2]), constant_values=ZERO) for i, positions in enumerate(picked.positions)
    )
    return Picked(picked.source, (rows, columns))


def _border(picked: Picked) -> str | None:
    """The mode in which x is padded by one element, then all repeated twice but for the border; None if it is not."""
    lengths = picked.source.shape[2:]
    for mode, ends in (("constant", [(ZERO, ZERO) for _ in lengths]), ("edge", [(0, n - 1) for n in lengths])):
        wanted = [np.array([a, *np.repeat(np.arange(n), 2), b]) for n, (a, b) in zip(lengths, ends, strict=True)]
        if all(np.array_equal(a, b) for a, b in zip(picked.positions, wanted, strict=True)):
            return mode
    return None
