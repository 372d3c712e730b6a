"""Loops in native code give the bits that their iterations give one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from tests.session.test_segmenting import LOOP, MODELS, OPTIONS, SCAN, WHILE, feeds_of

from korch.executable import iteration
from korch.executable.control import Control
from korch.executable.iteration import Iteration
from korch.session import segmenting
from korch.session.segmenting import segmented

UNREAD = WHILE.replace("m = MatMul(s, w)", "m = MatMul(e, w)").replace("next = Add(s, a)", "next = Add(e, a)")
SLOW = WHILE.replace("limit = {40}", "limit = {3000}")
LOOPS = {
    "counted": LOOP,
    "while": WHILE,
    "of many iterations": SLOW,
    "scan": SCAN,
    "of one iteration": UNREAD.replace("Less", "Greater").replace("{40}", "{1000000}"),
}


@pytest.mark.slow
@pytest.mark.parametrize("rooms", [1, 3, 256])
@pytest.mark.parametrize("name", LOOPS)
def test_native_loops_give_the_bits_of_single_iterations(name: str, rooms: int, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(segmenting, "race", lambda runs: [2.0, 1.0])
    monkeypatch.setattr(iteration, "FIRST_ROWS", rooms)
    model = onnx.parser.parse_model(LOOPS[name])
    with segmented(model, OPTIONS, lambda state: None, tmp_path)[0] as program:
        (control,) = [p for p in program.parts if isinstance(p, Control)]
        before = program.parts[: program.parts.index(control)]
        for seed in range(2):
            values = dict(feeds_of(model, seed))
            for part in before:
                values |= part.run(values, 1)
            found, expected = control.by_blocks(values, 1), control.by_blocks(values, 1, lambda block, values: None)
            assert control._iteration and control._iteration.fits
            for n, x in expected.items():
                assert found[n].shape == x.shape and found[n].tobytes() == x.tobytes()


@pytest.mark.slow
def test_a_body_of_other_shapes_is_run_one_by_one(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(segmenting, "race", lambda runs: [2.0, 1.0])
    model = onnx.parser.parse_model(MODELS["growing"])
    with segmented(model, OPTIONS, lambda state: None, tmp_path)[0] as program:
        (control,) = [p for p in program.parts if isinstance(p, Control)]
        y = program.run({"x": np.ones((1, 8), np.float32), "n": np.array(4)})["y"]
        assert y.shape == (5, 8) and not (control._iteration and control._iteration.fits)


def test_state_that_changes_places_does_not_fit(tmp_path: Path):
    class Program:
        inputs = outputs = ()

    assert not Iteration.of(Program(), ("i", "going", "a", "b"), ("going", "b", "a"), 2, 0).fits  # pyright: ignore
