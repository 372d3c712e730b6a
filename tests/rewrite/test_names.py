"""What a rewrite adds is new: none of its tensors is one of the model's that happens to be called the same."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from korch.ir import Graph, Tensor
from korch.ir.constants import Constants
from korch.rewrite.evidence import Sample, all_samples
from korch.rewrite.names import names_of, new_name, next_name
from korch.rewrite.table import Rewrite

SAMPLES = [s for s in all_samples() if isinstance(s.subject, Rewrite)]


def new_tensors(plain: Graph, graph: Graph) -> set[Tensor]:
    """What the producers behind those of `plain` make and read that `plain` has no name for."""
    added = graph.primitives[len(plain.primitives) :]
    return {t for p in added for t in (*p.inputs, p.output) if t.name not in names_of(plain)}


def test_names_are_numbered_where_they_are_taken():
    taken = {"x", "x_nhwc"}
    assert new_name("y_nhwc", taken) == "y_nhwc"
    assert len({new_name("x_nhwc", taken) for _ in range(3)} - {"x_nhwc"}) == 3
    assert next_name("t", taken) in taken


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: f"{s.subject.name}-{s.name}")
def test_rewrites_take_no_names_that_there_are(sample: Sample):
    """The same model again, with inputs and constants called as all that the rewrite added to it."""
    assert isinstance(sample.subject, Rewrite)
    plain = sample.make(Random(0))
    first = new_tensors(plain, sample.subject(plain))
    inputs = sorted((t for t in first if not t.const), key=lambda t: t.name)
    constants = {t.name: np.full(t.shape, 77, t.dtype) for t in first if t.const}
    crowded = replace(plain, inputs=(*plain.inputs, *inputs), constants=Constants(plain.constants, constants))
    graph = sample.subject(crowded)
    assert len(new_tensors(crowded, graph)) == len(first)
    assert not first & {t for p in graph.primitives for t in (*p.inputs, p.output)}
    assert all((graph.constants[name] == 77).all() for name in constants)
