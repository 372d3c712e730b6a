"""The price of memory."""

from __future__ import annotations

import pytest

from korch.search.price import Price
from korch.search.steering import FULL_ENOUGH, PRICE_PRECISION, PRICES_TRIED


def settled(price: Price, enough: float, within: float = 0.5) -> int:
    """How often it moved while plans hold too much at any price below `enough`, and so much from there on."""
    moves = 0
    while price.moved(1.1 if price.factor < enough else within):
        moves += 1
    return moves


@pytest.mark.parametrize("enough", [1.01, 2.0, 3.0, 4.5, 7.9])
def test_the_price_is_little_more_than_enough(enough: float):
    price = Price()
    assert settled(price, enough) <= PRICES_TRIED
    assert enough <= price.factor <= PRICE_PRECISION * enough
    assert not price.moved(0.5)


def test_it_stays_where_nobody_holds_too_much():
    price = Price()
    assert settled(price, 1.0) == 0 and price.factor == 1


def test_it_stays_where_plans_hold_nearly_what_they_may():
    price = Price()
    assert settled(price, 4.5, FULL_ENOUGH) == 3 and price.factor == 8


@pytest.mark.parametrize("enough", [1.0, 3.0])
def test_it_falls_where_it_is_too_high_by_now(enough: float):
    price = Price()
    settled(price, 14.0)
    price.reopen()
    price.tries = PRICES_TRIED
    settled(price, enough)
    assert enough <= price.factor <= PRICE_PRECISION * enough


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
