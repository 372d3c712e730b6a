"""Float64 outputs from a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from korch.fission.importer import read
from korch.numerics import judge, reference_process
from korch.numerics.exact import float64_outputs
from korch.numerics.judge import ReferenceOutputs
from korch.system.locks import locked, machine_lock

MODEL = """<ir_version: 8, opset_import: ["": 17]>
g (float[4,8] x) => (float[4,8] y) { y = Softmax<axis=1>(x) }
"""
FEEDS = {"x": np.random.default_rng(0).standard_normal((4, 8), dtype=np.float32)}


def refused(model: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> None:
    raise AssertionError("evaluated here")


def test_what_is_evaluated_meanwhile_is_not_evaluated_again(monkeypatch: pytest.MonkeyPatch):
    model = read(onnx.parser.parse_model(MODEL))
    expected, asked = float64_outputs(model, FEEDS), ReferenceOutputs(model, FEEDS)
    monkeypatch.setattr(judge, "float64_outputs", refused)
    with asked.meanwhile():
        assert asked.exact
    assert np.array_equal(asked.exact["y"], expected["y"]) and asked.exact["y"].dtype == np.float64


def test_what_another_process_cannot_do_is_done_here(monkeypatch: pytest.MonkeyPatch):
    asked = ReferenceOutputs(read(onnx.parser.parse_model(MODEL)), FEEDS)
    monkeypatch.setattr(reference_process, "__name__", "korch.no_such_module")
    with asked.meanwhile():
        assert asked.verdict({"y": asked.exact["y"].astype(np.float32)}, "default").passed


def test_what_nobody_asked_for_in_time_is_done_here():
    asked = ReferenceOutputs(read(onnx.parser.parse_model(MODEL)), FEEDS)
    with asked.meanwhile():
        pass
    assert asked.exact["y"].dtype == np.float64


def test_nothing_is_evaluated_while_somebody_times_a_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    asked = ReferenceOutputs(read(onnx.parser.parse_model(MODEL)), FEEDS)
    with ThreadPoolExecutor(1) as pool, asked.meanwhile():
        with locked(machine_lock()):
            outputs = pool.submit(lambda: asked.exact)
            with pytest.raises(FutureTimeout):
                outputs.result(2)
        assert outputs.result(600)["y"].dtype == np.float64


def test_an_error_in_the_block_ends_the_other_process(monkeypatch: pytest.MonkeyPatch):
    started: list[subprocess.Popen[bytes]] = []
    slow = [sys.executable, "-c", "import time; time.sleep(3600)"]
    start = reference_process.start
    monkeypatch.setattr(
        reference_process, "start", lambda command, *a, **kw: started.append(start(slow, *a, **kw)) or started[0]
    )
    with pytest.raises(KeyError), ReferenceOutputs(read(onnx.parser.parse_model(MODEL)), FEEDS).meanwhile():
        raise KeyError
    assert started[0].poll() == -signal.SIGKILL
