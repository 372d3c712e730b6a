"""The error that a plan may have, as budgets of the program, and its correction where the estimate was wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from math import hypot

from korch.executable.plan import Plan
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.numerics.bounds import BOUNDS, own_bound
from korch.numerics.estimate import ErrorEstimate
from korch.numerics.verdict import Verdict
from korch.search.steering import OVERESTIMATED, TIGHT
from korch.solve.problem import ErrorBudget


@dataclass(frozen=True)
class ErrorLimit:
    """The `estimate` of errors of loose primitives; `allowed`: the error that each output may have, of its largest
    magnitude."""

    estimate: ErrorEstimate
    allowed: float

    def budgets(self, number: Mapping[Primitive, int]) -> tuple[ErrorBudget, ...]:
        """A budget for each output, over primitives by `number`."""
        known = [(number[p], vs) for p, vs in self.estimate.squares.items() if p in number]
        outputs, unit = self.estimate.outputs, self.allowed**2
        return tuple(ErrorBudget(t.name, {q: vs[o] / unit for q, vs in known}) for o, t in enumerate(outputs))

    def errors(self, cones: Iterable[Cone]) -> tuple[float, ...]:
        """The estimated error at each output of a program of `cones`."""
        return self.estimate.errors(p for c in cones for p in c.primitives)

    def holds(self, cones: Iterable[Cone]) -> bool:
        """Whether a program of `cones` errs no more than it may, by the estimate."""
        return all(e <= self.allowed for e in self.errors(cones))

    def of_steps(self, cones: Collection[Cone]) -> list[float]:
        """The error of each of `cones` at the output at which all of them together err most."""
        errors = self.errors(cones)
        worst = max(range(len(errors)), key=errors.__getitem__)
        return [self.errors([c])[worst] for c in cones]

    def at(self, allowed: float) -> ErrorLimit:
        """The same for another error."""
        return replace(self, allowed=allowed)

    def corrected(self, graph: Graph, cones: Collection[Cone], verdict: Verdict) -> ErrorLimit | None:
        """With the estimate at the verdict's output scaled so that it gives the error found for the program of `cones`,
        relative to the error allowed. None where nothing loose in the program errs there."""
        tensor = _output(graph, verdict.output)
        estimated = self._error_at(tensor, cones)
        if not tensor or not estimated:
            return None
        return replace(self, estimate=self.estimate.scaled({tensor.name: verdict.excess * self.allowed / estimated}))

    def overestimates(self, graph: Graph, cones: Collection[Cone], verdict: Verdict) -> bool:
        """Whether a program of `cones` uses much of its budget by the estimate, and errs much less."""
        estimated = self._error_at(_output(graph, verdict.output), cones)
        return estimated > TIGHT * self.allowed and verdict.excess * self.allowed < OVERESTIMATED * estimated

    def _error_at(self, tensor: Tensor | None, cones: Collection[Cone]) -> float:
        return dict(zip(self.estimate.outputs, self.errors(cones), strict=True)).get(tensor, 0.0) if tensor else 0.0


def estimated_error(plan: Plan) -> float:
    """The estimated error of all loose steps of the plan at its worst output."""
    return hypot(*(s.error for s in plan.steps))


def looser(numerics: str) -> str | None:
    """The next preset that allows more; None after the last."""
    own = own_bound(numerics) or 0.0
    return next((name for name, bound in sorted(BOUNDS.items(), key=lambda b: b[1]) if bound > own), None)


def _output(graph: Graph, name: str) -> Tensor | None:
    return dict(zip(graph.output_names, graph.outputs, strict=True)).get(name)
