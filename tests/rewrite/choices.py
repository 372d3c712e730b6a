"""What every rewrite has to keep: all producers of a tensor compute the same values."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from korch.executable.feeds import random_feeds
from korch.ir import Graph, Primitive, Tensor
from korch.ir.evaluate import evaluate_primitive, widen
from korch.ir.macs import total
from korch.ir.ops.table import Array
from korch.rewrite.extract import cheapest
from korch.rewrite.rule import Rule
from korch.rewrite.saturate import all_algebra, saturated

TOLERANCE = 1e-6
"""Of the largest magnitude: folded constants are rounded to float32, all else is float64."""


def assert_same_values(plain: Graph, graph: Graph) -> None:
    """Every producer in `graph`, whatever its inputs are made by, gives what `plain` gives or what the others give."""
    wrong = differing(plain, graph)
    assert not wrong, "\n".join(f"{p}  [{p.rule}]" for p in wrong)


def differing(plain: Graph, graph: Graph) -> list[Primitive]:
    """The producers whose values are not those of their tensor; values come from `plain` first."""
    values: dict[Tensor, Array] = {t: widen(x) for t, x in zip(plain.inputs, random_feeds(plain).values())}
    values |= {t: graph.constants[t.name] for p in graph.primitives for t in p.inputs if t.const}
    _compute(plain.primitives, values)
    _compute(graph.primitives, values)
    assert all(p.output in values for p in graph.primitives), "a tensor is made by nothing that can be computed"
    return [p for p in graph.primitives if not _agrees(_evaluated(p, values), values[p.output])]


def _compute(primitives: Iterable[Primitive], values: dict[Tensor, Array]) -> None:
    """The values of all tensors that can be reached, by the producers that come first."""
    waiting = list(primitives)
    ready = waiting
    while ready:
        ready = [p for p in waiting if all(t in values for t in p.inputs)]
        for p in ready:
            if p.output not in values:
                values[p.output] = _evaluated(p, values)
        waiting = [p for p in waiting if p.output not in values]


def _evaluated(p: Primitive, values: dict[Tensor, Array]) -> Array:
    return evaluate_primitive(p, [values[t] for t in p.inputs])


def _agrees(got: Array, expected: Array) -> bool:
    return got.shape == expected.shape and bool(
        np.abs(got - expected).max() <= TOLERANCE * max(1, np.abs(expected).max())
    )


def derived(plain: Graph, rules: Iterable[Rule] | None = None) -> Graph:
    """All that the rules (by default every one) derive, checked."""
    full = saturated(plain, tuple(all_algebra() if rules is None else rules))
    assert_same_values(plain, full)
    return full


def by_rule(graph: Graph, rule: Rule) -> list[Primitive]:
    return [p for p in graph.primitives if p.rule == rule.name]


def multiply_adds(graph: Graph) -> int:
    return total(graph.primitives)


def fewest(plain: Graph) -> Graph:
    """The choice-free selection with the fewest multiply-adds among all that the rules derive."""
    return cheapest(derived(plain), plain, lambda p: total((p,)) + 1e-3)
