"""Plans whose kernels round, with as many more exact ones as they need."""

from __future__ import annotations

import pytest

from korch.search.exchange import Exchange, exchanges

from .rough_plans import COUNT, EXACT, ROUGH, precisions, search


@pytest.mark.parametrize("exact", range(COUNT + 1))
def test_of_equal_layers_as_many_are_exact_as_must_be(exact: int):
    ledger, tuned, plan = search(*[16] * COUNT)
    exchange = Exchange(plan, ledger, tuned)
    assert len({id(e) for e in ledger.entries}) == 1 and exchange.total == pytest.approx(4e-6)
    made = exchange.within((COUNT - exact) * ROUGH**2 + COUNT * EXACT**2)
    assert made and precisions(made).count("bf16x3") == exact == len(exchanges(plan, made))
    assert made.predicted_seconds == pytest.approx((COUNT + exact) * 1e-6)
    assert made.gap == pytest.approx(exact / (COUNT + exact)), "the bound is of all plans, rounding or not"
    assert [s.writes for s in made.steps] == [s.writes for s in plan.steps]


def test_what_costs_least_is_exact_first():
    ledger, tuned, plan = search(16, 32, 48, extra={16: 3e-6, 32: 1e-6, 48: 2e-6})
    exchange = Exchange(plan, ledger, tuned)
    assert precisions(exchange.within(2.1e-6)) == ["fp16", "bf16x3", "fp16"]
    assert precisions(exchange.within(1.1e-6)) == ["fp16", "bf16x3", "bf16x3"]


def test_what_weighs_most_is_exact_first_and_nothing_that_need_not_be():
    ledger, tuned, plan = search(16, 32, 48, extra={16: 3e-6, 32: 1e-6, 48: 2e-6})
    exchange = Exchange(plan, ledger, tuned, [100.0, 1.0, 1.0])
    assert exchange.total == pytest.approx(102e-6) and exchange.rounding == [0, 1, 2]
    assert precisions(exchange.within(2.5e-6)) == ["bf16x3", "fp16", "fp16"]


def test_all_is_exact_but_what_is_looked_at():
    ledger, tuned, plan = search(16, 32, 48)
    exchange = Exchange(plan, ledger, tuned)
    assert precisions(exchange.exact_but([1])) == ["bf16x3", "fp16", "bf16x3"]
    assert exchange.squares([0, 2]) == pytest.approx(2e-6)


def test_what_cannot_be_had_is_nothing():
    ledger, tuned, plan = search(16, 16)
    assert Exchange(plan, ledger, tuned).within(EXACT**2) is None
    exact = Exchange(Exchange(plan, ledger, tuned).exact_but([]), ledger, tuned)
    assert exact.rounding == [] and exact.widened() is None


def test_without_the_narrow_precision_the_fastest_other_is_taken():
    ledger, tuned, plan = search(16, 32)
    wide = Exchange(plan, ledger, tuned).widened()
    assert wide and precisions(wide) == ["bf16x3"] * 2
    assert wide.predicted_seconds == pytest.approx(4e-6)
