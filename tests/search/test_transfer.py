"""The kernels of a plan found again where the model has other extents."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest

from korch.backends.contract import Variant
from korch.backends.table import backends
from korch.executable.feeds import random_feeds
from korch.fission import fission
from korch.fission.importer import read
from korch.ir.cone import Cone
from korch.machine import Machine
from korch.optimize import optimized
from korch.options import Options
from korch.profile.physics import Physics, Work
from korch.profile.results import Best
from korch.rewrite import add_choices
from korch.search.kinds import Kind
from korch.search.ledger import open_ledger
from korch.search.offers import LedgerEntry, Offer
from korch.search.transfer import SketchStep, TakenOver, covers, found_in, identities, others_for

MACHINE = Machine(1, 1e11, ((1 << 40, 1e11),), 1e-8)
TEXT = """
<ir_version: 8, opset_import: ["": 17]>
g (float[n, 32] x) => (float[n, 16] y)
{ a = MatMul(x, w)  b = Relu(a)  c = MatMul(b, v)  y = Softmax<axis = -1>(c) }
"""


def model() -> onnx.ModelProto:
    made = onnx.parser.parse_model(TEXT)
    rng = np.random.default_rng(0)
    for name, shape in (("w", (32, 64)), ("v", (64, 16))):
        made.graph.initializer.append(onnx.numpy_helper.from_array(rng.standard_normal(shape, np.float32), name))
    return made


def graph_of(n: int):
    return add_choices(fission(read(model(), {"x": (n, 32)})), True)


def test_counterparts_have_one_identity_and_no_other_primitive_has_it():
    short, long = identities(graph_of(8)), identities(graph_of(96))
    assert len(set(long.values())) == len(long)
    alike = {i: p for p, i in short.items()}
    pairs = [(alike[i], p) for p, i in long.items() if i in alike]
    assert len(pairs) >= len(graph_of(8).plain().primitives)
    for one, other in pairs:
        assert (one.op, one.rule) == (other.op, other.rule)
        lengths = zip(one.output.shape, other.output.shape, strict=True)
        assert all(m == n or (m % 8 == 0 and n % 8 == 0) for m, n in lengths)


def test_cones_are_found_again():
    short, long = graph_of(8), graph_of(96)
    names = identities(short)
    cone = Cone.of(short.plain().primitives)
    step = SketchStep("loops", Variant(), tuple(names[p] for p in cone.primitives))
    (found,) = found_in(long, (step,))
    assert [p.op for p in found.primitives] == [p.op for p in cone.primitives] and found.root == long.outputs[0]
    assert covers(long, [found]) and not covers(long, [])
    assert not found_in(long, (SketchStep("loops", Variant(), ("nothing",)),))


def test_what_is_missing_is_made_by_other_cones():
    graph = graph_of(8)
    first, second = (Cone.of([p]) for p in graph.plain().primitives[:2])
    rest = [Cone.of([p]) for p in graph.plain().primitives[2:]]
    others = others_for(graph, [first], [first, second, *rest])
    assert set(others) == {second, *rest} and covers(graph, [first, *others])


@pytest.mark.slow
def test_a_sketch_says_what_kernels_cost_for_their_size(tmp_path: Path):
    program, _, sketch = optimized(model(), Options(1, 3.0, shapes={"x": (16, 32)}), lambda state: None, tmp_path)
    with program:
        for step, known in zip(program.plan.steps, sketch, strict=True):
            assert known.slowness * step.lower == pytest.approx(step.cost)
            assert known.variant == step.kernel.variant


@pytest.mark.parametrize("seconds, reopened", [(1.2e-4, False), (1.5e-4, True)])
def test_a_kernel_that_is_slow_at_the_new_extents_gets_its_rivals_back(seconds: float, reopened: bool):
    graph = graph_of(8)
    cone = Cone.of(graph.plain().primitives[:1])
    own, rival = (Offer(b, 1e-5, Kind(), work=Work(10**5), physics=Physics(1e9)) for b in backends()[:2])
    ledger = replace(open_ledger([], (), MACHINE), cones=(cone,), entries=(LedgerEntry(cone, [own, rival]),))
    variant = Variant("form {}", numbers=(3,))
    step = SketchStep(own.backend.name, variant, (identities(graph)[cone.primitives[0]],), slowness=1.0)
    taken_over = TakenOver(graph, (step,), ledger)
    (entry,) = ledger.entries
    assert entry.offers == [own] and own.sketched == variant and own.estimate.expected == own.lower == 1e-4
    own.settle(Best(variant, seconds))
    assert taken_over.reopened([entry], cost=1e-3) == reopened
    assert (rival in entry.offers) == reopened
    assert not taken_over.reopened([entry], cost=1e-3)  # once


@pytest.mark.parametrize("n", [5, pytest.param(96, marks=pytest.mark.slow)])
def test_a_plan_is_taken_over(n: int, tmp_path: Path):
    first, _, sketch = optimized(model(), Options(1, 1.0, shapes={"x": (16, 32)}), lambda state: None, tmp_path)
    first.close()
    assert sketch
    program, summary, _ = optimized(
        model(), Options(1, 3.0, shapes={"x": (n, 32)}), lambda state: None, tmp_path, sketch
    )
    with program:
        feeds = random_feeds(program.plan.graph)
        found = program.run(feeds)["y"]
        assert found.shape == (n, 16) and summary.passed
        np.testing.assert_allclose(found.sum(1), 1, rtol=1e-4)
