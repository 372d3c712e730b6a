"""Gains to the outputs, where they are known."""

from __future__ import annotations

import numpy as np
import pytest

from korch.errors import ModelError
from korch.executable.feeds import random_feeds
from korch.ir import Builder
from korch.numerics import probes
from korch.numerics.probes import Probes
from korch.system.deadline import NEVER


def test_the_gain_is_the_largest_change_of_the_largest_magnitude():
    """y = 4 t, z = t: one unit of normal noise in t changes 4096 values by 3 to 5 units at most."""
    b = Builder()
    t = b.op("Tanh", b.input("x", "float32", (64, 64)))
    graph = b.graph([("y", t * 4.0), ("z", t + 0.0)])
    feeds = random_feeds(graph)
    (t_,) = [p.output for p in graph.primitives if p.op == "Tanh"]
    found = Probes(graph, [t_], [], feeds)
    y, z = found.all_gains(NEVER)[t_]
    largest = np.abs(np.tanh(feeds["x"])).max()
    assert 3 < y * largest < 5.5 and y == pytest.approx(z, rel=1e-2)
    assert found.values[t_] == pytest.approx(np.tanh(feeds["x"]), rel=1e-5)


def test_a_model_that_onnxruntime_refuses_is_an_error(monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object) -> None:
        raise RuntimeError("no such operator\nat all")

    b = Builder()
    graph = b.graph([("y", b.op("Tanh", b.input("x", "float32", (4,))))])
    monkeypatch.setattr(probes, "plain_session", refused)
    with pytest.raises(ModelError, match="cannot run the model: no such operator"):
        Probes(graph, [graph.outputs[0]], [], random_feeds(graph))
