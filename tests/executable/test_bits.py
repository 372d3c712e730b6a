"""One archive has the same bits wherever and however often it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.backends.test_tiles import conv, image, relu
from tests.marks import slow_but

from korch.backends.contract import Backend, Kernel
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.tiles.backend import BACKEND as TILES
from korch.executable import Executable, Plan, Step
from korch.ir import Cone

THREADS = 4

DIGESTS = """
import hashlib, os, sys
for name in sys.argv[2].split(","):
    {
        "": lambda: None,
        "torch": lambda: __import__("torch").ones(64, 64).matmul(__import__("torch").ones(64, 64)),
        "onnxruntime": lambda: __import__("onnxruntime"),
        "openvino": lambda: __import__("openvino").Core(),
        "alone": lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}),
    }[name]()
import numpy as np
import korch
x = np.random.default_rng(0).standard_normal((1, 112, 112, 64), dtype=np.float32)
def digest():
    return hashlib.sha256(b"".join(y.tobytes() for y in program.run({"x": x}).values())).hexdigest()
with korch.load(sys.argv[1]) as program:
    found = {digest() for _ in range(5)}
    if sys.argv[3] == "alone":
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    found |= {digest() for _ in range(5)}
print(*found)
"""
COMPANY = ("", "torch", "onnxruntime", "openvino", "alone", "torch,onnxruntime", "torch,openvino,onnxruntime")


def digests(archive: Path, before: str = "", later: str = "", **environment: str) -> list[str]:
    """Of the outputs of ten runs in a new process, each once."""
    command = [sys.executable, "-c", DIGESTS, str(archive), before, later]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of kernels that share their work: a convolution, a chain over images in strips, a product and long sums."""
    x = image(1, 112, 112, 64)
    b, rng = x.builder, np.random.default_rng(1)
    ends = {
        "convolution": relu(conv(x, 64, 5, group=64)),
        "chain": conv(relu(conv(relu(conv(x, 64)), 64, 3, group=64)), 24),
        "product": x @ b.constant(rng.standard_normal((64, 96), dtype=np.float32)),
        "sums": b.op("ReduceSum", x, axes=(0, 1, 2), keepdims=0),
    }
    graph = b.graph(list(ends.items()))
    cones = [Cone.of(Cone.of(graph.primitives).part(end).primitives) for end in graph.outputs]
    kernels = [next(k for backend in (TILES, LOOPS) for k in made(backend, cone)) for cone in cones]
    assert {k.backend for k in kernels} == {"tiles", "loops"}
    assert sum(bool(k.code and k.code.steals) for k in kernels) > 2
    with Executable.link(Plan(graph, tuple(Step.of(k, 1e-6) for k in kernels), THREADS)) as program:
        return program.save(tmp_path_factory.mktemp("bits") / "shared.korch")


def made(backend: Backend, cone: Cone) -> Sequence[Kernel]:
    return [] if backend.refuses(cone) else backend.build(cone, THREADS)


@pytest.fixture(scope="module")
def expected(archive: Path) -> list[str]:
    (found,) = digests(archive)
    return [found]


@pytest.mark.parametrize("name", ["OMP_THREAD_LIMIT", "OMP_NUM_THREADS"])
@pytest.mark.parametrize("threads", slow_but(["1", "2", "5"], ["1"]))
def test_the_number_of_threads_changes_no_bit(name: str, threads: str, archive: Path, expected: list[str]):
    assert digests(archive, **{name: threads}) == expected


@pytest.mark.parametrize("before", slow_but(COMPANY, ["alone"]))
def test_other_runtimes_in_the_process_change_no_bit(before: str, archive: Path, expected: list[str]):
    """Other runtimes bring an OpenMP of their own, and set how floats round."""
    if "openvino" in before:
        pytest.importorskip("openvino", exc_type=ImportError)
    assert digests(archive, before) == expected


def test_processors_that_are_taken_away_later_change_no_bit(archive: Path, expected: list[str]):
    assert digests(archive, later="alone") == expected
