"""Kernels of a plan that err more than they must, when the plan as a whole errs too much.

A kernel's error is what its check found (`profile/check.py`): against float64, on random leaves, of the largest
magnitude of what it makes. How the errors add up at the outputs nobody can say cheaply: in proportion, as in
`numerics/blame.py`. A kernel is to blame only for what something else saves: another variant or backend for the same
cone, or the fallback backends, one primitive at a time. Where nothing does, it stays, however much it errs. Of kernels
that multiply in some precision it is the precision that goes, whoever offers it.

It is the sums of a kernel that err. So what goes is not one kernel: it is that way of computing these sums, for all
cones that hold them, larger or smaller. Those of single primitives have the fallback backends then.

Other variants of the plan's own kernels are tried first (`exchange.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from korch.backends.contract import Kernel, Variant
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.profile.costs import Costs
from korch.profile.results import Measurement
from korch.search.ledger import Ledger
from korch.search.offers import KernelName, LedgerEntry
from korch.search.steering import ERROR_MARGIN_OF_BANS, MIN_ERROR_SAVED


@dataclass(frozen=True)
class Culprit:
    """A kernel of the plan that errs by `error`, where something else errs by `instead`; those to do without."""

    cone: Cone
    error: float
    instead: float
    kernels: tuple[KernelName, ...]

    @property
    def gain(self) -> float:
        return self.error - self.instead

    def __str__(self) -> str:
        return f"{self.cone.root.name} by {', '.join(f'{b} {v}'.strip() for b, v in self.kernels)}"


def culprits(ledger: Ledger, chosen: Sequence[int], profiler: Costs, excess: float) -> list[Culprit]:
    """The worst of the cones `chosen`, so many that the errors of the rest should fit; `excess` is the error of the
    whole in units of what is allowed."""
    error = {i: ledger.entry(i).best.error for i in chosen}
    total = left = sum(error.values())
    found: list[Culprit] = []
    for i in sorted(chosen, key=lambda i: -error[i]):
        if left <= ERROR_MARGIN_OF_BANS * total / excess:
            break
        if culprit := _culprit(ledger, i, profiler):
            found.append(culprit)
            left -= culprit.gain
    return found


def ban(ledger: Ledger, found: Sequence[Culprit], threads: int) -> None:
    """The ledger without what `found` names."""
    for culprit in found:
        ledger.ban(culprit.kernels, sums(culprit.cone), threads)


def sums(cone: Cone) -> tuple[Primitive, ...]:
    """The primitives that err: those that add up; where there are none, all that compute."""
    adding = tuple(p for p in cone.primitives if p.category in (Category.LINEAR, Category.REDUCE))
    moving = (Category.LAYOUT, Category.BROADCAST)
    return adding or tuple(p for p in cone.primitives if p.category not in moving) or cone.primitives


def _culprit(ledger: Ledger, i: int, profiler: Costs) -> Culprit | None:
    """The kernel of cone `i` and its like, if something errs less that keeps a plan possible."""
    cone, entry = ledger.cones[i], ledger.entry(i)
    own = entry.best
    if own.backend.fallback or not own.error:
        return None
    unfused = _unfused_error(ledger, cone, profiler)
    rivals = {**_errors(entry, profiler), (own.backend.name, own.variant): own.error}
    least = min(unfused, *rivals.values())
    if own.error - least < MIN_ERROR_SAVED * own.error:
        return None
    limit = (own.error + least) / 2
    worse = dict.fromkeys(_named(*k) for k, error in rivals.items() if error > limit)
    return Culprit(cone, own.error, least, tuple(worse))


def _named(backend: str, variant: Variant) -> KernelName:
    return ("", Variant(precision=variant.precision)) if variant.precision else (backend, variant)


def _errors(entry: LedgerEntry, profiler: Costs) -> dict[KernelName, float]:
    """Of every kernel that works for the entry's cone."""
    offered = [
        k for o in entry.offers if not o.backend.fallback for k in o.kernels(entry.cone, profiler.setting.threads)
    ]
    return _measured(offered, profiler)


def _unfused_error(ledger: Ledger, cone: Cone, profiler: Costs) -> float:
    """The error of the sums of `cone` by fallback backends, one after the other; infinitely much where none works."""
    threads = profiler.setting.threads
    singles = [Cone.of([p]) for p in sums(cone)]
    offered = [[k for o in ledger.fallbacks(c) for k in o.kernels(c, threads)] for c in singles]
    return sum(min(_measured(kernels, profiler).values(), default=inf) for kernels in offered)


def _measured(kernels: Sequence[Kernel], profiler: Costs) -> dict[KernelName, float]:
    results = zip(kernels, profiler.measure(kernels), strict=True)
    return {(k.backend, k.variant): r.error for k, r in results if isinstance(r, Measurement)}
