"""Plans of earlier searches, kept and recalled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.executable.small_plans import chain, feeds_of

from korch.backends.toolchain import Toolchain
from korch.backends.units import Units
from korch.executable import Executable, link
from korch.executable.cpu import CpuExecutable
from korch.executable.link import library_key
from korch.executable.recall import Recall, program_digest
from korch.ir import Builder, Graph
from korch.options import Options
from korch.profile import Database
from korch.profile.setting import Setting

SETTING = Setting("gcc 1", "processor", 1)
FACTS = {"candidates": 3, "solver_s": 0.5, "whole": 1.0}
OPTIONS = Options(1)


@pytest.fixture
def database(tmp_path: Path):
    with Database(tmp_path) as opened:
        yield opened


def recall_of(database: Database, graph: Graph, options: Options = OPTIONS, setting: Setting = SETTING) -> Recall:
    return Recall.of(graph, options, setting, database)


def test_a_finished_search_is_recalled(database: Database):
    plan = chain()
    feeds = feeds_of(plan)
    recall_of(database, plan.graph).keep(plan, 100.0, FACTS)
    found = recall_of(database, plan.graph).plan(plan.graph, OPTIONS, 100.0)
    assert found and found[1] == FACTS
    assert found[0].steps == plan.steps and found[0].gap == plan.gap
    with Executable.link(plan) as first, Executable.link(found[0]) as second:
        for name, y in first.run(feeds).items():
            assert np.array_equal(second.run(feeds)[name], y)


def test_a_kept_program_is_not_compiled_again(database: Database, monkeypatch: pytest.MonkeyPatch):
    plan = chain()
    recall = recall_of(database, plan.graph)
    with Executable.link(plan, known=recall.library) as first:  # nothing there yet
        recall.keep_library(plan, first.linked)
        expected = first.run(feeds_of(plan))
    monkeypatch.setattr(Toolchain, "compile_library", lambda *_, **__: pytest.fail("compiled again"))
    with Executable.link(plan, known=recall.library) as second:
        assert all(np.array_equal(y, expected[n]) for n, y in second.run(feeds_of(plan)).items())


def test_a_program_is_linked_of_kernels_that_are_compiled(database: Database, tmp_path: Path):
    """Its sources are those of a program that was compiled whole, and so is what it is remembered by."""
    plan, units = chain(), Units(tmp_path)
    with CpuExecutable.of(plan, units=units, trial=True) as trial, Executable.link(plan) as whole:
        assert not trial.linked.sources
        before = {f: f.stat().st_mtime_ns for f in tmp_path.iterdir()}
        with CpuExecutable.of(plan, units=units) as program:
            assert program.linked.sources == whole.linked.sources
            assert {f: f.stat().st_mtime_ns for f in tmp_path.glob("unit*")}.items() <= before.items()
            for name, y in whole.run(feeds_of(plan)).items():
                assert np.array_equal(program.run(feeds_of(plan))[name], y)


def test_another_program_has_another_library():
    plan = chain()
    with Executable.link(plan) as linked:
        texts = linked.linked.sources
    longer = {name: text + "\n" for name, text in texts.items()}
    assert library_key(plan, texts) == library_key(plan, dict(texts)) != library_key(plan, longer)


def test_a_hasty_search_does_not_stand_for_a_patient_one(database: Database):
    plan = chain()
    recall = recall_of(database, plan.graph)
    recall.keep(replace(plan, gap=0.5), 10.0, FACTS)
    assert recall.plan(plan.graph, OPTIONS, 100.0) is None
    assert recall.plan(plan.graph, OPTIONS, 10.0)
    recall.keep(replace(plan, gap=0.0), 10.0, FACTS | {"whole": 0.0})  # the cheapest of those that were looked at
    assert recall.plan(plan.graph, OPTIONS, 100.0) is None
    recall.keep(replace(plan, gap=0.0), 10.0, FACTS)
    assert recall.plan(plan.graph, OPTIONS, 100.0)


def test_another_question_has_another_answer(database: Database):
    plan = chain()
    recall_of(database, plan.graph).keep(plan, 100.0, FACTS)
    others = [
        recall_of(database, plan.graph, Options(1, numerics="strict")),
        recall_of(database, plan.graph, setting=replace(SETTING, threads=2)),
        recall_of(database, replace(plan.graph, constants={n: x + 1 for n, x in plan.graph.constants.items()})),
    ]
    assert [other.plan(plan.graph, OPTIONS, 100.0) for other in others] == [None] * 3


def test_attributes_count_where_texts_shorten_them(database: Database):
    """Of two models that only differ in a long list of indices, each has its own plan and times."""

    def picking(first: int) -> Graph:
        b = Builder()
        indices = (first, *range(1, 60))
        return b.graph([("y", b.op("Interpolate", b.input("x", "float32", (60,)), axis=0, **taps(indices)))])

    def taps(indices: tuple[int, ...]) -> dict[str, object]:
        return {"indices": indices, "weights": (1.0,) * len(indices), "taps": 1}

    one, other = picking(0), picking(5)
    assert str(one) == str(other) and one.fingerprint != other.fingerprint == picking(5).fingerprint
    assert recall_of(database, one).key != recall_of(database, other).key == recall_of(database, picking(5)).key


def test_a_library_is_of_one_processor(monkeypatch: pytest.MonkeyPatch):
    plan = chain()
    here = library_key(plan, {"a.c": ""})
    monkeypatch.setattr(link, "processor", lambda: "another")
    assert library_key(plan, {"a.c": ""}) != here


@pytest.mark.parametrize("change", ["'['", "'[]'", "'{}'", "replace({0}, 'steps', 'stairs')"])
def test_a_damaged_plan_counts_as_none(change: str, database: Database, caplog: pytest.LogCaptureFixture):
    """Also one of equal digest, as it was written so."""
    plan = chain()
    recall = recall_of(database, plan.graph)
    recall.keep(plan, 100.0, FACTS)
    (text,) = database._connection.execute(f"SELECT {change.format('content')} FROM plans").fetchone()
    database.record_plan(recall.key, text)
    assert recall.plan(plan.graph, OPTIONS, 100.0) is None
    assert all("\n" not in said.message and "damaged" in said.message for said in caplog.records)


def test_a_damaged_library_is_compiled_again(database: Database):
    plan = chain()
    recall = recall_of(database, plan.graph)
    with Executable.link(plan) as first:
        recall.keep_library(plan, first.linked)
        expected, program = first.run(feeds_of(plan)), program_digest(first.linked)
    with Executable.link(plan, known=recall.library) as again:
        assert program_digest(again.linked) == program, "a verdict on the one holds for the other"
    database._connection.execute("UPDATE libraries SET content = substr(content, 1, 1000)")
    with Executable.link(plan, known=recall.library) as second:
        assert all(np.array_equal(y, expected[n]) for n, y in second.run(feeds_of(plan)).items())
        assert database.counts()["libraries"] == 0
        recall.keep_library(plan, second.linked)
    assert database.counts()["libraries"] == 1
