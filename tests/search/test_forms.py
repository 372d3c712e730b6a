"""Which forms of kernels are given up."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from korch.backends.contract import Alias, Kernel, StageVariant, Variant
from korch.ir import Builder, Cone
from korch.profile import Failed, Measurement
from korch.profile.results import Result
from korch.search.forms import Forms
from korch.search.steering import CONES_PER_FORM, NEAR_THE_BEST

_B = Builder()
CONE = Cone.of(_B.graph([("y", _B.input("x", "float32", (4,)) + 1.0)]).primitives)


def kernels(*variants: Variant) -> list[Kernel]:
    return [Kernel(CONE, "any", v, Alias()) for v in variants]


def rows(n: int) -> Variant:
    return Variant("{} rows", numbers=(n,))


def apart(n: int) -> Variant:
    """The other form, which differs in a stage."""
    return replace(rows(n), stages=(StageVariant(Variant("apart {}", numbers=(n,))),))


def taught(*rounds: tuple[float, float]) -> Forms:
    """Of two forms that took so many seconds; inf where one was wrong."""
    forms = Forms()
    for i, times in enumerate(rounds):
        results: list[Result] = [Failed("wrong") if t == inf else Measurement(t) for t in times]
        forms.learn(kernels(rows(i), apart(2 * i)), results)
    return forms


def test_a_form_that_never_comes_near_is_given_up():
    asked = kernels(rows(8), apart(16), Variant("new"))
    for slow in (1.1 * NEAR_THE_BEST, inf):
        assert taught(*[(1.0, slow)] * (CONES_PER_FORM - 1)).worthwhile(asked) == asked
        assert taught(*[(1.0, slow)] * CONES_PER_FORM).worthwhile(asked) == [asked[0], asked[2]]
    assert taught(*[(1.0, 1.1 * NEAR_THE_BEST)] * CONES_PER_FORM, (1.0, 0.9 * NEAR_THE_BEST)).worthwhile(asked) == asked


def test_what_stands_alone_is_never_given_up():
    alone = kernels(apart(16))
    assert taught(*[(1.0, 9.0)] * CONES_PER_FORM).worthwhile(alone) == alone
    forms = Forms()
    for _ in range(CONES_PER_FORM):
        forms.learn(kernels(rows(2), rows(4)), [Failed("wrong"), Failed("wrong")])
    assert forms.worthwhile(kernels(rows(8))) == kernels(rows(8))
