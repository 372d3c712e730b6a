"""Variants: their text, which keys and labels hold, and what they are compared by."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from korch.backends.contract import StageVariant, Variant

TILED = Variant("{}x{} w{}", "tf32", (64, 32, 4))
CHAIN = Variant(
    "{} rows by {}", numbers=(8, 2), stages=(StageVariant(TILED, "triton"), StageVariant(Variant(), "loops"))
)
TEXTS = {
    "": Variant(),
    "fp16": Variant(precision="fp16"),
    "conv jit": Variant("conv jit"),
    "tf32 64x32 w4": TILED,
    "8 rows by 2: triton tf32 64x32 w4, loops": CHAIN,
    "split 7, b32": Variant(stages=(StageVariant(Variant("split {}", numbers=(7,))), StageVariant(Variant("b32")))),
}


@pytest.mark.parametrize("text", TEXTS)
def test_the_text_has_numbers_in_their_places_and_stages_last(text: str):
    assert str(TEXTS[text]) == text


@pytest.mark.parametrize("variant", TEXTS.values(), ids=str)
def test_fields_come_back_from_json(variant: Variant):
    assert Variant.from_json(json.loads(json.dumps(variant.to_json()))) == variant


@pytest.mark.parametrize("fields", ["conv", ["conv"], {"form": "conv"}, {**TILED.to_json(), "more": 1}], ids=str)
def test_other_fields_are_refused(fields):
    with pytest.raises((KeyError, TypeError)):
        Variant.from_json(fields)


def test_variants_that_differ_in_sizes_only_are_one_without_their_numbers():
    larger = replace(TILED, numbers=(128, 64, 8))
    chain = replace(CHAIN, numbers=(4, 1), stages=(StageVariant(larger, "triton"), CHAIN.stages[1]))
    assert larger.unsized == TILED.unsized and chain.unsized == CHAIN.unsized
    others = (replace(TILED, form="{}x{}"), replace(TILED, precision="tf32x3"), Variant(), CHAIN)
    assert all(other.unsized != TILED.unsized for other in others)
    assert replace(CHAIN, stages=(StageVariant(TILED, "vendor"), CHAIN.stages[1])).unsized != CHAIN.unsized
