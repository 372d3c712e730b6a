"""One small graph a rewrite: before as text, and the primitives that the rewrite adds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from inspect import cleandoc
from itertools import combinations
from random import Random

from korch.ir.graph import Graph
from korch.ir.primitive import Primitive, show
from korch.ir.tensor import Tensor
from korch.rewrite.evidence.check import applied, fires
from korch.rewrite.evidence.table import Transformation, all_samples, all_subjects
from korch.rewrite.rule import Rule

SUBJECTS = {f"rewrite/{subject.name}.txt": subject for subject in all_subjects()}
FILES = tuple(SUBJECTS)
CHOSEN = {"add_layouts": "convolutions", "strassen": "rows", "winograd": "plain_3x3"}
"""Samples that show the rewrite at its usual input, where another has fewer primitives."""


def text(subject: Transformation) -> str:
    """The rewrite's name, error class, docstring and conditions; its example before, and the added primitives."""
    before, after = example(subject)
    added = after.primitives[len(before.primitives) :]
    sections = (
        "\n".join((f"{subject.name}: {subject.error}", cleandoc(subject.fn.__doc__ or ""), *_conditions(subject))),
        f"before\n{_constants(before.primitives)}{before}",
        f"added\n{_constants(added)}{show(added)}",
    )
    return "\n\n".join(sections) + "\n"


def example(subject: Transformation) -> tuple[Graph, Graph]:
    """The smallest part of its samples on which `subject` fires, without its effect and with it."""
    samples = [s for s in all_samples(subject) if s.name == CHOSEN.get(subject.name, s.name)]
    parts = (part for sample in samples for part in _parts(sample.make(Random(0))))
    found = [(part, after) for part in parts if fires(part, after := applied(subject, part))]
    return min(found, key=lambda pair: (len(pair[0].primitives), len(pair[1].primitives)))


def _parts(graph: Graph) -> Iterator[Graph]:
    """The part of a graph that one, two or all of the outputs need."""
    for count in sorted({1, 2, len(graph.outputs)}):
        for chosen in combinations(zip(graph.outputs, graph.output_names, strict=True), count):
            outputs, names = zip(*chosen, strict=True)
            part = replace(graph, outputs=outputs, output_names=names).plain()
            yield replace(part, inputs=tuple(t for t in graph.inputs if t in _read(part.primitives)))


def _conditions(subject: Transformation) -> Iterator[str]:
    yield from (f"law: {law}" for law in subject.laws)
    if isinstance(subject, Rule):
        yield "kept: always" if subject.pays else "kept: where the estimate is lower"
        if not subject.proved:
            yield "needs: values within ordinary ranges, without a proof"
    else:
        yield f"stage: {subject.stage}"


def _constants(primitives: Iterable[Primitive]) -> str:
    """A line with the constants that have no literal in the text; empty where there are none."""
    named = [str(t) for t in _read(primitives) if t.const and t.value is None]
    return f"# constants: {', '.join(named)}\n" if named else ""


def _read(primitives: Iterable[Primitive]) -> dict[Tensor, None]:
    """The tensors that are read, in order."""
    return dict.fromkeys(t for p in primitives for t in p.inputs)
