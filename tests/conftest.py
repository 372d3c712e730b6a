"""A small model and its program, optimised once a session in a cache folder of its own; golden text."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import onnx
import onnx.parser
import pytest
from hypothesis import settings
from tests.golden_text import golden as golden
from tests.golden_text import pytest_addoption as pytest_addoption

if TYPE_CHECKING:
    from korch.machine import Machine
    from korch.profile.profiler import Profiler

# In CI the same examples every time, so that a failure is the change's own; nowhere a deadline for each: a machine that
# others use too is slow for seconds.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("here", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "here")

SMALL = """
<ir_version: 8, opset_import: ["": 17]>
small (float[1,4,8,8] x) => (float[1,4,8,8] y)
<float[4,4,1,1] w = {0.1,-0.2,0.3,-0.4,0.5,0.6,-0.7,0.8,0.9,-1,1.1,1.2,-1.3,1.4,-1.5,1.6}>
{ a = Conv(x, w)  b = Relu(a)  y = Softmax<axis=1>(b) }
"""


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("onednn"):
        from korch.backends.cpu.onednn.install import absence  # not before a folder's conftest has been imported

        if reason := absence():
            pytest.skip(reason)


@pytest.fixture(scope="session", autouse=True)
def calibrated_once() -> Iterator[dict[str, Machine]]:
    """A worker measures the machine's rates once for each number of threads, not once for each cache folder.
    The value: the measured machines by their keys of the database."""
    from korch.profile import calibrate

    measured, known = calibrate._measured, dict[str, "Machine"]()

    def remembered(profiler: Profiler) -> Machine:
        key = calibrate._key(profiler)
        if key in known:
            profiler.database.record_machine(key, json.dumps(asdict(known[key])))
        else:
            known[key] = measured(profiler)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(calibrate, "_measured", remembered)
        yield known


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Imports a script of benchmarks."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    return import_module


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this session, the same for all workers."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def cache_folder(shared: Path) -> Iterator[Path]:
    """Measurements of this session, out of the user's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KORCH_CACHE_DIR", str(shared / "cache"))
        yield shared / "cache"


@pytest.fixture(scope="session")
def optimising(shared: Path, cache_folder: Path) -> subprocess.CompletedProcess[str]:
    """`korch optimize --json` as a user runs it, by the first worker that asks; leaves small.korch in `shared`."""
    model, told = shared / "small.onnx", shared / "told.json"
    command = [
        sys.executable,
        "-m",
        "korch.cli",
        "optimize",
        str(model),
        "-o",
        str(shared / "small.korch"),
        "--threads",
        "2",
        "--time-budget",
        "5",
        "--json",
    ]
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not told.exists():
            onnx.save(onnx.parser.parse_model(SMALL), model)
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "KORCH_DEBUG": ""})
            told.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
    return subprocess.CompletedProcess(command, *json.loads(told.read_text()))


@pytest.fixture(scope="session")
def small_model(shared: Path, optimising: subprocess.CompletedProcess[str]) -> Path:
    return shared / "small.onnx"


@pytest.fixture(scope="session")
def small_archive(shared: Path, optimising: subprocess.CompletedProcess[str]) -> Path:
    assert optimising.returncode == 0, optimising.stderr
    return shared / "small.korch"
