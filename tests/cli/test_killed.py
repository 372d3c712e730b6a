"""`korch optimize` killed at random moments and resumed, and several at once on one cache."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import onnx
import onnx.parser
import pytest
from tests.backends.endless import all_gone, endless_compiler, started

from korch.cli import main
from korch.profile import Database

KILLS = 20
MODEL = """
<ir_version: 8, opset_import: ["": 17]>
small (float[1,4,8,8] x) => (float[1,4,8,8] y)
<float[4,4,1,1] w = {0.1,-0.2,0.3,-0.4,0.5,0.6,-0.7,0.8,0.9,-1,1.1,1.2,-1.3,1.4,-1.5,1.6}>
{ a = Conv(x, w)  b = Relu(a)  y = Softmax<axis=1>(b) }
"""


def command(model: Path, output: Path) -> list[str]:
    return [sys.executable, "-m", "korch.cli", "optimize", str(model), "-o", str(output), "--threads", "1", "--json"]


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "KORCH_CACHE_DIR": str(cache)}


def steps_of(archive: Path) -> list[Any]:
    """What the plan runs: root, backend and variant of every kernel, in order."""
    done = subprocess.run([sys.executable, "-m", "korch.cli", "explain", str(archive), "--json"], capture_output=True)
    return [(k["root"], k["backend"], k.get("variant")) for k in json.loads(done.stdout)["kernels"]]


@pytest.mark.slow
@pytest.mark.nightly
def test_killed_at_random_moments_it_resumes_to_the_same_plan(tmp_path: Path):
    model, archive, cache = tmp_path / "small.onnx", tmp_path / "small.korch", tmp_path / "cache"
    onnx.save(onnx.parser.parse_model(MODEL), model)
    rng = random.Random(0)
    measured: list[int] = []
    for _ in range(KILLS):
        process = subprocess.Popen(
            command(model, archive),
            env=environment(cache),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(rng.uniform(0.3, 8.0))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert not archive.exists() or archive.stat().st_size > 0
        with Database(cache) as database:
            measured.append(database.counts()["costs"])
    assert measured == sorted(measured), "nothing measured is lost"
    plans = []
    for number in range(2):
        again = tmp_path / f"{number}.korch"
        subprocess.run(command(model, again), env=environment(cache), check=True, stdout=subprocess.DEVNULL)
        plans.append(steps_of(again))
    assert plans[0] == plans[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_terminated_it_leaves_no_compiler_behind(tmp_path: Path, number: signal.Signals):
    """(Who runs tests in the background may ignore a closed terminal.)"""
    model, cache = tmp_path / "small.onnx", tmp_path / "cache"
    onnx.save(onnx.parser.parse_model(MODEL), model)
    (compiler,) = endless_compiler(tmp_path, "static").command
    process = subprocess.Popen(
        command(model, tmp_path / "m.korch"),
        env=environment(cache) | {"CC": compiler},
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    while not started(tmp_path):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    assert process.wait(600) == 128 + number and all_gone(tmp_path)


def killed_alone(
    kills: ModuleType, folder: Path, until: Callable[[subprocess.Popen[bytes]], None], **variables: str
) -> None:
    """Kills `korch optimize`, and nothing that it has started; all of that goes."""
    model = folder / "small.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), model)
    run = command(model, folder / "m.korch")
    _, left = kills.killed(run, environment(folder / "cache") | variables, folder / "temporary", until)
    assert not left


def test_killed_while_a_compiler_runs_it_leaves_nothing(script, tmp_path: Path):
    (compiler,) = endless_compiler(tmp_path, "static").command

    def until(process: subprocess.Popen[bytes]) -> None:
        while not started(tmp_path):
            assert process.poll() is None
            time.sleep(0.05)
        assert list((tmp_path / "temporary").glob("korch-cc-*"))

    killed_alone(script("kills"), tmp_path, until, CC=compiler)
    assert all_gone(tmp_path)


@pytest.mark.slow
def test_killed_at_random_moments_it_leaves_nothing(script, tmp_path: Path):
    rng = random.Random(0)
    for _ in range(KILLS):
        killed_alone(script("kills"), tmp_path, lambda _: time.sleep(rng.uniform(0.3, 8.0)))


def test_who_wants_it_to_outlive_the_terminal_has_that():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert main(["--version"]) == 0 and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.slow
@pytest.mark.nightly
def test_four_at_once_lose_nothing(tmp_path: Path):
    model, cache = tmp_path / "small.onnx", tmp_path / "cache"
    onnx.save(onnx.parser.parse_model(MODEL), model)
    outputs = [tmp_path / f"{i}.korch" for i in range(4)]
    running = [subprocess.Popen(command(model, o), env=environment(cache), stdout=subprocess.PIPE) for o in outputs]
    assert [p.wait() for p in running] == [0, 0, 0, 0]
    told = [json.loads(p.stdout.read()) for p in running if p.stdout]
    with Database(cache) as database:
        assert database.counts()["costs"] >= max(t["measured"] for t in told) - 1
    again = tmp_path / "again.korch"
    once_more = subprocess.run(command(model, again), env=environment(cache), check=True, stdout=subprocess.PIPE)
    assert json.loads(once_more.stdout)["measured"] == 0 and again.exists()
