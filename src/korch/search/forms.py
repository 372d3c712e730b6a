"""Which of a backend's ways to build a kernel have never been worth their measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from korch.backends.contract import Kernel, Variant
from korch.profile.results import Measurement, Result
from korch.search.steering import CONES_PER_FORM, NEAR_THE_BEST


@dataclass
class Forms:
    """The forms of one backend's kernels for one sort of work: their variants, whatever the numbers of these."""

    tried: dict[Variant, int] = field(default_factory=dict[Variant, int])
    near: set[Variant] = field(default_factory=set[Variant])

    def learn(self, kernels: Sequence[Kernel], results: Sequence[Result]) -> None:
        """From the kernels of one cone, which stand against each other."""
        forms = {k.variant.unsized for k in kernels}
        times = [(k, r.seconds) for k, r in zip(kernels, results, strict=True) if isinstance(r, Measurement)]
        if len(forms) < 2 or not times:
            return
        best = dict[str, float]()
        for k, seconds in times:
            precision = k.variant.precision
            best[precision] = min(seconds, best.get(precision, seconds))
        near = [k for k, seconds in times if seconds <= NEAR_THE_BEST * best[k.variant.precision]]
        self.near.update(k.variant.unsized for k in near)
        for form in forms:
            self.tried[form] = self.tried.get(form, 0) + 1

    def worthwhile(self, kernels: Sequence[Kernel]) -> list[Kernel]:
        """Those that are worth a measurement; all where none is."""
        return [k for k in kernels if self._is_worthwhile(k.variant.unsized)] or list(kernels)

    def _is_worthwhile(self, form: Variant) -> bool:
        return form in self.near or self.tried.get(form, 0) < CONES_PER_FORM


def alike(kernels: Sequence[Kernel], variant: Variant | None) -> list[Kernel]:
    """The kernel of a variant, else those of its form; none where no `variant` is given."""
    if variant is None:
        return []
    same = [k for k in kernels if k.variant == variant]
    return same or [k for k in kernels if k.variant.unsized == variant.unsized]
