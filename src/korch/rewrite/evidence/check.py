"""Runs a rewrite or a rule on a sample graph and compares what it adds with what was there."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from korch.ir.graph import Graph
from korch.ir.primitive import ERROR_CLASSES, EXACT
from korch.rewrite.discover import holds, parse_law
from korch.rewrite.evidence.agreement import Disagreement, Reals, disagreements
from korch.rewrite.evidence.table import Sample, Transformation, all_samples
from korch.rewrite.exact import Beyond, Field
from korch.rewrite.rule import Rule
from korch.rewrite.saturate import saturated

POINTS = 2
"""Random points of the field a graph: wrong rules pass one with a probability below 1e-6."""
DRAWS = 3
"""Graphs of a sample that evidence for a listing is taken from; the tests take more."""


@dataclass(frozen=True)
class Finding:
    """What a rewrite did to one graph."""

    fired: bool
    error: str
    exact: tuple[Disagreement, ...]
    numeric: tuple[Disagreement, ...]
    beyond: str = ""
    """Why the exact check was impossible; empty where it was made."""

    @property
    def proves(self) -> bool:
        """Whether what was added is equal exactly."""
        return self.fired and not self.exact and not self.beyond

    @property
    def sound(self) -> bool:
        """Whether what was added is equal in float64."""
        return self.fired and not self.numeric


@dataclass(frozen=True)
class RewriteEvidence:
    """What the samples of a rewrite show."""

    graphs: int
    exact: bool
    numeric: bool
    error: str
    beyond: tuple[str, ...]
    laws: tuple[str, ...] = ()
    """The laws it applies that hold exactly, matrices of any shape that fits."""

    def __str__(self) -> str:
        if not self.graphs:
            return "none"
        kinds = [*(["exact"] if self.exact else []), *(["numeric"] if self.numeric else [])]
        why = f" (not exact: {'; '.join(self.beyond)})" if self.beyond else ""
        laws = "".join(f"; by {law}" for law in self.laws)
        return f"{' + '.join(kinds) or 'refuted'} on {self.graphs} graphs{why}{laws}"


def check(subject: Transformation, graph: Graph, seed: int = 0) -> Finding:
    """The finding of `subject` on `graph` at random points that follow from `seed`."""
    changed = applied(subject, graph)
    added = changed.primitives[len(graph.primitives) :]
    exact, beyond = _exactly(changed, seed)
    worst = max((p.error for p in added), key=ERROR_CLASSES.index, default=EXACT)
    return Finding(fires(graph, changed), worst, exact, tuple(disagreements(changed, Reals(seed))), beyond)


def applied(subject: Transformation, graph: Graph) -> Graph:
    """`graph` with all that `subject` adds to it."""
    return saturated(graph, [subject]) if isinstance(subject, Rule) else subject(graph)


def fires(graph: Graph, changed: Graph) -> bool:
    """Whether `changed` has another producer of a tensor of `graph`."""
    added = changed.primitives[len(graph.primitives) :]
    return any(p.output in graph.producers or p.output in graph.inputs for p in added)


def _exactly(graph: Graph, seed: int) -> tuple[tuple[Disagreement, ...], str]:
    try:
        return tuple(d for i in range(POINTS) for d in disagreements(graph, Field(seed * POINTS + i))), ""
    except Beyond as e:
        return (), str(e)


def evidence_of(subject: Transformation) -> RewriteEvidence:
    """What the same few graphs of every sample of `subject` show."""
    made = [(s, check(subject, s.make(Random(i)), i)) for s in all_samples(subject) for i in range(DRAWS)]
    findings = [f for _, f in made]
    reasons = dict.fromkeys(reason(s, f) for s, f in made if not f.proves)
    worst = max((f.error for f in findings), key=ERROR_CLASSES.index, default=EXACT)
    laws = tuple(law for law in subject.laws if holds(parse_law(law)))
    return RewriteEvidence(
        len(findings), all(f.proves for f in findings), all(f.sound for f in findings), worst, tuple(reasons), laws
    )


def reason(sample: Sample, finding: Finding) -> str:
    """Why there is no exact proof."""
    return sample.beyond or finding.beyond or f"{sample.name}: {'differs' if finding.fired else 'does not fire'}"
