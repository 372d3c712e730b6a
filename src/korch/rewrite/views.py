"""Chains of Reshape and Transpose that, taken together, move nothing."""

from __future__ import annotations

from math import prod

from korch.ir.graph import Graph
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

Permutation = tuple[int, ...]
LONGEST = 6


def sources(graph: Graph, p: Primitive) -> list[Tensor]:
    """The tensors along the chain of Reshapes and Transposes that ends in `p`, nearest first."""
    return [source for _, _, source in _chain(graph, p)]


def same_order(graph: Graph, p: Primitive, source: Tensor, turn: Permutation | None, back: Permutation | None) -> bool:
    """Whether p's output, permuted by `turn`, has its elements in the order of `source`, permuted by `back`."""
    chain = _chain(graph, p)
    factors = _atoms(chain, p.output)
    axes = None if factors is None else _axes_of(chain, source, factors)
    if factors is None or axes is None:
        return False
    return _flat(factors, turn) == _flat(axes, back)


Factor = tuple[int, int]
"""(number, length): an indivisible piece of the axes along a chain, in the order of the axes at its end."""
Chain = list[tuple[str, Permutation, Tensor]]
"""Operators, permutations (of Transposes) and operands, from the end of a chain back to its source."""


def _chain(graph: Graph, p: Primitive) -> Chain:
    steps: Chain = []
    made = (p,)
    while made and made[0].spec.rearranges and len(steps) < LONGEST:
        p = made[0]
        steps.append((p.op, p.attr("perm") if p.spec.permutes else (), p.inputs[0]))
        made = graph.producers.get(p.inputs[0], ())
    return steps


def _atoms(chain: Chain, t: Tensor) -> list[list[Factor]] | None:
    """t's axes as factors fine enough for every reshape along the chain; None where they do not fit together."""
    axes = [[n] for n in t.shape]
    for _ in range(LONGEST * 4):
        finer = _walk(chain, axes)
        if finer is None:
            return _numbered(axes)
        if finer == axes:
            return None
        axes = finer
    return None


def _numbered(axes: list[list[int]]) -> list[list[Factor]]:
    count = 0
    result: list[list[Factor]] = []
    for axis in axes:
        part: list[Factor] = []
        for n in axis:
            if n != 1:
                part.append((count, n))
                count += 1
        result.append(part)
    return result


def _walk(chain: Chain, axes: list[list[int]]) -> list[list[int]] | None:
    """None if the factors survive the whole chain; else the factors with one of them split further."""
    labelled = _numbered(axes)
    current = labelled
    for op, perm, source in chain:
        if op == "Transpose":
            current = [current[a] for a in _inverse(perm)]
            continue
        regrouped, split = _regroup([f for axis in current for f in axis], source.shape)
        if split is not None:
            return _split(axes, *split)
        if regrouped is None:
            return axes
        current = regrouped
    return None


def _regroup(flat: list[Factor], shape: tuple[int, ...]) -> tuple[list[list[Factor]] | None, tuple[int, int] | None]:
    """`flat` grouped into axes of `shape`, or (number, inner length) of the factor that must be split first."""
    result: list[list[Factor]] = []
    rest = list(flat)
    for n in reversed(shape):
        axis: list[Factor] = []
        while prod(f for _, f in axis) < n:
            if not rest:
                return None, None
            number, length = rest.pop()
            missing = n // prod(f for _, f in axis)
            if length > missing:
                return None, (number, missing) if length % missing == 0 else None
            axis.insert(0, (number, length))
        if prod(f for _, f in axis) != n:
            return None, None
        result.insert(0, axis)
    return result, None


def _split(axes: list[list[int]], number: int, inner: int) -> list[list[int]]:
    count = 0
    result: list[list[int]] = []
    for axis in axes:
        part: list[int] = []
        for n in axis:
            if n != 1:
                part += [n // inner, inner] if count == number else [n]
                count += 1
        result.append(part or [1])
    return result


def _flat(axes: list[list[Factor]], perm: Permutation | None) -> list[Factor]:
    return [f for a in (perm or range(len(axes))) for f in axes[a]]


def _axes_of(chain: Chain, source: Tensor, factors: list[list[Factor]]) -> list[list[Factor]] | None:
    """The axes of `source`, a tensor along the chain, in the factors of its end."""
    current = factors
    for op, perm, s in chain:
        if op == "Transpose":
            current = [current[a] for a in _inverse(perm)]
        else:
            regrouped, _ = _regroup([f for axis in current for f in axis], s.shape)
            if regrouped is None:
                return None
            current = regrouped
        if s == source:
            return current
    return None


def _inverse(perm: Permutation) -> Permutation:
    return tuple(perm.index(a) for a in range(len(perm)))
