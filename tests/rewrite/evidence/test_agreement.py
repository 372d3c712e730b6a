"""Producers of one tensor are compared whatever the order in which a graph lists them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from korch.ir import Builder, Graph
from korch.rewrite.evidence.agreement import Reals, disagreements
from korch.rewrite.exact import Field


def with_two_producers(second: str) -> Graph:
    """y = (x + x) * 3 with x + x also as `second` of x and x."""
    b = Builder()
    x = b.input("x", "float32", (3, 4))
    twice = x + x
    graph = b.graph([("y", twice * 3.0)])
    other = replace(graph.primitives[0], op=second, rule="other")
    return graph.add([other])


@pytest.mark.parametrize("arithmetic", [Field, Reals])
def test_the_producer_that_differs_is_named(arithmetic: type[Field] | type[Reals]):
    assert not disagreements(with_two_producers("Add"), arithmetic())
    (found,) = disagreements(with_two_producers("Mul"), arithmetic())
    assert (found.first.op, found.other.op) == ("Add", "Mul")
    assert "differs from (by other)" in str(found)


@pytest.mark.parametrize("arithmetic", [Field, Reals])
def test_tensors_that_make_each_other(arithmetic: type[Field] | type[Reals]):
    b = Builder()
    x = b.input("x", "float32", (3, 4))
    turned = b.op("Transpose", b.op("Exp", x), perm=(1, 0))
    graph = b.graph([("y", turned)])
    e = graph.primitives[0].output
    back = replace(graph.primitives[1], inputs=(turned.tensor,), output=e)
    assert not disagreements(replace(graph, primitives=(back, *graph.primitives)), arithmetic())
    wrong = replace(graph.primitives[1], op="Reshape", attrs=(("shape", (3, 4)),), inputs=(turned.tensor,), output=e)
    assert len(disagreements(graph.add([wrong]), arithmetic())) == 1


def test_what_nothing_can_make_is_an_error():
    graph = with_two_producers("Add")
    lost = replace(graph.primitives[0], inputs=(replace(graph.inputs[0], name="lost"),) * 2)
    with pytest.raises(ValueError, match="nothing makes its inputs"):
        disagreements(graph.add([lost]), Field())


def test_rounded_fractions_count_as_what_they_round():
    """x / 3 is x times a float32 third."""
    b = Builder()
    x = b.input("x", "float32", (4,))
    graph = b.graph([("y", x / 3.0)])
    third = b.constant(np.float32(1 / 3)).tensor
    other = replace(graph.primitives[0], op="Mul", inputs=(x.tensor, third))
    changed = graph.add([other], {third.name: b.constants[third.name]})
    assert not disagreements(changed, Field()) and not disagreements(changed, Reals())


def test_integers_and_bools_are_compared_as_they_are():
    b = Builder()
    x, c = b.input("x", "int64", (5,)), b.input("c", "bool", (5,))
    graph = b.graph([("y", b.op("Where", c, x, x + x))])
    other = replace(graph.primitives[0], op="Mul")
    assert not disagreements(graph, Field())
    assert len(disagreements(graph.add([other]), Field())) == len(disagreements(graph.add([other]), Reals())) == 1
