"""What a choice is worth, on costs that are made up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from korch.backends.table import backends
from korch.ir import Builder, Cone, Graph, Primitive, Tensor
from korch.ir.ops.winograd import BOTH
from korch.ir.primitive import REASSOCIATED
from korch.machine import Machine
from korch.search.choices import choices, label
from korch.search.kinds import Kind
from korch.search.ledger import Ledger, open_ledger
from korch.search.offers import LedgerEntry, Offer


def offered() -> tuple[Graph, list[Cone]]:
    """y = x * x, or y = -m with m = -x * x (two kernels, or one); z = y + x."""
    b = Builder()
    x = b.input("x", "float32", (8,))
    y = x * x
    plain = b.graph([("z", y + x)])
    mul, add = plain.primitives
    m = Tensor("m", "float32", (8,))
    chain = [
        Primitive("Sub", mul.inputs, m, (), REASSOCIATED, rule="negated"),
        Primitive("Neg", (m,), mul.output, (), REASSOCIATED, rule="negated"),
    ]
    sub, neg = chain
    return plain.add(chain), [Cone.of(c) for c in ([mul], [sub], [neg], [sub, neg], [add], [mul, add])]


def ledger_of(cones: list[Cone], costs: list[float], unmeasured: int | None = None) -> Ledger:
    offers = [
        Offer(backends()[0], c * 1e-6, Kind(), alone=None if i == unmeasured else c * 1e-6) for i, c in enumerate(costs)
    ]
    entries = tuple(LedgerEntry(c, [o]) for c, o in zip(cones, offers, strict=True))
    return replace(open_ledger([], (), Machine(1, 1e11, ((1 << 40, 1e11),), 1e-8)), cones=tuple(cones), entries=entries)


@pytest.mark.parametrize(
    ("costs", "margin"),
    [
        ((5, 2, 4, 5.5, 1, 9), 0.5),
        ((5, 2, 4, 7, 1, 9), 1.0),
        ((5, 2, 4, 7, 1, 1), 1.0),
    ],
)
def test_the_cheapest_way_around_a_choice(costs: list[float], margin: float):
    graph, cones = offered()
    (choice,) = choices(graph, ledger_of(cones, costs), (0, 4))
    assert choice.picked == ("as written: Mul",) and choice.others == ("negated: Neg",) == choice.instead
    assert choice.margin == pytest.approx(margin * 1e-6) and choice.measured


def test_what_is_not_measured_is_told():
    graph, cones = offered()
    (choice,) = choices(graph, ledger_of(cones, [5, 2, 4, 5.5, 1, 9], unmeasured=3), (0, 4))
    assert choice.margin == pytest.approx(0.5e-6) and not choice.measured


def test_where_nothing_else_fits_there_is_no_margin():
    graph, cones = offered()
    inf = float("inf")
    (choice,) = choices(graph, ledger_of(cones, [5, inf, 4, inf, 1, 9]), (0, 4))
    assert choice.margin is None and not choice.instead


def test_inside_a_kernel_a_choice_is_replaced_with_the_kernel():
    """mul and add in one kernel at 5.5: without mul, sub and neg at 5.2 and add at 1 must come in."""
    graph, cones = offered()
    (choice,) = choices(graph, ledger_of(cones, [5, 2, 4, 5.2, 1, 5.5]), (5,))
    assert choice.margin == pytest.approx(0.7e-6)


@pytest.mark.parametrize(("tile", "stride", "form"), [(4, 1, "F(4, 3)"), (3, 2, "F(3, 3) at stride 2")])
def test_winograds_forms_are_told_apart(tile: int, stride: int, form: str):
    b = Builder()
    v = b.op(
        "WinogradInput",
        b.input("x", "float32", (1, 8, 8, 4)),
        tile=tile,
        kernel=3,
        stride=stride,
        along=BOTH,
        pads=(0,) * 4,
    )
    (p,) = b.graph([("v", v)]).primitives
    assert label(p) == f"as written: WinogradInput, {form}"


def test_strassens_chain_has_its_name():
    m, y = Tensor("m", "float32", (7, 4, 8)), Tensor("y", "float32", (8, 16))
    p = Primitive("StrassenOutput", (m,), y, (("shape", y.shape),), rule="strassen")
    assert label(p) == "strassen: StrassenOutput"
