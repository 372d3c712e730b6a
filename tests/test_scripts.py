"""./demo and ./test: an environment that is of no use is made anew, any other is kept. And what benchmarks conclude."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from korch.backends.contract import Alias, Kernel, Variant
from korch.backends.cpu.c import Code
from korch.executable import Profile
from korch.executable.plan import Step
from korch.ir import Builder, Cone

ROOT = Path(__file__).parents[1]
INTERPRETER = """#!/bin/sh
case "$*" in
    *"print("*) echo {version} ;;
    *"pip --version"*) exit {pip} ;;
    *"pip install"*) exit 9 ;;
    *venv*) echo "$@" >> "$LOG" ;;
esac
"""


def interpreter(file: Path, version: str, pip: int = 0) -> Path:
    """One that has no pip where that is not 0, and tells what environments it was to make."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(INTERPRETER.format(version=version, pip=pip))
    file.chmod(0o755)
    return file


@pytest.mark.parametrize("script", ["demo", "test"])
@pytest.mark.parametrize(
    ("version", "pip", "named", "made"),
    [
        ("3 12", 0, True, ""),
        ("3 12", 1, True, "-m venv --clear {venv}\n"),
        ("3 11", 0, True, "-m venv --clear {venv}\n"),
        ("3 11", 0, False, ""),
        (None, 0, True, "-m venv {venv}\n"),
    ],
)
def test_environments(tmp_path: Path, script: str, version: str | None, pip: int, named: bool, made: str):
    venv, log = tmp_path / "venv", tmp_path / "log"
    python = interpreter(tmp_path / "bin" / "python3", "3 12")
    if version:
        interpreter(venv / "bin" / "python", version, pip)
        (venv / "pyvenv.cfg").touch()
    log.touch()
    (tmp_path / script).write_text((ROOT / script).read_text())  # a copy: it removes what was built beside it
    environment = {
        **os.environ,
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "VENV": str(venv),
        "LOG": str(log),
        "PYTHON": str(python) if named else "",
    }
    done = subprocess.run(["bash", str(tmp_path / script)], capture_output=True, env=environment)
    assert done.returncode == (9 if version else 127)
    assert log.read_text() == made.format(venv=venv)


def steps(*costs: float) -> list[Step]:
    """Products of 64 x 64 matrices: 524,288 operations, 49,152 bytes; and a view that costs nothing."""
    b = Builder()
    x, w = (b.input(name, "float32", (64, 64)) for name in "xw")
    product, view = (Cone.of(b.graph([("y", y)]).primitives[-1:]) for y in (x @ w, b.op("Reshape", x, shape=(4096,))))
    return [
        Step.of(Kernel(view, "", Variant(), Alias())),
        *(Step.of(Kernel(product, "loops", Variant(), Code(())), cost) for cost in costs),
    ]


def test_costs_below_physics_are_found(script):
    busy: ModuleType = script("busy")
    assert len(busy.impossible(steps(1.9e-6, 2.1e-6), busy.Best(524_288 / 2e-6, 49_152 / 1e-6))) == 1
    assert len(busy.impossible(steps(1.9e-6, 2.1e-6), busy.Best(524_288 / 1e-6, 49_152 / 2e-6))) == 1
    assert not busy.impossible(steps(1.9e-6, 2.1e-6), busy.Best(524_288 / 1e-6, 49_152 / 1e-6))


@pytest.mark.parametrize(("ms", "low", "reached"), [(2.1, 0, True), (2.11, 0, False), (2.0, 1, False)])
def test_programs_tuned_on_a_busy_machine_are_as_fast(script, ms: float, low: int, reached: bool):
    """Of middles. What a search does not say of the machine is left open."""
    known = {f"m: quiet {i}": {"tuning_s": s, "rejected_samples": 0} for i, s in enumerate((9.0, 10.0, 50.0))}
    known |= {f"m: busy {i}": {"tuning_s": 20.0, "rejected_samples": i, "busy": 0.5} for i in range(3)}
    race = {f"quiet {i}": t for i, t in enumerate((1.0, 2.0, 2.5))}
    race |= {f"busy {i}": t for i, t in enumerate((1.0, ms, 9.0))}
    cells, good = script("busy").row("m", known | {"m: race": race}, low)
    assert good is reached and cells[:2] == ["m", "10 / 20"] and cells[-2:] == ["0 / 1", "– / 0.5"]


def test_compilers_keep_the_machine_busy_until_the_block_ends(script, monkeypatch: pytest.MonkeyPatch):
    busy, started, popen = script("busy"), list[subprocess.Popen[bytes]](), subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *a, **kw: started.append(popen(*a, **kw)) or started[-1])
    with busy.busy():
        compilers = [p for p in started if busy.LOOP in p.args]
        assert len(compilers) == 2 and not any(p.poll() for p in compilers)
    assert all(p.returncode == -9 for p in compilers)


def test_figures_that_are_known_are_not_measured_again(script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    racing, short = script("racing"), script("short_budget")
    tuned, raced = list[str](), list[object]()

    def tune(model: Path, archive: Path, *asked: str) -> dict[str, float]:
        archive.parent.mkdir(exist_ok=True)
        archive.touch()
        tuned.append(archive.stem)
        return {"tuning_s": float("--time-budget" in asked)}

    monkeypatch.setattr(short, "tune", tune)
    monkeypatch.setattr(short, "side_by_side", lambda *given: raced.append(given) or {"full": 1.9, "short": 2.0})
    monkeypatch.setattr(sys, "argv", ["", "m", "--models", str(tmp_path), "-o", str(tmp_path / "found.json")])
    for _ in range(2):
        with pytest.raises(SystemExit, match="False"):
            short.main()
    results = racing.Results(tmp_path / "found.json")
    assert tuned == ["m-full", "m-short"] and len(raced) == 1 and results.known["m: short"] == {"tuning_s": 1.0}
    results.archive("m-short").unlink()
    with pytest.raises(SystemExit, match="False"):
        short.main()
    assert tuned == ["m-full", "m-short", "m-short"] and len(raced) == 2


@pytest.mark.parametrize(
    ("times", "total", "misses"),
    [
        ((1.0, 1.0, 0.01), 2.0, []),
        ((0.9, 1.12, 0.01), 2.0, []),
        ((0.8, 1.2, 0.01), 2.0, ["a kernel by +25.0%"]),
        ((0.92, 0.92, 0.01), 1.84, ["the sum by +9.2%"]),
        ((1.0, 1.0, 0.01), 2.1, ["the whole run by -4.3%"]),
    ],
)
def test_predictions_that_are_off_are_named(script, times: tuple[float, ...], total: float, misses: list[str]):
    """A small kernel may be."""
    found = script("predictions").compared(steps(1.0, 1.0, 0.02), Profile((0.0, *times), total, 1))
    assert found.misses == misses and len(found.rows) == 2


def test_programs_race_in_processes_of_their_own(script, small_model: Path, small_archive: Path):
    found = script("racing").side_by_side(small_model, {"a": small_archive, "b": small_archive}, threads=2, rounds=1)
    assert found.keys() == {"a", "b"} and all(np.isfinite(list(found.values())))
