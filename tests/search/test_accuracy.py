"""Which kernels are to blame for an error, and what their ban leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from korch.backends.contract import Kernel
from korch.backends.table import backends
from korch.candidates import enumerate_cones
from korch.ir import Builder, Cone
from korch.machine import Machine
from korch.profile.results import Best, Failed, Measurement
from korch.search.accuracy import ban, culprits, sums
from korch.search.ledger import Ledger, open_ledger
from korch.search.phases import bounds

ROOFLINE = Machine(1, 1e11, ((1 << 40, 1e11),), 1e-8)
ONNXRUNTIME = 1e-7


def profiler_of(errors: Mapping[str, float]) -> Any:
    """Knows what the kernels of each backend err; those of others do not work."""

    def measure(kernels: Sequence[Kernel]) -> list[Measurement | Failed]:
        return [Measurement(1e-6, 0.0, errors[k.backend]) if k.backend in errors else Failed("wrong") for k in kernels]

    return SimpleNamespace(measure=measure, setting=SimpleNamespace(threads=1))


@pytest.fixture
def ledger() -> Ledger:
    """z = relu(x w) summed over its rows; the loops take no product with so few columns."""
    b = Builder()
    x, w = b.input("x", "float32", (8, 32)), b.constant(np.ones((32, 3), np.float32))
    z = b.op("ReduceSum", b.op("Relu", x @ w), axes=(1,), keepdims=1)
    return open_ledger(enumerate_cones(b.graph([("z", z)])), backends(), ROOFLINE)


def chosen(ledger: Ledger, errors: Mapping[str, float]) -> list[int]:
    """The product with its Relu, and the sum, by kernels that err so much."""
    picked = [
        next(i for i, c in enumerate(ledger.cones) if [p.op for p in c.primitives] == ops)
        for ops in (["MatMul", "Relu"], ["ReduceSum"])
    ]
    for i in picked:
        (offer,) = ledger.entry(i).offers
        variant = offer.backend.build(ledger.cones[i], 1)[0].variant
        offer.settle(Best(variant, 1e-6, errors[offer.backend.name]))
    return picked


def blamed(ledger: Ledger, excess: float = 1.5, **errors: float) -> list[list[str]]:
    found = culprits(ledger, chosen(ledger, errors), profiler_of(errors), excess)
    return [[p.op for p in c.cone.primitives] for c in found]


@pytest.mark.onednn
def test_the_worst_kernels_go_and_as_few_as_may(ledger: Ledger):
    assert blamed(ledger, onednn=9e-7, loops=6e-7, onnxruntime=ONNXRUNTIME) == [["MatMul", "Relu"]]
    assert blamed(ledger, 10.0, onednn=9e-7, loops=6e-7, onnxruntime=ONNXRUNTIME) == [["MatMul", "Relu"], ["ReduceSum"]]


@pytest.mark.onednn
def test_what_nothing_else_computes_better_is_not_to_blame(ledger: Ledger):
    assert blamed(ledger, 9.0, onednn=9e-7, loops=6e-7, onnxruntime=8e-7) == []
    assert blamed(ledger, 9.0, onednn=9e-7, loops=1.2e-7, onnxruntime=ONNXRUNTIME) == [["MatMul", "Relu"]]
    assert blamed(ledger, 9.0, onednn=9e-7, loops=6e-7) == [], "without onnxruntime no plan would be sure to stay"


@pytest.mark.onednn
def test_a_ban_is_of_all_that_adds_up_the_same_and_leaves_single_primitives(ledger: Ledger):
    errors = {"onednn": 9e-7, "loops": 1e-7, "onnxruntime": ONNXRUNTIME}
    (culprit,) = culprits(ledger, chosen(ledger, errors), profiler_of(errors), 2.0)
    assert culprit.gain == pytest.approx(8e-7) and str(culprit).startswith(f"{culprit.cone.root.name} by onednn ")
    ban(ledger, [culprit], 1)
    for cone, entry in zip(ledger.cones, ledger.entries, strict=True):
        product = any(p.op == "MatMul" for p in cone.primitives)
        banned = [o for o in entry.offers if o.banned]
        assert [o.backend.name for o in banned] == (["onednn"] if product else [])
        assert not banned or bounds(banned[0]) == inf or banned[0].kernels(cone, 1)
        assert (entry.at(bounds) < inf) or len(cone.primitives) > 1
        if product and len(cone.primitives) == 1:
            assert [o.backend.name for o in entry.offers] == ["onednn", "onnxruntime"]


@pytest.mark.onednn
def test_an_offer_without_its_best_variant_is_measured_again():
    b = Builder()
    x, w = b.input("x", "float32", (1, 16, 12, 12)), b.constant(np.ones((32, 16, 1, 1), np.float32))
    attrs = {"strides": (1, 1), "pads": (0,) * 4, "dilations": (1, 1), "group": 1, "channels_last": 0}
    ledger = open_ledger(enumerate_cones(b.graph([("y", b.op("Conv", x, w, **attrs))])), backends(), ROOFLINE)
    (cone,), (offer,) = ledger.cones, ledger.entry(0).offers
    best, *others = (k.variant for k in offer.kernels(cone, 1))
    assert others, "as a convolution and as a product"
    offer.settle(Best(best, 1e-6))
    offer.in_place = 2e-6
    offer.ban(others[:1])
    assert offer.measured and offer.seconds == 2e-6
    offer.ban([best])
    assert not offer.measured and [k.variant for k in offer.kernels(cone, 1)] == others[1:]


def test_what_errs_are_sums_and_elsewhere_all_that_computes():
    b = Builder()
    x = b.input("x", "float32", (4, 8))
    b.op("Exp", b.op("Transpose", x, perm=(1, 0)))
    cone = Cone.of(b.primitives)
    assert [p.op for p in sums(cone)] == ["Exp"]
