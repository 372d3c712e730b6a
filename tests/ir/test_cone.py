"""Signatures: kernels and costs are shared by them, so different work must have different ones."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from korch.ir import Builder, Cone, Value

Build = Callable[[Builder, Value, Value], Value]
SHAPE = (100, 100)


def cone(build: Build, shape: tuple[int, ...] = SHAPE, names: str = "xy") -> Cone:
    b = Builder()
    x, y = (b.input(n, "float32", shape) for n in names)
    return Cone.of(b.graph([("out", build(b, x, y))]).primitives)


def gather(first: int) -> Build:
    """Rows: more of them than a signature spells out."""
    return lambda b, x, y: b.op("Gather", x, axis=0, indices=(first, *range(99)))


DIFFERENT: dict[str, tuple[Build, Build]] = {
    "operands": (lambda b, x, y: (x - y) * x, lambda b, x, y: (x - y) * y),
    "order": (lambda b, x, y: b.op("Exp", x - y), lambda b, x, y: b.op("Exp", y) - x),
    "numbers": (lambda b, x, y: x * 2.0, lambda b, x, y: x * 3.0),
    "operators": (lambda b, x, y: b.op("Exp", x), lambda b, x, y: b.op("Log", x)),
    "axes": (
        lambda b, x, y: b.op("ReduceSum", x, axes=(0,), keepdims=0),
        lambda b, x, y: b.op("ReduceSum", x, axes=(1,), keepdims=0),
    ),
    "long attributes": (gather(0), gather(1)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_work_has_different_signatures(name: str):
    one, other = map(cone, DIFFERENT[name])
    assert one.signature != other.signature and one.key != other.key


def test_names_take_no_part_but_shapes_do():
    def turned(b: Builder, x: Value, y: Value) -> Value:
        return b.op("Transpose", x + y, perm=(1, 0))

    assert cone(turned).signature == cone(turned, names="pq").signature
    assert cone(turned).signature != cone(turned, (50, 200)).signature


def test_of_elementwise_work_only_the_number_of_elements_counts():
    def add(b: Builder, x: Value, y: Value) -> Value:
        return x + y

    assert cone(add).signature == cone(add, (50, 200)).signature != cone(add, (50, 100)).signature
