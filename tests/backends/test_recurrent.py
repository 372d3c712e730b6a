"""Recurrences as generated C against the float64 reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.marks import Part, parts

from korch.backends.contract import Refusal
from korch.backends.cpu.loops.tile import Registers
from korch.backends.cpu.recurrent import emit
from korch.backends.cpu.recurrent.backend import BACKEND
from korch.executable import Executable
from korch.executable.plan import Plan, Step
from korch.ir import Builder, Cone, Graph
from korch.ir.ops.recurrent import GATES, REVERSED
from korch.profile.inputs import leaf_arrays

from .measured import MANY_THREADS, measured, wrong


def recurrence(
    kind: str,
    steps: int = 5,
    batch: int = 1,
    hidden: int = 32,
    direction: str = "forward",
    cells: int = 0,
    relu: int = 0,
    constant: bool = True,
) -> Cone:
    b, directions = Builder(), len(REVERSED[direction])
    width = GATES[kind] * hidden
    x = b.input("x", "float32", (steps, batch, directions, width))
    weights = np.random.default_rng(0).standard_normal((directions, width, hidden)).astype(np.float32)
    r = b.constant(weights) if constant else b.input("r", "float32", weights.shape)
    state = b.input("h", "float32", (directions, batch, hidden))
    more = [b.input("c", "float32", state.shape)] if kind == "LSTM" else []
    more += [b.input("b", "float32", (directions, hidden))] if kind == "GRU" else []
    y = b.op("Recurrence", x, r, state, *more, kind=kind, direction=direction, cells=cells, relu=relu)
    return Cone.of(b.graph([("y", y)]).primitives)


CONES = [
    *(
        recurrence(kind, direction=direction, batch=batch)
        for kind in GATES
        for direction in REVERSED
        for batch in (1, 3)
    ),
    *(
        recurrence(kind, hidden=hidden, batch=batch)
        for kind in GATES
        for hidden, batch in ((2, 1), (7, 2), (16, 1), (31, 5), (33, 1), (64, 37))
    ),
    recurrence("LSTM", cells=1),
    recurrence("LSTM", cells=1, direction="bidirectional", batch=2, hidden=20),
    recurrence("LSTM", cells=1, direction="reverse", steps=1),
    recurrence("RNN", relu=1, hidden=18, batch=9),
    recurrence("GRU", steps=70, hidden=48),
]


@pytest.mark.parametrize("threads", MANY_THREADS)
@pytest.mark.parametrize("part", parts(4), ids=str)
def test_right(part: Part, threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, part(CONES), threads, tmp_path))


@pytest.mark.slow
def test_narrow_vectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(emit, "registers", lambda: Registers(16, 8))
    assert not wrong(measured(BACKEND, CONES, 2, tmp_path))


def test_directions_one_behind_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """As where the weights of both do not stay in a cache."""
    monkeypatch.setattr(emit, "L2", 0)
    assert not wrong(measured(BACKEND, [recurrence("LSTM", direction="bidirectional")], 2, tmp_path))


def test_refused_with_a_reason():
    b = Builder()
    alone = BACKEND.refuses(Cone.of(b.graph([("y", b.op("Exp", b.input("x", "float32", (3,))))]).primitives))
    computed, single = recurrence("RNN", constant=False), recurrence("LSTM", hidden=1)
    answers = (alone, BACKEND.refuses(computed), BACKEND.refuses(single))
    for refusal, reason in zip(answers, ("one recurrence", "computed", "one number"), strict=True):
        assert isinstance(refusal, Refusal) and reason in refusal.reason


@pytest.mark.parametrize(
    "cone",
    [recurrence("LSTM", batch=2), recurrence("RNN", batch=4), recurrence("GRU", batch=37)],
    ids=["LSTM", "RNN", "GRU"],
)
def test_whoever_takes_which_part_of_the_work_the_bits_are_the_same(cone: Cone):
    names = [t.name for t in cone.leaves]
    values = dict(zip(names, leaf_arrays(cone), strict=True))
    constants = {t.name: values[t.name] for t in cone.leaves if t.const}
    inputs = tuple(t for t in cone.leaves if not t.const)
    graph = Graph("g", inputs, (cone.root,), ("y",), cone.primitives, constants)
    found = list[bytes]()
    for threads in (1, 2, 3):
        for kernel in BACKEND.build(cone, threads):
            with Executable.link(Plan(graph, (Step.of(kernel, 1e-6, None),), threads, "default", 1e-6, 0.0)) as e:
                found.append(e.run({t.name: values[t.name] for t in inputs})["y"].tobytes())
    assert len(found) > 3 and len(set(found)) == 1
