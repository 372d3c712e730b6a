"""Discovery finds the laws that everybody knows and none that is false."""

from __future__ import annotations

from functools import cache

import pytest

from korch.rewrite.discover import Law, discover, holds, parse_law
from korch.rewrite.discover.enumerate import Enumeration
from korch.rewrite.evidence import all_subjects, evidence_of

KNOWN = (
    "(A @ B) @ C = A @ (B @ C)",
    "A @ B + A @ C = A @ (B + C)",
    "A @ C + B @ C = (A + B) @ C",
    "A @ ones = sum(A)",
    "relu(A.T) = relu(A).T",
    "relu(relu(A)) = relu(A)",
    "exp(A) * exp(B) = exp(A + B)",
    "A.T.T = A",
    "(A / v) @ B = (A @ B) / v",
    "(A * s) @ B = A @ (B * s)",
    "hstack(A, B) @ vstack(C, D) = A @ C + B @ D",
    "hstack(A @ B, A @ C) = A @ hstack(B, C)",
    "hstack(relu(A), relu(B)) = relu(hstack(A, B))",
    "(A @ B.T).T = B @ A.T",
)
FALSE = (
    "A @ B = B @ A",
    "(A @ B).T = A.T @ B.T",
    "relu(A + B) = relu(A) + relu(B)",
    "exp(A) + exp(B) = exp(A + B)",
    "(A / B) @ C = (A @ C) / B",
    "A / relu(A) = relu(A) / A",
    "sum(A * B) = sum(A) * sum(B)",
    "relu(A) = A",
)


@cache
def found(size: int) -> tuple[Law, ...]:
    return tuple(discover(size))


@cache
def enumerated(size: int) -> frozenset[Law]:
    """All pairs of equal terms, implied by others or not."""
    return frozenset(law.canonical() for law in Enumeration(size).laws)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("law", KNOWN)
def test_well_known_laws_are_found(law: str):
    assert parse_law(law).canonical() in found(3)


@pytest.mark.parametrize("law", [*KNOWN, "(A @ B).T = B.T @ A.T"])
def test_well_known_laws_are_among_equal_terms(law: str):
    assert parse_law(law).canonical() in enumerated(3)
    assert holds(parse_law(law))


@pytest.mark.parametrize("law", FALSE)
def test_false_laws_are_not(law: str):
    assert parse_law(law).canonical() not in enumerated(3)
    assert not holds(parse_law(law))


def test_laws_of_two_primitives_as_text():
    texts = [str(law) for law in found(2)]
    assert texts[0] == "A @ ones = sum(A)"
    assert {"(A @ B) @ C = A @ (B @ C)", "A.T.T = A", "left(hstack(A, B)) = A"} <= set(texts)
    assert 30 < len(texts) < 80


def test_what_smaller_laws_imply_is_dropped():
    texts = {str(law) for law in found(2)}
    assert "A @ sum(B) = sum(A @ B)" not in texts  # by sum(A) = A @ ones and associativity
    assert "(A @ A) @ B = A @ (A @ B)" not in texts  # an instance
    assert parse_law("A @ sum(B) = sum(A @ B)").canonical() in enumerated(2)


def test_every_law_that_is_told_holds_for_other_shapes():
    assert all(holds(law, first=7) for law in found(2))


def test_the_same_laws_every_time():
    assert discover(2) == discover(2) == list(found(2))


def test_accidents_of_the_enumerations_own_shapes_are_no_laws():
    assert not holds(parse_law("left(A) * s = left(A) @ A"))
    assert not holds(parse_law("vstack(A, B) = hstack(A, B)"))


def test_laws_that_rewrites_name_hold_and_are_discovered():
    named = [s for s in all_subjects() if s.laws]
    assert named
    for subject in named:
        assert evidence_of(subject).laws == subject.laws, subject.name
        assert {parse_law(law).canonical() for law in subject.laws} <= enumerated(3), subject.name
