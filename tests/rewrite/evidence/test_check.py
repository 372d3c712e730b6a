"""Every rewrite on its samples: it fires, and what it adds is equal exactly and in float64. Wrong ones are caught."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.examples import examples
from tests.marks import slow_but, slow_but_every
from tests.rewrite.evidence.mutants import Mutant, mutants

from korch.ir.primitive import REASSOCIATED
from korch.rewrite.evidence import Sample, all_samples, all_subjects, check, evidence_of
from korch.rewrite.evidence.table import Transformation
from korch.rewrite.layouts import add_layouts
from korch.rewrite.samples.strips import few_channels
from korch.rewrite.strips import conv_in_strips
from korch.rewrite.table import Rewrite

SAMPLES = all_samples()
HEAVY = ("wide_windows",)
"""Their images have hundreds of tiles: seconds an example."""
draws = st.randoms(use_true_random=False)


@pytest.mark.parametrize("subject", all_subjects(), ids=lambda r: r.name)
def test_every_rewrite_has_a_sample(subject: Transformation):
    assert all_samples(subject), f"a file of rewrite/samples must register a graph on which {subject.name} fires"


@pytest.mark.parametrize(
    "sample",
    slow_but(SAMPLES, [s for s in SAMPLES[::3] if s.name not in HEAVY]),
    ids=lambda s: f"{s.subject.name}-{s.name}",
)
@settings(max_examples=examples(15), deadline=None)
@given(draw=draws, seed=st.integers(0, 2**16))
def test_rewrite(sample: Sample, draw: Random, seed: int):
    finding = check(sample.subject, sample.make(draw), seed)
    assert finding.fired
    assert not finding.numeric, finding.numeric[0]
    if not sample.beyond:
        assert not finding.beyond
        assert not finding.exact, finding.exact[0]


@pytest.mark.slow
def test_no_sample_calls_itself_beyond_the_field_without_need():
    for sample in SAMPLES:
        proved = all(check(sample.subject, sample.make(Random(i)), i).proves for i in range(5))
        assert proved != bool(sample.beyond), sample.name


@pytest.mark.slow
@pytest.mark.parametrize("subject", all_subjects(), ids=lambda r: r.name)
def test_error_classes_are_those_of_what_is_added(subject: Transformation):
    assert evidence_of(subject).error == subject.error


@pytest.mark.parametrize("mutant", slow_but_every(12, mutants()), ids=str)
@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 2**16))
def test_mutants_are_caught_exactly(mutant: Mutant, seed: int):
    finding = check(mutant.rewrite, mutant.make(Random(seed)), seed)
    assert finding.fired and finding.exact and not finding.beyond


@pytest.mark.parametrize("mutant", slow_but_every(12, mutants()), ids=str)
@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 2**16))
def test_mutants_are_caught_in_float64(mutant: Mutant, seed: int):
    assert check(mutant.rewrite, mutant.make(Random(seed)), seed).numeric


def test_a_rewrite_that_does_nothing_proves_nothing():
    finding = check(Rewrite("idle", 1, lambda g: g), few_channels(Random(0)))
    assert not finding.fired and not finding.proves and not finding.sound


def test_evidence_is_what_the_samples_show():
    evidence = evidence_of(add_layouts)
    assert evidence.exact and evidence.numeric and str(evidence) == f"exact + numeric on {evidence.graphs} graphs"
    assert str(evidence_of(Rewrite("unknown", 1, lambda g: g))) == "none"
    assert evidence_of(conv_in_strips).error == REASSOCIATED
