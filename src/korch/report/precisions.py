"""Dtypes of an executable's factors and stored tensors, and the casts between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from korch.backends.precision import HALVES
from korch.executable import Step
from korch.ir.macs import multiply_adds


@dataclass(frozen=True)
class Precisions:
    """`factors`: multiply-adds by the dtype of what they multiply, or the precision to which a kernel rounds these;
    `stored`: bytes that kernels write, by dtype; `casts`: how many convert which dtypes. The largest come first."""

    factors: dict[str, int]
    stored: dict[str, int]
    casts: dict[str, int]

    @staticmethod
    def of(steps: Sequence[Step]) -> Precisions:
        """Of all that runs."""
        run = [s for s in steps if not s.idle]
        factors, stored = Counter[str](), Counter[str]()
        for s in run:
            stored[s.writes.dtype] += s.writes.nbytes
            for p in s.kernel.cone.primitives:
                if count := multiply_adds(p):
                    factors[_rounded_to(s) or p.inputs[0].dtype] += count
        casts = Counter(
            f"{p.inputs[0].dtype} to {p.output.dtype}" for s in run for p in s.kernel.cone.primitives if p.spec.casts
        )
        return Precisions(*(dict(found.most_common()) for found in (factors, stored, casts)))

    @property
    def lines(self) -> Iterator[str]:
        """Nothing where there is one dtype only."""
        if not self.casts and len({*self.factors, *self.stored}) < 2:
            return
        if self.factors:
            yield f"factors: {', '.join(f'{n / 1e9:.3f} G {name}' for name, n in self.factors.items())}"
        yield f"stored by kernels: {', '.join(f'{n / 1e6:.2f} MB {name}' for name, n in self.stored.items())}"
        if self.casts:
            yield f"casts: {', '.join(f'{n} {name}' for name, n in self.casts.items())}"


def _rounded_to(step: Step) -> str:
    """To what a kernel rounds the factors of its products; empty where they stay as they are."""
    precision = step.kernel.variant.precision
    return HALVES.get(precision, precision)
