"""Index arithmetic: what is simplified means the same."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from korch.backends.maps.index import Atom, Clamp, Div, Index, Mod, Var, flat, unflat

VARS = (Var("a", 0, 3), Var("b", 0, 4), Var("c", 0, 6))
GRID = dict(zip(VARS, np.meshgrid(*(np.arange(v.hi) for v in VARS), indexing="ij"), strict=True))


def meaning(e: Index) -> Any:
    return sum((k * _atom(atom) for atom, k in e.terms), np.full((3, 4, 6), e.const))


def _atom(atom: Atom) -> Any:
    match atom:
        case Var():
            return GRID[atom]
        case Div(of, by):
            return meaning(of) // by
        case Mod(of, by):
            return meaning(of) % by
        case Clamp(of, lo, hi):
            return np.clip(meaning(of), lo, hi)
        case _:
            raise AssertionError(atom)


STEPS = st.lists(st.tuples(st.sampled_from("+*/%"), st.integers(1, 12), st.sampled_from(VARS)), max_size=5)


@given(STEPS)
def test_sums_quotients_and_remainders_mean_what_they_say(steps: list[tuple[str, int, Var]]):
    e, value = Index.of(VARS[2]), GRID[VARS[2]]
    for sign, n, v in steps:
        match sign:
            case "+":
                e, value = e + Index.of(v) * n, value + GRID[v] * n
            case "*":
                e, value = e * n + 1, value * n + 1
            case "/":
                e, value = e // n, value // n
            case _:
                e, value = e % n, value % n
    assert (meaning(e) == value).all()
    lo, hi = e.range()
    assert lo <= value.min() and value.max() <= hi


def test_positions_that_are_taken_apart_and_joined_are_themselves():
    i = Index.of(Var("i", 0, 360))
    for shape in ((3, 4, 5, 6), (360,), (1, 36, 10), (2, 1, 180)):
        assert flat(unflat(i, shape), shape) == i


def test_coarse_quotients_need_no_fine_variables():
    a, b = Index.of(Var("a", 0, 8)), Index.of(Var("b", 0, 5))
    assert (a * 5 + b) // 20 == a // 4
    assert (a * 5 + b) % 20 == a % 4 * 5 + b
    assert a // 2 // 2 == a // 4


def test_every_position_of_a_shape_has_its_indices():
    position = flat(tuple(map(Index.of, VARS)), (3, 4, 6))
    rows = np.arange(72).reshape(3, 4, 6)
    for shape in ((72,), (6, 12), (8, 9), (2, 3, 12)):
        idx = unflat(position, shape)
        for at in product(range(3), range(4), range(6)):
            assert tuple(int(meaning(e)[at]) for e in idx) == tuple(map(int, np.unravel_index(rows[at], shape)))
