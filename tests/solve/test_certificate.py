"""Certificates hold, and forged ones are rejected by a checker that shares no code with the solver."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import highspy
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples

from korch.errors import SolverError
from korch.solve import checker
from korch.solve.certificate import certify
from korch.solve.highs import Highs
from korch.solve.problem import Candidate, PrimitiveRef, Problem
from korch.system.deadline import Deadline

from .brute_force import budgeted_optimum, budgeted_problem, optimum, random_problem
from .certified import Texts, certificate_of, odd_cycle

KINDS = ({}, {"twins": True, "tensors": 4}, {"loops": True}, {"twins": True, "loops": True, "tensors": 4})


@pytest.fixture(scope="module")
def texts(highs: Highs) -> Texts:
    """Of `odd_cycle`: a fork at k0, and two leaves."""
    return Texts.of(certificate_of(odd_cycle(), highs))


def changed(texts: Texts, at: int, **fields: object) -> Texts:
    """With other fields in a node; None leaves one out."""
    nodes = texts.nodes
    nodes[at] = {k: v for k, v in {**nodes[at], **fields}.items() if v is not None}
    return texts.forged(nodes=nodes)


def edited(texts: Texts, before: str, after: str) -> Texts:
    """With another line in the program."""
    assert before in texts.program
    return Texts(texts.program.replace(before, after, 1), texts.certificate, texts.candidates)


def test_a_certificate_holds_with_a_tree_where_the_relaxation_is_not_enough(texts: Texts, tmp_path: Path):
    assert texts.nodes[0]["fork"] == ["k0"] and len(texts.nodes) == 3
    assert texts.verdict(tmp_path) == "PROVED: no plan of these candidates saves more than 0.0000000% of the cost"
    assert texts.verdict(tmp_path, rows=False).startswith("PROVED: no point of the program saves more than 0.0000000%")


FORGED: dict[str, tuple[Callable[[Texts], Texts], str]] = {
    "bound": (lambda t: t.forged(bound="4.0000001"), "less than the bound 4.0000001"),
    "cost": (lambda t: t.forged(cost="3.9"), "the plan costs 4.0, not 3.9"),
    "plan": (lambda t: t.forged(plan=["k0", "k3", "k8"], cost="2.0"), "the plan breaks row r1"),
    "plan twice": (lambda t: t.forged(plan=["k0", "k0", "k3", "k8"], cost="4.0"), "or one twice"),
    "missing side": (lambda t: changed(t, 0, some=None), "node 0 has no side 'some' below it"),
    "missing node": (lambda t: t.forged(nodes=t.nodes[:2]), "the tree has no node 2"),
    "circle": (lambda t: changed(t, 0, none=0), "node 0 has no side 'none' below it"),
    "leaf for a fork": (lambda t: changed(t, 0, fork=None, rows={}, sides=[]), "leaf 0 proves 0.0"),
    "sign of a row": (lambda t: changed(t, 1, rows={"r0": -2.0}), "a multiplier of row r0 has a wrong sign"),
    "sign of a dependency": (lambda t: changed(t, 1, rows={"r6": 2.0}), "a multiplier of row r6 has a wrong sign"),
    "sign of a side": (lambda t: changed(t, 1, sides=[2.0]), "a multiplier of a side has a wrong sign"),
    "side of another leaf": (lambda t: changed(t, 2, sides=[]), "not one multiplier for each side"),
    "weaker multipliers": (lambda t: changed(t, 2, rows={"r1": 1.0}), "less than the bound"),
    "unknown row": (lambda t: changed(t, 2, rows={"r99": 1.0}), "unknown row r99"),
    "unknown fork": (lambda t: changed(t, 0, fork=["k77"]), "node 0 forks at unknown columns"),
    "cheaper plan": (lambda t: edited(t, " k0 cost 2.0", " k0 cost 1.0"), "the plan costs 3.0, not 4.0"),
    "negative cost": (lambda t: edited(t, " k2 cost 2.0", " k2 cost -2.0"), "a cost is negative"),
    "not binary": (lambda t: edited(t, " BV BOUND k2", " UP BOUND k2 1"), "unexpected line: UP BOUND k2 1"),
    "no bound": (lambda t: edited(t, " BV BOUND k2\n", ""), "not every column is binary"),
    "ranges": (lambda t: edited(t, "BOUNDS", "RANGES"), "unexpected line"),
    "nothing": (lambda t: Texts("", t.certificate, t.candidates), "a file cannot be read"),
    "no number": (lambda t: t.forged(bound="nan"), "a file cannot be read"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_certificate_is_rejected(name: str, texts: Texts, tmp_path: Path):
    forge, words = FORGED[name]
    verdict = forge(texts).verdict(tmp_path)
    assert verdict.startswith("REJECTED: ") and words in verdict


def test_limits_are_limits_and_plans_run(texts: Texts, tmp_path: Path):
    claims = json.loads(texts.candidates)

    def verdict(**fields: object) -> str:
        return Texts(texts.program, texts.certificate, json.dumps({**claims, **fields})).verdict(tmp_path)

    assert "row r6 is no limit" in verdict(limits=["r6"])
    assert "does not make all outputs" in verdict(outputs=["y0", "z"])
    loop = [{**k, "reads": ["y0"]} if k["makes"] == "a" else k for k in claims["candidates"]]
    assert "kernels of the plan wait for each other" in verdict(candidates=loop)
    freed = [{**k, "reads": []} if k["name"] == "k8" else k for k in claims["candidates"]]
    assert "row r11 does not follow from the candidates" in verdict(candidates=freed)
    assert "not the columns of the program" in verdict(candidates=claims["candidates"][:-1])


@settings(max_examples=examples(8), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.data())
def test_the_bound_is_the_optimum_and_none_above_it_is_accepted(
    highs: Highs, tmp_path_factory: pytest.TempPathFactory, seed: int, kind: dict, data: st.DataObject
):
    p, folder = random_problem(seed, **kind), tmp_path_factory.mktemp("certificate")
    try:
        best = 1e6 * optimum(p)
        c = certificate_of(p, highs)
    except SolverError:
        assert optimum(p) == np.inf
        return
    assert c.bound == pytest.approx(best, rel=1e-8) and c.bound <= best * (1 + 1e-15)
    texts = Texts.of(c)
    assert texts.verdict(folder).startswith("PROVED: no plan")
    nodes = texts.nodes
    for node in nodes:
        for row in node.get("rows", {}):
            node["rows"][row] *= data.draw(st.sampled_from((0.0, 0.5, 1.0, 1.0, 2.0, -1.0)))
    assert texts.forged(bound=str(best * (1 + 1e-7)), nodes=nodes).verdict(folder).startswith("REJECTED")


@pytest.mark.parametrize("seed", [1, 5])
def test_limits_of_error_count(seed: int, highs: Highs, tmp_path: Path):
    p = budgeted_problem(seed, budgets=2)
    c = certificate_of(p, highs)
    assert c.bound == pytest.approx(1e6 * budgeted_optimum(p), rel=1e-8)
    assert budgeted_optimum(p) > optimum(p)
    texts = Texts.of(c)
    assert texts.verdict(tmp_path).startswith("PROVED: no plan")
    without = json.dumps({**json.loads(texts.candidates), "limits": []})
    assert "does not follow" in Texts(texts.program, texts.certificate, without).verdict(tmp_path)


def test_without_time_nothing_is_claimed(highs: Highs, tmp_path: Path):
    c = certify(odd_cycle(), (0, 1, 3, 5, 8), deadline=Deadline.after(-1), highs=highs)
    assert c.bound == 0 and c.gap == 1
    assert (
        Texts.of(c).verdict(tmp_path) == "PROVED: no plan of these candidates saves more than 100.0000000% of the cost"
    )


def test_what_is_no_plan_has_no_certificate(highs: Highs):
    with pytest.raises(SolverError, match="the plan is incomplete"):
        certify(odd_cycle(), (0, 3), deadline=Deadline.after(9), highs=highs)


def test_other_solvers_read_the_program(texts: Texts, tmp_path: Path):
    (tmp_path / "program.mps").write_text(texts.program)
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    assert solver.readModel(str(tmp_path / "program.mps")) == highspy.HighsStatus.kOk
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(4.0)


def test_costs_add_up_exactly(highs: Highs, tmp_path: Path):
    """1e10 + 1e-7 microseconds: no float64, and not what 28 digits hold."""
    costs = (1e4, 1.23456789e-13, 1e-25)
    refs = tuple(PrimitiveRef(i, f"t{i}", ()) for i in range(3))
    kernels = tuple(Candidate(i, f"t{i}", (), frozenset({i}), c) for i, c in enumerate(costs))
    c = certificate_of(Problem(("t0", "t1", "t2"), refs, kernels), highs)
    assert Fraction(c.cost) == sum(Fraction(repr(x * 1e6)) for x in costs) != Fraction(float(c.cost))
    assert Texts.of(c).verdict(tmp_path).startswith("PROVED")


def test_the_checker_needs_python_alone():
    tree = ast.parse(Path(checker.__file__).read_text())
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {node.module or "korch" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {n.split(".")[0] for n in names} <= sys.stdlib_module_names
