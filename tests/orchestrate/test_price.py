"""The price of memory."""

from __future__ import annotations

import pytest

from korch.orchestrate.price import NEAR, TRIES, Price


def settled(price: Price, enough: float) -> int:
    """How often it moved while plans hold too much at any price below `enough`."""
    moves = 0
    while price.moved(price.factor < enough):
        moves += 1
    return moves


@pytest.mark.parametrize("enough", [1.0, 1.01, 2.0, 3.0, 4.5, 7.9])
def test_the_price_is_little_more_than_enough(enough: float):
    price = Price()
    assert settled(price, enough) <= TRIES
    assert enough <= price.factor <= NEAR * enough
    assert not price.moved(False)


def test_another_search_may_find_it_too_high():
    price = Price()
    settled(price, 7.0)
    price.reopen()
    settled(price, 4.0)
    assert 4 <= price.factor < 4 * NEAR


def test_it_rises_again_where_what_was_enough_is_not():
    price = Price()
    settled(price, 3.0)
    settled(price, 9.0)
    assert price.factor >= 9


def test_tries_end_and_what_was_enough_stays():
    price = Price(tries=3)
    assert settled(price, 3.0) == 4 and price.factor == 4  # up, up, down, back
    price = Price(tries=2)
    assert settled(price, 100.0) == 2 and price.factor == 4


def test_equal_kernels_go_one_after_another_but_at_first_cost_the_same():
    price = Price()
    assert {price.of(2.0, k / 5) for k in range(5)} == {2.0}
    price.factor = 3.0
    assert len({price.of(2.0, k / 5) for k in range(5)}) == 5 and price.of(2.0, 0.0) == 6.0
