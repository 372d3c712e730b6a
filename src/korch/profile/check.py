"""Is a kernel right? Its output against the float64 reference, with a bound that follows from the computation.

**The tolerance.** The reference runs twice, in float64 and with every step rounded to float32. The largest difference
between the two, `noise`, relative to |ref| + scale, tells how well the computation is conditioned: a kernel sums in
another order, contracts multiply-adds and has its own exp, so it may err a few times as much, but not a hundred times.
On top comes what rounding alone may do where both runs happen to agree: a sum of n terms in any order errs like
sqrt(n) roundings (Higham & Mary 2019, probabilistic analysis), and a few units for each polynomial. So

    |y - ref| <= (8 noise + (16 + 2 sqrt(n)) eps) (|ref| + scale)

and, where a kernel rounds the factors of its products to a `precision`, besides what such rounding does: the reference
runs once more in float32 with rounded factors, and the kernel may be `ROUNDED` times as far from float64 as that run;
and by two units of a factor, as hardware may cut bits off instead, which sums of one sign do not average out. A product
in `tf32x3` errs by the unit u (`UNITS`) of a factor: (8 noise + 16) u more.

Here eps is of the coarsest float that the cone computes, and `scale` the median magnitude of the reference's non-zero
values: what a cancelling sum's terms look like, and unlike the maximum not spoilt by one large quotient. Integers and
booleans are exact. Where a computed float meets a step (Floor, Less, ArgMax, a cast to integers) a value at the edge
may fall to either side in right kernels. How often that happens the float32 run shows: four times as many positions
may differ, and two more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from korch.ir.cone import Cone
from korch.ir.evaluate import evaluate_cone
from korch.ir.ops.table import Array, Category, Region
from korch.ir.primitive import Primitive
from korch.numerics.rounding import EPSILONS, rounded
from korch.profile.region import reduction_length, region_of

CONDITIONING = 8
ROUNDINGS = 16
FLIPS = 2
UNITS = {"tf32x3": 2.0**-21}
ROUNDED = 4
STRAY = 64
"""Roundings of a factor beyond which a value counts as fallen to the other side of a step."""


@dataclass(frozen=True)
class Reference:
    """What a kernel's root must be on `region`, within `tolerance` (an array like `values`; negative: equal).

    Where `loose`, float32 itself leaves the finite numbers and any value passes. `flips`: positions that may differ.
    """

    region: Region
    values: Array
    tolerance: Array
    loose: Array
    flips: int

    @property
    def finite(self) -> float:
        """The share of finite values."""
        return float(np.isfinite(self.values).mean()) if self.values.size else 1.0


@dataclass(frozen=True)
class Comparison:
    """The largest error relative to the largest magnitude, and why the kernel is wrong (empty if it is right)."""

    error: float
    reason: str = ""


def check(root: Array, cone: Cone, leaves: Sequence[Array], precision: str = "ieee") -> Comparison:
    """Compares a kernel's output `root` with the reference of `cone` on `leaves`."""
    return compare(root, reference(cone, leaves, precision))


def reference(cone: Cone, leaves: Sequence[Array], precision: str = "ieee") -> Reference:
    """The float64 values of the root on a sample of it, and how far a right kernel may be from them that rounds the
    factors of its products to `precision`."""
    region = region_of(cone)
    values = np.asarray(evaluate_cone(cone, leaves, region))
    steps = has_steps(cone)
    if not cone.root.is_float and not steps:
        return Reference(region, values, np.full(values.shape, -1.0), np.zeros(values.shape, bool), 0)
    with np.errstate(all="ignore"):
        single = np.asarray(evaluate_cone(cone, leaves, region, "float32"))
        tolerance, fell = _bounds(cone, values, single, UNITS.get(precision, 0.0))
        if precision in EPSILONS and cone.linear:
            more, fallen = _rounded_bounds(cone, values, _with_rounded(cone, leaves, region, precision), precision)
            tolerance, fell = tolerance + more, max(fell, fallen)
    loose = np.isfinite(values) & ~np.isfinite(single)
    return Reference(region, values, tolerance, loose, FLIPS + 4 * fell if steps else 0)


def _bounds(cone: Cone, values: Array, single: Array, unit: float) -> tuple[Array, int]:
    """The tolerance by element (see the top of the file), and how many values fell to the other side of a step."""
    if not cone.root.is_float:
        return np.full(values.shape, -1.0), int((values != single).sum())
    eps = _eps(cone)
    size = np.where(np.isfinite(values), np.abs(values), 0.0)
    scale = float(np.median(size[size > 0])) if (size > 0).any() else 1.0
    rounding = ROUNDINGS + 2 * math.sqrt(reduction_length(cone))
    noise = np.nan_to_num(np.abs(single.astype(np.float64) - values) / (size + scale), nan=0.0, posinf=0.0)
    noise = noise / np.finfo(np.float32).eps  # in roundings
    fell = noise > CONDITIONING * rounding if has_steps(cone) else np.zeros(noise.shape, bool)
    worst = float(noise[~fell].max(initial=0.0))
    relative = (CONDITIONING * worst + rounding) * eps + (CONDITIONING * worst + ROUNDINGS) * unit
    return relative * (size + scale), int(fell.sum())


def _with_rounded(cone: Cone, leaves: Sequence[Array], region: Region, precision: str) -> Array:
    return np.asarray(evaluate_cone(cone, leaves, region, "float32", lambda x: rounded(x, precision)))


def _rounded_bounds(cone: Cone, values: Array, run: Array, precision: str) -> tuple[Array, int]:
    """What rounded factors add to the tolerance, and how many values fell to the other side of a step in that run."""
    if not cone.root.is_float:
        return np.zeros(values.shape), int((values != run).sum())
    size = np.where(np.isfinite(values), np.abs(values), 0.0)
    scale = float(np.median(size[size > 0])) if (size > 0).any() else 1.0
    noise = np.nan_to_num(np.abs(run.astype(np.float64) - values) / (size + scale), nan=0.0, posinf=0.0)
    fell = noise > STRAY * EPSILONS[precision] if has_steps(cone) else np.zeros(noise.shape, bool)
    more = ROUNDED * float(noise[~fell].max(initial=0.0)) * (size + scale) + 2 * EPSILONS[precision] * size
    return more, int(fell.sum())


def _eps(cone: Cone) -> float:
    """Of the coarsest float that the cone computes: leaves are as they are."""
    made = (p.output.dtype for p in cone.primitives if p.output.is_float)
    return max(float(np.finfo(np.dtype(dtype)).eps) for dtype in made)


def has_steps(cone: Cone) -> bool:
    """Does a float that was rounded in the cone decide something?"""
    rounded = {p.output for p in cone.primitives if p.category not in (Category.LAYOUT, Category.BROADCAST)}
    return any(_is_step(p) and any(t in rounded and t.is_float for t in p.inputs) for p in cone.primitives)


def _is_step(p: Primitive) -> bool:
    return p.spec.is_step or (p.spec.casts and not p.output.is_float)


def compare(root: Array, ref: Reference) -> Comparison:
    """The report on `root`, all of the kernel's output."""
    return compare_part(part_of(root, ref), ref)


def part_of(root: Array, ref: Reference) -> Array:
    """The elements of a kernel's output that the reference compares."""
    return root[np.ix_(*ref.region)] if root.ndim else root


def compare_part(got: Array, ref: Reference) -> Comparison:
    """The report on what the kernel's output holds in the reference's region."""
    if not ref.values.size:
        return Comparison(0.0)
    if got.dtype == bool:  # as bytes: a kernel must write 0 or 1
        got = got.view(np.uint8)
    with np.errstate(all="ignore"):
        distance = np.abs(got.astype(np.float64) - ref.values.astype(np.float64))
        same = (got == ref.values) | (np.isnan(got) & np.isnan(ref.values)) | ref.loose
        wrong = ~(same | (distance <= ref.tolerance))
    return Comparison(_relative(distance, same, wrong, ref), _reason(got, distance, wrong, ref))


def _relative(distance: Array, same: Array, wrong: Array, ref: Reference) -> float:
    usual = distance[~same & ~wrong]
    size = np.abs(ref.values[np.isfinite(ref.values)]).max(initial=0)
    return float(usual.max(initial=0.0) / max(float(size), np.finfo(np.float64).tiny))


def _reason(got: Array, distance: Array, wrong: Array, ref: Reference) -> str:
    count = int(wrong.sum())
    if count <= ref.flips:
        return ""
    over = np.where(wrong, np.nan_to_num(distance - ref.tolerance, nan=np.inf), -1.0)
    at = np.unravel_index(int(over.argmax()), over.shape)
    place = [int(r[i]) for r, i in zip(ref.region, at, strict=True)]
    found, wanted, bound = got[at], ref.values[at], ref.tolerance[at]
    what = f"wrong at {place}: {found!s} instead of {wanted!s} (tolerance {max(bound, 0):.2g})"
    return f"{what}; {count} of {wrong.size} differ"
