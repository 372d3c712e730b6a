"""Without the wheels of oneDNN: its backend is listed with the way out, all others work, and no error is a riddle."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest

import korch
from korch.backends import libraries, table
from korch.backends.contract import Refusal
from korch.backends.cpu.onednn import install
from korch.backends.cpu.onednn.backend import BACKEND, OneDnn
from korch.backends.cpu.tiles.backend import Tiles
from korch.errors import ArchiveError, BackendError
from korch.executable.manifest import check_cpu, cpu_requirements, describe
from korch.executable.plan import Plan, Step
from korch.executable.runtime import Executable
from korch.ir import Builder, Cone

from .onednn_harness import cone_of

WAY_OUT = "oneDNN is not installed: pip install 'korch[onednn]' (x86-64 Linux)"
HIDING = """
from importlib.metadata import Distribution, PackageNotFoundError

found = Distribution.from_name

def from_name(name):
    if name.startswith("onednn"):
        raise PackageNotFoundError(name)
    return found(name)

Distribution.from_name = from_name
"""
"""Text of a `sitecustomize.py`, which every process with its folder in PYTHONPATH runs first."""
MODEL = """
<ir_version: 8, opset_import: ["": 17]>
small (float[1,24,8,8] x) => (float[1,32,64] y)
<int64[4] filters = {32,24,3,3}, int64[2] square = {64,64}, int64[3] rows = {1,32,64}>
{
    w = ConstantOfShape<value = float[1] {0.1}>(filters)
    m = ConstantOfShape<value = float[1] {0.1}>(square)
    a = Conv<pads = [1,1,1,1]>(x, w)
    b = Relu(a)
    c = Reshape(b, rows)
    y = MatMul(c, m)
}
"""


def forget() -> None:
    """Nothing is known of the installed distributions any more."""
    for known in (install.find, install.find_code, install.absence, libraries.find_library, table.entries):
        known.cache_clear()
    libraries._install.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.fixture
def missing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No distribution of oneDNN is installed."""
    found = Distribution.from_name

    def from_name(name: str) -> Distribution:
        if name.startswith("onednn"):
            raise PackageNotFoundError(name)
        return found(name)

    with monkeypatch.context() as m:
        m.setattr(Distribution, "from_name", from_name)
        forget()
        yield
    forget()


def product() -> Cone:
    b = Builder()
    return cone_of(b.input("x", "float32", (8, 16)) @ b.input("w", "float32", (16, 32)))


def test_the_backend_is_listed_with_its_reason(missing: None):
    entry = table.entry_of("onednn")
    assert entry.backend is None and entry.reason == WAY_OUT
    assert {"loops", "tiles", "onnxruntime"} <= {b.name for b in table.backends()}


def test_every_cone_is_refused(missing: None):
    assert BACKEND.refuses(product()) == Refusal(WAY_OUT)
    assert BACKEND.call_refusal(product()) is None


@pytest.mark.onednn
def test_costs_of_tiles_with_the_library_are_not_those_without_it(request: pytest.FixtureRequest):
    """Their stages may be kernels of oneDNN."""
    known = Tiles().version
    request.getfixturevalue("missing")
    assert OneDnn().version == "" and Tiles().version != known


def test_kernels_that_call_the_library_do_not_link(missing: None):
    with pytest.raises(BackendError, match=r"^oneDNN is not installed: pip install 'korch\[onednn\]'"):
        libraries.find_libraries(["dnnl"])


def test_a_program_that_calls_the_library_is_refused_in_one_line(missing: None):
    b = Builder()
    plan = Plan(b.graph([("y", b.input("x", "float32", (8,)) * 2.0)]), (), threads=1)
    needs = {**cpu_requirements(plan), "libraries": {"dnnl": "2023.2.0"}}
    with pytest.raises(ArchiveError) as e:
        check_cpu(describe(plan, 1, needs, {}), Path("m.korch"))
    assert str(e.value) == (
        "m.korch needs onednn-cpu-gomp 2023.2.0, which is not installed: pip install 'korch[onednn]', "
        "or run `korch optimize` again on this machine"
    )


def without(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A command of Korch in processes that find no oneDNN."""
    (folder / "sitecustomize.py").write_text(HIDING)
    paths = [str(folder), str(Path(korch.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "KORCH_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-m", "korch.cli", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.mark.slow
def test_models_are_optimised_without_it(tmp_path: Path):
    model, archive = tmp_path / "small.onnx", tmp_path / "small.korch"
    onnx.save(onnx.parser.parse_model(MODEL), model)
    done = without(tmp_path, "optimize", model, "-o", archive, "--time-budget", "5")
    assert done.returncode == 0, done.stderr
    with korch.load(archive) as executable:
        assert executable.plan.libraries <= {"onnxruntime"}
    done = without(tmp_path, "bench", model, "--korch", archive, "--against", "onnxruntime", "--rounds", "1")
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.onednn
def test_commands_refuse_programs_that_call_it(tmp_path: Path):
    b = Builder()
    w = b.constant(np.ones((16, 32), np.float32), name="w")
    g = b.graph([("y", b.input("x", "float32", (8, 16)) @ w)])
    archive = tmp_path / "m.korch"
    with Executable.link(Plan(g, (Step.of(BACKEND.build(Cone.of(g.primitives), 1)[0]),), threads=1)) as e:
        e.save(archive)
    done = without(tmp_path, "run", archive)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and "pip install 'korch[onednn]', or run `korch optimize`" in done.stderr
