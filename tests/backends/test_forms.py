"""Kernel forms of the loops: found by scanning, and one for each cone."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from korch.backends.cpu.loops import forms
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.form import PlacedForm
from korch.backends.cpu.loops.forms import all_forms, form_of
from korch.ir import Cone

from . import (
    cones,
    test_loops_half_weights,
    test_loops_integers,
    test_loops_narrow,
    test_loops_products,
    test_loops_strassen,
    test_loops_winograd,
    test_loops_winograd_blocks,
)

EVERY: list[Cone] = [
    *cones.CONES.values(),
    *cones.DEPTHWISE,
    *cones.DIRECT,
    *cones.PLANAR,
    *test_loops_half_weights.CONES.values(),
    *test_loops_integers.CONES,
    *test_loops_narrow.CONES,
    *test_loops_products.CONES.values(),
    *test_loops_strassen.CONES,
    *test_loops_winograd.CONES,
    *test_loops_winograd_blocks.CONES,
]
FORMS: dict[str, Cone] = {
    "LoopNestForm": cones.CONES["softmax last"],
    "DepthwiseForm": cones.DEPTHWISE[0],
    "IntegerForm": test_loops_integers.CONES[0],
    "HalfWeightsForm": test_loops_half_weights.CONES["row"],
    "NarrowForm": test_loops_narrow.CONES[0],
    "DirectForm": cones.DIRECT[0],
    "PlanarForm": cones.PLANAR[0],
    "ProductForm": test_loops_products.CONES["behind"],
    "ConcatenationForm": test_loops_products.detected((1, 5, 6, 16), 16, first=False),
    "TransformForm": test_loops_strassen.CONES[0],
    "WinogradForm": test_loops_winograd_blocks.CONES[0],
}
"""A cone of each form, by the name of its class."""
PLACED = {"LoopNestForm", "ProductForm", "ConcatenationForm", "DepthwiseForm"}


def names(found: object) -> str:
    return type(found).__name__


def test_every_file_defines_a_form():
    assert len(all_forms()) == len({*Path(forms.__path__[0]).glob("*.py")}) - 1
    assert {*map(names, all_forms())} == {*FORMS}


@pytest.mark.parametrize("name", FORMS)
def test_each_form_builds_its_cones(name: str):
    form = form_of(FORMS[name])
    assert names(form) == name and BACKEND.refuses(FORMS[name]) is None
    assert isinstance(form, PlacedForm) is (name in PLACED)


def test_forms_of_one_priority_match_different_cones():
    """So the order of files does not decide."""
    for cone in EVERY:
        priorities = Counter(form.priority for form in all_forms() if form.matches(cone))
        assert max(priorities.values()) == 1, cone
