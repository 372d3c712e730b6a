"""The fuzzer: it draws every operator, finds what is wrong, and makes it small; and some of its models, each by random
plans."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest

from korch.executable.plan import Plan
from korch.fission.rule import FissionRule
from korch.fission.table import all_rules, rule_for
from korch.ir.opsets import own_domain
from korch.profile.results import Failed

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))

fuzz = import_module("fuzz")
forced, models, runs, shrink, tasks, texts, verdict = (
    import_module(f"fuzzing.{n}") for n in ("forced", "models", "runs", "shrink", "tasks", "texts", "verdict")
)
draft, operators = import_module("fuzzing.draft"), import_module("fuzzing.operators")

FAULTS = sorted((Path(__file__).parent / "faults").glob("*.txt"))
NEVER_DRAWN = {
    ("", "Upsample", 7): "models of opset 8: no other template writes them",
}
"""Operators and opsets of rules, and why no template writes them."""
TRIES = 60
CHAINS = 20
"""Seeds of chains of convolutions."""


def case_of(text: str, feeds: Mapping[str, Any], **facts: Any) -> Any:
    arrays = {n: np.asarray(x) for n, x in feeds.items()}
    return models.Case(1, onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]> {text}'), arrays, **facts)


NEGATED = "g (float[3,5] x) => (float[3,5] y) { y = Neg(x) }"
FEEDS = {"x": np.linspace(0.5, 2, 15, dtype=np.float32).reshape(3, 5)}


def written_by(template: Any) -> set[tuple[FissionRule, str]]:
    """The rules of the nodes that the template writes, tried in one opset for each rule of its operator."""
    found = set[tuple[FissionRule, str]]()
    opsets = [o for o in models.OPSETS if template.since <= o <= template.until]
    tried = set[FissionRule | None]()
    for opset in opsets:
        rule = rule_for(template.op, template.domain, opset)
        for seed in range(TRIES if rule not in tried else 0):
            d = draft.Draft(Random(seed), draft.Setting(opset, "float32"))
            try:
                template.write(d, template.op)
            except draft.Rejected:
                continue
            tried.add(rule)
            for node in d.nodes:
                if rule := rule_for(node.op_type, node.domain, opset if not own_domain(node.domain) else 1):
                    found.add((rule, node.op_type))
            break
    return found


def test_every_operator_with_a_rule_is_drawn():
    drawn = {pair for template in operators.all_templates() for pair in written_by(template)}
    wanted = {(rule, op) for rule in all_rules() for op in rule.ops}
    assert {(rule.domain, op, rule.since) for rule, op in wanted - drawn} == set(NEVER_DRAWN)


def test_a_seed_is_a_model():
    a, b = models.random_case(7), models.random_case(7)
    assert a.model.SerializeToString() == b.model.SerializeToString() and a.operators == b.operators
    assert all(np.array_equal(a.feeds[n], b.feeds[n], equal_nan=True) for n in a.feeds | b.feeds)


def test_models_are_of_every_kind():
    cases = [models.random_case(seed) for seed in range(60)]
    outputs = {o.type.tensor_type.elem_type for c in cases for o in c.model.graph.output}
    kinds = ("FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "INT64", "INT8", "UINT8", "BOOL")
    assert outputs >= {onnx.TensorProto.DataType.Value(kind) for kind in kinds}
    inputs = [i for c in cases for i in c.model.graph.input]
    assert any(d.dim_param for i in inputs for d in i.type.tensor_type.shape.dim)
    assert any(0 in x.shape for c in cases for x in c.feeds.values())
    assert any(c.special for c in cases) and any(c.eager for c in cases)
    assert {c.numerics for c in cases} == set(models.NUMERICS)
    assert sum(len(c.model.graph.output) > 1 for c in cases) > 10
    assert any(n.op_type in ("If", "Loop") for c in cases for n in c.model.graph.node)


def test_plans_differ():
    text = (
        "g (float[4,6] x) => (float[4,6] y) { a = Exp(x) b = Transpose(a) c = Softmax(b) d = Transpose(c) y = Neg(d) }"
    )
    ready = forced.prepared(case_of(text, {"x": np.ones((4, 6), np.float32)}))
    plans = {str(forced.forced_plan(ready.graph, "default", 1, Random(seed))) for seed in range(5)}
    assert len(plans) > 1


def test_choices_that_do_not_pay_are_taken():
    def primitives(seed: int, eager: bool) -> int:
        case = models.random_case(seed, only="chain:Conv")
        return len(forced.prepared(replace(case, eager=eager)).graph.primitives)

    assert any(primitives(seed, True) > primitives(seed, False) for seed in range(CHAINS))


# What is wrong is found


def of_wrong_kernel(plan: Plan) -> Plan:
    """The kernel of |x| in the place of -x."""
    other = forced.prepared(case_of(NEGATED.replace("Neg", "Abs"), FEEDS)).graph
    (step,), (wrong,) = plan.steps, forced.forced_plan(other, "default", 1, Random(0)).steps
    return replace(plan, steps=(replace(step, kernel=replace(wrong.kernel, cone=step.kernel.cone)),))


def findings(case: Any, **manner: Any) -> set[str]:
    return {o.finding.kind for o in runs.outcomes([case], runs.Manner(**manner))}


@pytest.mark.parametrize("stepwise", [False, True])
def test_a_wrong_kernel(monkeypatch: pytest.MonkeyPatch, stepwise: bool):
    forced_plan = forced.forced_plan
    monkeypatch.setattr(runs, "forced_plan", lambda *given: of_wrong_kernel(forced_plan(*given)))
    assert findings(case_of(NEGATED, FEEDS), stepwise=stepwise) == {"kernel"}


def test_a_wrong_choice(monkeypatch: pytest.MonkeyPatch):
    def without_the_written_one(plain: Any, case: Any) -> Any:
        return replace(plain, primitives=tuple(replace(p, op="Abs") for p in plain.primitives))

    monkeypatch.setattr(forced, "with_choices", without_the_written_one)
    assert findings(case_of(NEGATED, FEEDS)) == {"rewrite"}


def test_a_wrong_rule(monkeypatch: pytest.MonkeyPatch):
    from korch.fission import engine

    wrong = FissionRule(("Neg",), 1, "", lambda b, x: b.op("Abs", x))
    monkeypatch.setattr(engine, "rule_for", lambda *given: wrong)
    assert findings(case_of(NEGATED, FEEDS)) == {"fission"}


def test_a_wrong_place_of_nan(monkeypatch: pytest.MonkeyPatch):
    feeds = {"x": np.where(FEEDS["x"] > 1, np.nan, FEEDS["x"]).astype(np.float32)}
    assert findings(case_of(NEGATED, feeds, special=True)) == {""}
    run = runs.CpuExecutable.run
    monkeypatch.setattr(runs.CpuExecutable, "run", lambda *given: {n: np.nan_to_num(y) for n, y in run(*given).items()})
    assert findings(case_of(NEGATED, feeds, special=True)) == {"kernel"}


def test_a_wrong_program(monkeypatch: pytest.MonkeyPatch):
    """Whose steps are right where they do not share memory."""
    run, runs_so_far = runs.CpuExecutable.run, list[int]()

    def spoilt(*given: Any) -> Any:
        runs_so_far.append(1)
        return {n: y + (len(runs_so_far) == 1) for n, y in run(*given).items()}

    monkeypatch.setattr(runs.CpuExecutable, "run", spoilt)
    assert findings(case_of(NEGATED, FEEDS)) == {"program"}


def test_an_error_of_a_segment(monkeypatch: pytest.MonkeyPatch):
    text = (
        "g (float[9] x) => (float[n] y) { a = Relu(x) b = NonZero(a) c = Cast<to=1>(b) d = Flatten(c) y = Squeeze(d) }"
    )
    case = case_of(text, {"x": np.linspace(-1, 2, 9, dtype=np.float32)})
    assert findings(case) == {""}
    run = runs.CpuExecutable.run
    monkeypatch.setattr(runs.CpuExecutable, "run", lambda *given: {n: y + 1 for n, y in run(*given).items()})
    assert findings(case) == {"program"}


class Dies:
    """A process that one case ends."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def ask(self, task: Any) -> Any:
        if self.seed in task.seeds:
            return Failed("crashed with SIGSEGV")
        return tasks.Answer([runs.Outcome(s, verdict.Finding()) for s in task.seeds], {s: {} for s in task.seeds})


def test_a_crash_is_that_of_one_case():
    answer = tasks.asked(Dies(3), tasks.Task(range(5), runs.Manner()))
    assert {o.seed: o.finding.kind for o in answer.outcomes} == {0: "", 1: "", 2: "", 3: "crash", 4: ""}


def test_faults_are_made_small():
    text = """g (float[7,33] x, float[33,9] w) => (float[7,9] y, float[7,33] z)
    { a = Tanh(x) b = MatMul(a, w) c = Erf(b) y = Relu(c) z = Sigmoid(a) }"""
    r = np.random.default_rng(0)
    case = case_of(text, {"x": r.random((7, 33), np.float32), "w": r.random((33, 9), np.float32)})
    small = shrink.shrunk(case, lambda c: "Erf" in models.operators_of(c.model))
    assert list(models.operators_of(small.model)) == ["Erf"]
    assert sum(x.size for x in small.feeds.values()) == 1


def test_cases_as_text():
    case, manner = models.random_case(11), runs.Manner(plans=3, stepwise=True)
    known, made = texts.case_of(texts.text_of(case, manner, "kernel: why"))
    assert made == manner and known.numerics == case.numerics
    assert known.model.SerializeToString(deterministic=True)
    assert [n.op_type for n in known.model.graph.node] == [n.op_type for n in case.model.graph.node]
    assert all(np.array_equal(known.feeds[n], x, equal_nan=True) for n, x in case.feeds.items())


def test_known_seeds_are_not_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    asked = list[int]()

    def run(seeds: list[int], results: Any, *_: Any) -> None:
        asked.extend(seeds)
        finding = verdict.Finding("kernel", "off by one")
        results.add(tasks.Answer([runs.Outcome(s, finding) for s in seeds], {s: {} for s in seeds}))
        results.save()

    monkeypatch.setattr(fuzz, "run", run)
    for count in (2, 3):
        monkeypatch.setattr(sys, "argv", ["", "--models", str(count), "-o", str(tmp_path / "results.json")])
        with pytest.raises(SystemExit, match="True"):
            fuzz.main()
    assert asked == [0, 1, 2]
    assert "WRONG 2 (kernel): off by one" in capsys.readouterr().out


# Models


@pytest.mark.parametrize("file", FAULTS, ids=lambda f: f.stem)
def test_faults_of_the_past(file: Path):
    case, manner = texts.case_of(file.read_text())
    assert not [o for o in runs.outcomes([case], manner) if o.finding.wrong]


def run(seeds: range, jobs: int) -> list[Any]:
    results = fuzz.Results(None)
    wrong = fuzz.run(seeds, results, jobs)
    assert results.known.keys() == set(map(str, seeds))
    return wrong


def test_ten_models():
    assert not run(range(10), 1)


@pytest.mark.slow
def test_hundreds_of_models():
    assert not run(range(1000, 1300), 2)
