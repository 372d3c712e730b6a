"""Latency against error: which plans are kept, and a whole search."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from tests.numerics.loose_runs import convolutions

from korch.errors import Error
from korch.ir import Builder
from korch.ir.onnx_write import graph_to_onnx
from korch.optimize import frontier
from korch.options import Options
from korch.report.tradeoffs import HEIGHT, chart, table
from korch.search.tradeoffs import TradeOff, undominated

FAST = TradeOff(1e-4, 4e-6, 3e-6, 1.0, 1.1, 20, 3)
EXACT = TradeOff(1e-6, 0.0, 2e-7, 2.0, 2.2, 24, 0)


def test_plans_that_others_beat_in_both_are_left_out():
    middle = replace(FAST, estimated_error=2e-6, predicted_ms=1.5)
    beaten = replace(FAST, estimated_error=3e-6, predicted_ms=1.6)
    equal = replace(middle, error=5e-6)
    found = undominated([FAST, beaten, EXACT, middle, equal])
    assert found == (FAST, middle, EXACT)
    assert undominated([FAST, replace(EXACT, predicted_ms=0.9)]) == (replace(EXACT, predicted_ms=0.9),)


def test_the_table_has_a_line_for_each_plan():
    lines = table([FAST, replace(EXACT, measured_ms=None)]).splitlines()
    assert lines[1].split() == ["4.0e-06", "3.0e-06", "1.0e-04", "1.000", "1.100", "3", "of", "20"]
    assert len(lines) == 3 and lines[2].split()[4] == "-"


def test_the_chart_goes_from_the_exact_and_slow_to_the_fast():
    lines = chart([FAST, EXACT]).splitlines()
    rows = [i for i, line in enumerate(lines) if line.endswith("o")]
    assert len(rows) == 2 and rows[1] - rows[0] == HEIGHT
    assert lines[rows[0]].index("o") < lines[rows[1]].index("o")
    assert chart([FAST]).count("o |") == 0, "a single plan has a range, too"


@pytest.mark.slow
def test_a_model_without_loose_primitives_has_no_frontier(tmp_path: Path):
    b = Builder()
    model = graph_to_onnx(b.graph([("y", b.op("Relu", b.input("x", "float32", (8,))))]))
    with pytest.raises(Error, match="no primitive whose rounding can be traded"):
        frontier(model, Options(threads=1, time_budget=5), lambda state: None, tmp_path)


@pytest.mark.slow
def test_more_exact_plans_take_longer(tmp_path: Path):
    model = graph_to_onnx(convolutions().plain())
    program, found = frontier(model, Options(threads=1, time_budget=60), lambda state: None, tmp_path)
    with program:
        assert program.plan.accuracy and program.plan.accuracy.passed
        assert len(program.plan.steps) == found[0].kernels
    for fast, slow in pairwise(found):
        assert fast.predicted_ms < slow.predicted_ms and fast.estimated_error > slow.estimated_error
    for x in found:
        assert x.estimated_error <= x.allowed and (not x.loose or x.error < 10 * x.estimated_error)
