"""Estimated errors of loose primitives beside those that a run shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph, Primitive
from korch.ir.primitive import APPROXIMATE
from korch.numerics.estimate import ErrorEstimate, estimated, sample
from korch.numerics.loose import loose_primitives, with_landings
from korch.system.deadline import NEVER, Deadline

from .loose_runs import convolutions, measured_error, products


def estimate_of(graph: Graph, until: Deadline = NEVER) -> ErrorEstimate:
    found = estimated(graph, random_feeds(graph), until)
    assert found
    return found


def by_tile(graph: Graph, tile: int) -> list[Primitive]:
    return [p for p in loose_primitives(graph) if p.attr("tile") == tile]


@pytest.mark.parametrize("tile", [2, 4])
@pytest.mark.parametrize("layers", [slice(0, 1), slice(0, 3)], ids=["first", "all"])
def test_winograd_errs_as_estimated(tile: int, layers: slice):
    graph = convolutions()
    loose = by_tile(graph, tile)[layers]
    measured = measured_error(graph, random_feeds(graph), loose)
    assert measured / 3 < estimate_of(graph).errors(loose)[0] < 3 * measured


def test_strassen_errs_as_estimated():
    graph = products()
    loose = loose_primitives(graph)
    assert len(loose) == 2
    measured = measured_error(graph, random_feeds(graph), loose)
    assert measured / 3 < estimate_of(graph).errors(loose)[0] < 3 * measured


def test_larger_tiles_err_more_and_errors_add_as_squares():
    graph = convolutions()
    found = estimate_of(graph)
    (small,), (large,) = (found.errors(by_tile(graph, tile)) for tile in (2, 4))
    assert small < large
    squares = [found.squares[p][0] for p in by_tile(graph, 4)]
    assert large == pytest.approx(sum(squares) ** 0.5)
    assert found.scaled({"y": 3.0}).errors(by_tile(graph, 4)) == (large,), "no output tensor has that name"
    (output,) = found.outputs
    assert found.scaled({output.name: 3.0}).errors(by_tile(graph, 4)) == pytest.approx((3 * large,))


def test_tensors_that_time_leaves_out_take_the_gains_of_their_neighbours():
    graph = convolutions(4)
    whole, hurried = estimate_of(graph), estimate_of(graph, Deadline(0.0))
    for p in by_tile(graph, 4):
        assert whole.squares[p][0] / 9 < hurried.squares[p][0] < 9 * whole.squares[p][0]


def test_without_loose_primitives_there_is_no_estimate():
    assert estimated(convolutions().plain(), random_feeds(convolutions()), NEVER) is None


def test_where_a_float_decides_something_there_is_no_estimate():
    """Noise that moves a value over a step is as large as the step, however small it was."""
    b = Builder()
    x = b.input("x", "float32", (64,))
    y = b.op("Tanh", x)
    graph = b.graph([("y", b.op("Round", y * 100.0))])
    tanh = graph.primitives[0]
    graph = graph.add([Primitive("Erf", (x.tensor,), tanh.output, (), APPROXIMATE, rule="crude")])
    assert loose_primitives(graph) and estimated(graph, random_feeds(graph), NEVER) is None


def test_a_merged_value_errs_where_it_is_read():
    """m = [x v, x w] has a loose producer; the model has its halves only."""
    b, rng = Builder(), np.random.default_rng(0)
    x = b.input("x", "float32", (8, 16))
    weights = [rng.standard_normal((16, 4)).astype(np.float32) for _ in range(2)]
    y, z = (x @ b.constant(w) for w in weights)
    m = x @ b.constant(np.concatenate(weights, 1))
    halves = [b.op("Slice", m, starts=(0, s), lengths=(8, 4), steps=(1, 1)) for s in (0, 4)]
    whole = b.graph([("y", y), ("z", z), ("first", halves[0]), ("second", halves[1])])
    instead = dict(zip(whole.outputs[2:], whole.outputs[:2], strict=True))
    written = [p for p in whole.primitives if p.output in whole.outputs[:2]]
    more = [replace(p, output=instead.get(p.output, p.output), rule="m") for p in whole.primitives if p not in written]
    crude = replace(more[0], error=APPROXIMATE, rule="crude")
    parts = {"outputs": whole.outputs[:2], "output_names": ("y", "z"), "primitives": tuple(written)}
    graph = replace(whole, **parts).add([*more, crude])
    (loose,) = with_landings(graph, loose_primitives(graph))
    assert loose.primitive.rule == "crude" and [x.at for x in loose.landings] == list(graph.outputs)
    assert all(0 < e < 1e-5 for e in estimate_of(graph).errors([crude]))


def test_samples_hold_all_of_short_axes_and_runs_of_long_ones():
    rows, columns = sample((5, 1000))
    assert rows.tolist() == [0, 1, 2, 3, 4] and len(columns) == 64 and (np.diff(columns)[:31] == 1).all()
    assert [len(at) for at in sample((3, 1000, 1000, 1000))] == [3, 8, 8, 8]
