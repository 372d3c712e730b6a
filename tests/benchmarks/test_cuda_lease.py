"""The commands of a lease on a machine that only looks like one with a GPU: they end in time, and lose nothing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from tests.marks import SLOW

from .fake_rig import FakeRig

pytest.importorskip("triton")
HERE = Path(__file__).parent
BENCHMARKS = HERE.parents[1] / "benchmarks"
KILLS, WHOLE = 10, 540.0
"""How often a command is killed, and seconds that one may take."""


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def module(name: str) -> ModuleType:
    return import_module(f"cuda_lease.{name}")


def known(file: Path) -> dict[str, object]:
    return module("record").Record(file).known


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["kernels", "tuning", "racing"])
def test_a_command_ends_in_its_time_whatever_is_left(tmp_path: Path, stage: str):
    """A hundredth of the time of a GPU, and of the command's seconds: less than the work takes."""
    if stage == "racing":
        (tmp_path / "candy.fast.korch").touch()
    begin = time.monotonic()
    module("stages").STAGES[stage](FakeRig(0.01), tmp_path, 5.2)
    assert time.monotonic() - begin < 60
    assert known(tmp_path / f"{stage}.jsonl")


@SLOW
def test_the_page_has_what_the_commands_found(tmp_path: Path):
    """With time enough for all of the work on a busy machine; only the tuning takes the seconds that it is given."""
    rig, stages = FakeRig(0.001, fails=["xla tf32"]), module("stages")
    stages.kernels(rig, tmp_path, 120.0, most=60)
    stages.tuning(rig, tmp_path, 5.2)
    stages.racing(rig, tmp_path, 120.0)
    kernels = known(tmp_path / "kernels.jsonl")
    assert len(kernels) == 62 and kernels["tests"] == "12 passed"
    assert {facts["form"] for key, facts in kernels.items() if key not in ("machine", "tests")} == set(
        module("kernels").FORMS
    )
    assert "candy fast" in known(tmp_path / "tuning.jsonl")
    races = known(tmp_path / "racing.jsonl")
    assert races["candy: xla tf32"] == "out of memory"
    assert "xla tf32" not in races["candy fast: race"]["runtimes"], "what cannot compile does not race"
    text = module("pages").page(tmp_path)
    for wanted in ("| candy | fast | 1.000 |", "**2.00**", "same bits", "| conv 3x3 | triton |"):
        assert wanted in text


@pytest.mark.slow
def test_a_command_does_nothing_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    stages, rig = module("stages"), FakeRig(0.0)
    stages.kernels(rig, tmp_path, 60.0, 20)
    before = (tmp_path / "kernels.jsonl").read_text()
    monkeypatch.setattr(rig, "tests", None)
    stages.kernels(rig, tmp_path, 60.0, 20)
    assert (tmp_path / "kernels.jsonl").read_text() == before


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["kernels", "racing"])
def test_killed_at_any_moment_a_command_keeps_what_it_measured(tmp_path: Path, stage: str):
    file, draw, kept = tmp_path / f"{stage}.jsonl", random.Random(stage), dict[str, object]()
    if stage == "racing":
        for name in ("candy", "yolov4"):
            (tmp_path / f"{name}.fast.korch").touch()
    for _ in range(KILLS):
        process = subprocess.Popen(command(tmp_path, stage), env=environment(), stderr=subprocess.DEVNULL)
        with_entries = len(kept)
        while process.poll() is None and (not file.exists() or file.read_text().count("\n") <= with_entries):
            time.sleep(0.01)
        time.sleep(draw.uniform(0.0, 0.1))
        process.kill()
        process.wait()
        now = known(file)
        assert kept.items() <= now.items()
        kept = now
    subprocess.run(command(tmp_path, stage, pace=0.0), env=environment(), check=True, stderr=subprocess.DEVNULL)
    whole = known(file)
    assert kept.items() <= whole.items() and len(whole) == file.read_text().count("\n"), "no entry is there twice"
    assert "tests" in whole if stage == "kernels" else "yolov4 fast: race" in whole


def test_a_line_that_was_not_written_to_its_end_is_forgotten(tmp_path: Path):
    file = tmp_path / "some.jsonl"
    record = module("record").Record(file)
    record.add("a", {"us": 1.0})
    with file.open("a") as torn:
        torn.write('["b", {"us"')
    again = module("record").Record(file)
    again.add("c", 3)
    assert [json.loads(line) for line in file.read_text().splitlines()] == [["a", {"us": 1.0}], ["c", 3]]


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("stage", ["kernels", "tuning", "racing"])
def test_the_whole_command_takes_less_than_nine_minutes(tmp_path: Path, stage: str):
    """At the pace of a true machine."""
    if stage == "racing":
        for name in import_module("page").WORKLOADS:
            (tmp_path / f"{name}.fast.korch").touch()
    begin = time.monotonic()
    module("stages").STAGES[stage](FakeRig(1.0), tmp_path)
    assert time.monotonic() - begin < WHOLE
    assert len(known(tmp_path / f"{stage}.jsonl")) >= {"kernels": 300, "tuning": 5, "racing": 15}[stage]


def command(out: Path, stage: str, pace: float = 0.001) -> list[str]:
    most = ["60"] if stage == "kernels" else []
    return [sys.executable, str(HERE / "fake_rig.py"), str(out), stage, "120", str(pace), *most]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(BENCHMARKS), os.environ.get("PYTHONPATH", "")])}
