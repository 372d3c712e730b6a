"""Constants by name: which are folded at once, and which when they are asked for."""

from __future__ import annotations

import numpy as np

from korch.ir import Builder
from korch.ir.builder import Value
from korch.ir.constants import SMALL, Constants, Derived, Folded

CODES = np.random.default_rng(0).integers(0, 256, (2, SMALL)).astype(np.uint8)


def entry_of(v: Value) -> np.ndarray | Derived:
    return v.builder.constants.entry(v.tensor.name)


def test_growing_constants_are_folded_when_they_are_asked_for():
    b = Builder()
    wide = b.op("Cast", b.constant(CODES), to="float32") * 0.5
    entry = entry_of(wide)
    assert isinstance(entry, Folded) and entry.primitive.op == "Mul"
    assert CODES.nbytes <= entry.sources < CODES.nbytes + 16
    np.testing.assert_array_equal(wide.array, CODES.astype(np.float32) * 0.5)
    assert b.op("Cast", b.constant(CODES, name="again"), to="float32").array is not None


def test_others_are_folded_at_once():
    b = Builder()
    few, same = b.constant(CODES[:, : SMALL // 64]), b.constant(CODES)
    assert isinstance(entry_of(b.op("Cast", few, to="float32")), np.ndarray)
    assert isinstance(entry_of(b.op("Transpose", same, perm=(1, 0))), np.ndarray)


def test_equal_ones_are_one():
    b = Builder()
    codes = b.constant(CODES)
    assert b.op("Cast", codes, to="float32").tensor == b.op("Cast", codes, to="float32").tensor


def test_a_selection_computes_nothing():
    def never() -> np.ndarray:
        raise AssertionError("computed")

    constants = Constants({"a": Derived(never), "b": CODES})
    assert list(constants.only({"a"})) == ["a"]
    constants["c"] = constants.entry("a")
    del constants["b"]
    assert len(constants) == 2
