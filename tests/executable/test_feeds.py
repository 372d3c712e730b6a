"""Random inputs for whole models."""

from __future__ import annotations

import numpy as np
import pytest

from korch.executable.feeds import random_feeds
from korch.ir import Builder


@pytest.mark.parametrize("length", [1, 2, 5])
def test_integers_are_indices_of_what_they_index(length: int):
    """A table of token types may have one row."""
    b = Builder()
    table, i = b.input("table", "float32", (length, 3)), b.input("i", "int64", (50,))
    graph = b.graph([("y", b.op("Take", table, b.op("Reshape", i, shape=(5, 10)), axis=0, batch=0))])
    found = random_feeds(graph)["i"]
    assert found.dtype == np.int64 and set(found) == set(range(min(length, 2)))


def test_other_integers_are_0_and_1():
    b = Builder()
    i = b.input("i", "int32", (50,))
    assert set(random_feeds(b.graph([("y", i + i)]))["i"]) == {0, 1}
