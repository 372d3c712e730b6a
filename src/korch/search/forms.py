"""Which of a backend's ways to build a kernel have never been worth their measurement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from korch.backends.contract import Kernel
from korch.backends.precision import precision_of
from korch.profile.results import Measurement, Result
from korch.search.steering import CONES_PER_FORM, NEAR_THE_BEST

_NUMBER = re.compile(r"\d+")


@dataclass
class Forms:
    """The forms of one backend's kernels for one sort of work: their variants, whatever numbers these name."""

    tried: dict[str, int] = field(default_factory=dict[str, int])
    near: set[str] = field(default_factory=set[str])

    def learn(self, kernels: Sequence[Kernel], results: Sequence[Result]) -> None:
        """From the kernels of one cone, which stand against each other."""
        forms = dict.fromkeys(map(form_of, kernels))
        times = [(k, r.seconds) for k, r in zip(kernels, results, strict=True) if isinstance(r, Measurement)]
        if len(forms) < 2 or not times:
            return
        best = dict[str, float]()
        for k, seconds in times:
            precision = precision_of(k.variant)
            best[precision] = min(seconds, best.get(precision, seconds))
        self.near |= {form_of(k) for k, seconds in times if seconds <= NEAR_THE_BEST * best[precision_of(k.variant)]}
        for form in forms:
            self.tried[form] = self.tried.get(form, 0) + 1

    def worthwhile(self, kernels: Sequence[Kernel]) -> list[Kernel]:
        """Those that are worth a measurement; all where none is."""
        kept = [k for k in kernels if form_of(k) in self.near or self.tried.get(form_of(k), 0) < CONES_PER_FORM]
        return kept or list(kernels)


def form_of(kernel: Kernel) -> str:
    """Its variant without numbers: heights of strips, bands."""
    return _form(kernel.variant)


def alike(kernels: Sequence[Kernel], variant: str | None) -> list[Kernel]:
    """The kernel of a variant, else those of its form; none where no `variant` is given."""
    if variant is None:
        return []
    same = [k for k in kernels if k.variant == variant]
    return same or [k for k in kernels if form_of(k) == _form(variant)]


def _form(variant: str) -> str:
    return _NUMBER.sub("", variant)
