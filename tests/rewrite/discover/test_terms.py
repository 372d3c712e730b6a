"""Terms and laws as text, under renaming, and as instances of each other."""

from __future__ import annotations

import pytest

from korch.rewrite.discover.rewriting import Rules
from korch.rewrite.discover.terms import leaf_shapes, parse, parse_law, shape_of, size, text

SHAPES = leaf_shapes(2)


TEXTS = (
    "(A @ B).T + relu(C)",
    "A + (B + C)",
    "(A @ B) @ C",
    "A @ (B @ C)",
    "A.T.T",
    "hstack(A, B) @ vstack(C, D)",
    "(A / sum(B)) @ C",
    "(v * s).T * (A + B)",
)


@pytest.mark.parametrize("source", TEXTS)
def test_text_reads_back(source: str):
    assert text(parse(source)) == source


def test_what_is_no_term():
    for source in ("A - B", "E", "relu(A, B)", "A.t"):
        with pytest.raises(ValueError, match="is no term"):
            parse(source)


def test_shapes_and_sizes():
    assert shape_of(parse("hstack(A, B) @ vstack(C, D)"), SHAPES) == (2, 2)
    assert shape_of(parse("sum(A) @ B"), SHAPES) is None
    assert size(parse("A @ B + A @ C")) == 3


def test_laws_are_the_same_under_other_names_and_from_right_to_left():
    law = parse_law("A @ (B + C) = A @ B + A @ C")
    assert law.canonical() == parse_law("C @ B + C @ A = C @ (B + A)").canonical()
    assert law.canonical() != parse_law("C @ B + A @ B = (C + A) @ B").canonical()


def rules(*laws: str) -> Rules:
    made = Rules(SHAPES)
    for law in laws:
        made.add(parse_law(law))
    return made


def test_a_law_applies_inside_terms_and_where_operators_commute():
    distributive = rules("A @ (B + C) = A @ B + A @ C")
    found = set(distributive.steps(parse("relu(A @ C + A @ B)"), distributive.both_ways))
    assert found == {parse("relu(A @ (B + C))"), parse("relu(A @ (C + B))")}
    known = rules("(A * B) / B = A")
    assert (
        known.normal(parse("relu((C.T * A) / A)")) == known.normal(parse("relu((A * C.T) / A)")) == parse("relu(C.T)")
    )
    assert known.normal(parse("(A * B) / C")) == parse("(A * B) / C")


def test_laws_of_equal_shapes_say_nothing_of_broadcasts():
    """sum(A + B) = sum(A) + sum(B), but sum(A + v) is not sum(A) + v."""
    known = rules("sum(A) + sum(B) = sum(A + B)")
    assert not list(known.steps(parse("sum(A + v)"), known.both_ways))
    assert list(known.steps(parse("sum(A + A.T)"), known.both_ways))
