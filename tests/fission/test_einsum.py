"""Einsum against numpy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .oracle import check, values

LENGTHS = dict(zip("abcdij", (2, 3, 4, 2, 3, 5), strict=True))


def einsum(equation, *shapes):
    xs = [values(*s, seed=i) for i, s in enumerate(shapes)]
    expected = np.einsum(equation, *xs)
    graph = check("Einsum", *xs, equation=equation, oracle="onnx")
    assert graph.outputs[0].shape == expected.shape
    return [p.op for p in graph.primitives]


@pytest.mark.parametrize(
    "equation,shapes,expected",
    [
        ("ij,jk->ik", [(2, 3), (3, 4)], ["MatMul"]),
        ("ij,jk->ki", [(2, 3), (3, 4)], ["Transpose", "Transpose", "MatMul"]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)], ["Transpose", "MatMul"]),
        ("ij->ji", [(2, 3)], ["Transpose"]),
        ("ij->", [(2, 3)], ["ReduceSum"]),
        ("ij,ij->ij", [(2, 3), (2, 3)], ["Mul"]),
        ("...ij,...jk->...ik", [(2, 1, 3, 4), (5, 4, 2)], ["MatMul"]),
        ("ijk,kl->ijl", [(2, 3, 4), (4, 5)], ["MatMul"]),
    ],
)
def test_known_forms(equation, shapes, expected):
    assert sorted(einsum(equation, *shapes)) == sorted(expected)


@pytest.mark.parametrize(
    "equation,shapes",
    [
        ("i,i->", [(3,), (3,)]),
        ("i,j->ij", [(3,), (4,)]),
        ("i,j", [(3,), (4,)]),
        ("ij,jk", [(2, 3), (3, 4)]),
        ("ba,cb", [(2, 3), (4, 2)]),
        ("bqhd,bkhd->bhqk", [(2, 4, 3, 5), (2, 6, 3, 5)]),
        ("bhqk,bkhd->bqhd", [(2, 3, 4, 5), (2, 5, 3, 6)]),
        ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)]),
        ("i...->...", [(2, 3, 4)]),
        ("...i,...i", [(2, 3), (2, 3)]),
        ("a...b,b...c->a...c", [(2, 5, 3), (3, 1, 4)]),
        ("abc,abd,ab->acd", [(2, 3, 4), (2, 3, 5), (2, 3)]),
        ("IJ, Jk -> Ik", [(2, 3), (3, 4)]),
    ],
)
def test_forms(equation, shapes):
    einsum(equation, *shapes)


@st.composite
def equations(draw):
    one = st.lists(st.sampled_from("abcdij"), min_size=1, max_size=4, unique=True)
    terms = draw(st.lists(one, min_size=1, max_size=3))
    labels = sorted({c for t in terms for c in t})
    output = draw(st.permutations(draw(st.lists(st.sampled_from(labels), unique=True))))
    return [*map("".join, terms)], "".join(output)


@settings(max_examples=40, deadline=None)
@given(case=equations())
def test_any_form(case):
    terms, output = case
    einsum(f"{','.join(terms)}->{output}", *([LENGTHS[c] for c in t] for t in terms))


def test_integers():
    check("Einsum", np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2), equation="ij,jk->ik")


def test_diagonals_stay_opaque():
    check("Einsum", values(3, 3), equation="ii->i", opaque=True)
