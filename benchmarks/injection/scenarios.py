"""The runs in which calls fail, each in a process of its own, over files that an earlier run left."""

from __future__ import annotations

import gc
import json
import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser

TEXT = """
<ir_version: 8, opset_import: ["": 17]>
tiny (float[4,8] x) => (float[4,8] y)
{ a = MatMul(x, w)  b = Relu(a)  y = Add(b, x) }
"""
BUDGET, WAIT = 2.0, 120.0
"""Seconds of a search, and for a program that is made in the background."""
MODEL, ARCHIVE, MACHINE = "tiny.onnx", "tiny.korch", "machine.json"
X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)
W = np.linspace(-2, 1, 64, dtype=np.float32).reshape(8, 8)


class WrongResult(Exception):
    """A run went on, and its results are wrong."""


@dataclass(frozen=True)
class Scenario:
    """`prepare` leaves files in a folder, once; `run` starts from a copy of it. `whole`: says what is wrong after the
    next run, which nothing disturbed; empty for nothing. `role`: a text in the command of the child whose calls fail;
    empty where the process itself has the fault."""

    name: str
    prepare: Callable[[Path], None]
    run: Callable[[Path], None]
    whole: Callable[[Path], str]
    role: str = ""


def check(results: Any) -> None:
    y = np.maximum(X @ W, 0) + X
    if not np.allclose(results, y, atol=1e-5):
        raise WrongResult(f"results differ by {np.abs(results - y).max()}")


def write_model(folder: Path) -> None:
    model = onnx.parser.parse_model(TEXT)
    model.graph.initializer.append(onnx.numpy_helper.from_array(W, "w"))
    onnx.save(model, folder / MODEL)


def known_machine(folder: Path) -> None:
    """The machine's rates are those of the file in `folder`, or are measured and written there."""
    from korch.machine import machine_from_json
    from korch.profile import calibrate

    measured, file = calibrate._measured, folder / MACHINE

    def remembered(profiler: Any) -> Any:
        if file.exists():
            machine = machine_from_json(file.read_text())
            profiler.database.record_machine(calibrate._key(profiler), file.read_text())
            return machine
        machine = measured(profiler)
        file.write_text(json.dumps(asdict(machine)))
        return machine

    calibrate._measured = remembered


def nothing(folder: Path) -> None:
    """No cache at all."""


def measured(folder: Path) -> None:
    """A cache that knows the machine and has the timing library, of a search whose plan is forgotten."""
    optimize(folder)
    with sqlite3.connect(database(folder)) as connection:
        for table in ("costs", "failures", "in_place", "plans"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("DELETE FROM libraries WHERE length(content) < (SELECT max(length(content)) FROM libraries)")
    connection.close()


def database(folder: Path) -> Path:
    return next((folder / "cache").glob("profile-*.sqlite"))


def rows(folder: Path) -> None:
    """The cache alone: rows that are written and read, and a folder."""
    from korch.profile.database import Database
    from korch.system.processes import work_folder

    with Database() as opened, work_folder("korch-rows-") as own:
        opened.record_plan("plan", "text")
        opened.record_library("library", bytes(5000))
        if opened.plan("plan") != "text" or opened.library("library") != bytes(5000):
            raise WrongResult("a row is not as it was written")
        opened.export(own / "export.sqlite")


def first(folder: Path) -> None:
    """`optimize` of a process that looks for a compiler."""
    from korch.backends.toolchain import find_toolchain

    find_toolchain.cache_clear()
    optimize(folder)


def optimize(folder: Path) -> None:
    import korch

    with korch.optimize(folder / MODEL, threads=1, time_budget=BUDGET) as program:
        check(program.run({"x": X})["y"])


def saved(folder: Path) -> None:
    import korch

    with korch.optimize(folder / MODEL, threads=1, time_budget=BUDGET) as program:
        program.save(folder / ARCHIVE)


def save(folder: Path) -> None:
    import korch

    with korch.load(folder / ARCHIVE) as program:
        program.save(folder / "out" / ARCHIVE)


def load(folder: Path) -> None:
    import korch

    with korch.load(folder / ARCHIVE) as program:
        check(program.run({"x": X})["y"])


def export(folder: Path) -> None:
    import korch

    with korch.load(folder / ARCHIVE) as program:
        program.export(folder / "out" / "exported")


def session(folder: Path, tune: str) -> Any:
    import onnxruntime

    import korch
    from korch.session import making

    making.raced = lambda *_: (1.0, 2.0)  # kernels of microseconds lose against a call
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    found = korch.InferenceSession(str(folder / MODEL), options, tune=tune, time_budget=BUDGET)
    check(found.run(None, {"x": X})[0])
    return found


def now(folder: Path) -> None:
    found = session(folder, "now")
    check(found.run(None, {"x": X})[0])
    del found
    gc.collect()


def background(folder: Path) -> None:
    found, end = session(folder, "background"), time.monotonic() + WAIT
    while (state := found.status().specialisations[0].state) in ("wanted", "waiting", "making"):
        if time.monotonic() > end:
            raise WrongResult(f"the program is {state} after {WAIT} s")
        time.sleep(0.05)  # without calls, beside which the worker rests
    check(found.run(None, {"x": X})[0])


def intact(folder: Path) -> str:
    """A fault of the cache; empty where it is whole."""
    connection = sqlite3.connect(database(folder))
    (answer,) = connection.execute("PRAGMA integrity_check").fetchone()
    plans = connection.execute("SELECT count(*) FROM plans").fetchone()[0]
    connection.close()
    return "" if answer == "ok" and plans else f"the database: {answer}, {plans} plans"


def kept(folder: Path) -> str:
    """Of a session: its program is in the cache, and only whole files are."""
    names = {p.suffix for p in (folder / "cache" / "archives").iterdir()}
    return "" if names >= {".korch", ".json"} else f"the archives are {sorted(names)}"


def written(folder: Path) -> str:
    import korch

    try:
        with korch.load(folder / "out" / ARCHIVE) as program:
            check(program.run({"x": X})["y"])
    except korch.Error as e:
        return str(e)
    return ""


def exported(folder: Path) -> str:
    names = {p.name for p in (folder / "out" / "exported").iterdir()}
    return "" if names == {"korch.h", "libmodel.so", "weights.safetensors"} else f"exported are {sorted(names)}"


def _no_fault(folder: Path) -> str:
    return ""


WORKER = "korch.session.worker"
SCENARIOS = {
    s.name: s
    for s in (
        Scenario("rows", nothing, rows, intact),
        Scenario("optimize", nothing, first, intact),
        Scenario("search", measured, optimize, intact),
        Scenario("recall", optimize, optimize, intact),
        Scenario("save", saved, save, written),
        Scenario("load", saved, load, _no_fault),
        Scenario("export", saved, export, exported),
        Scenario("now", measured, now, kept),
        Scenario("recalled", now, now, kept),
        Scenario("background", measured, background, kept),
        Scenario("worker", measured, background, kept, WORKER),
    )
}


def copied(template: Path, folder: Path) -> None:
    shutil.copytree(template, folder, ignore=lambda _, names: [n for n in names if n.endswith(".lock")])
    for name in ("tmp", "out"):
        (folder / name).mkdir(exist_ok=True)
        os.chmod(folder / name, 0o700)
