"""Names for what rewrites add: none that the model or an earlier rewrite gave."""

from __future__ import annotations

from korch.ir.graph import Graph


def names_of(graph: Graph) -> set[str]:
    """What a graph calls its inputs, its constants, all that it computes, and its outputs."""
    return {*graph.constants, *graph.output_names, *(t.name for t in (*graph.inputs, *graph.producers))}


def new_name(stem: str, taken: set[str]) -> str:
    """`stem`, with a number where it is taken; `taken` takes note of it."""
    if stem in taken:
        return next_name(f"{stem}_", taken)
    taken.add(stem)
    return stem


def next_name(stem: str, taken: set[str]) -> str:
    """`stem` with a number that makes it new; `taken` takes note of it."""
    number = len(taken)
    while f"{stem}{number}" in taken:
        number += 1
    taken.add(f"{stem}{number}")
    return f"{stem}{number}"
