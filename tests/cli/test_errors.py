"""Whatever is wrong is told in one line, with the right exit code and no traceback."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from tests.backends.endless import all_gone, endless_compiler, started

import korch.executable
from korch.backends.toolchain import find_toolchain
from korch.cli import main
from korch.targets import processor


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    """Runs a command that must fail; its one line on stderr."""
    monkeypatch.delenv("KORCH_DEBUG", raising=False)

    def run(*arguments: object, code: int = 2) -> str:
        assert main([*map(str, arguments)]) == code
        printed = capsys.readouterr()
        assert printed.err.startswith("error: ") and printed.err.count("\n") == 1, printed.err
        assert printed.out == "" and "Traceback" not in printed.err
        return printed.err

    return run


@pytest.fixture
def folder(tmp_path: Path, small_model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: good.onnx, bad.onnx, free.onnx (dynamic), wrong.npy, text.npy."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.onnx").write_bytes(small_model.read_bytes())
    (tmp_path / "bad.onnx").write_bytes(small_model.read_bytes()[:-20])
    free = '<ir_version: 8, opset_import: ["": 17]> g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }'
    onnx.save(onnx.parser.parse_model(free), tmp_path / "free.onnx")
    np.save(tmp_path / "wrong.npy", np.zeros((1, 4, 8, 8)))
    np.save(tmp_path / "small.npy", np.zeros((2, 2), np.float32))
    (tmp_path / "text.npy").write_text("hello")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("optimize none.onnx", "none.onnx: cannot be read: No such file"),
        ("optimize bad.onnx", "bad.onnx is not an ONNX model"),
        ("optimize .", "cannot be read: Is a directory"),
        ("optimize free.onnx", "--shape x="),
        ("optimize free.onnx --shape x=two,3", "whole numbers"),
        ("optimize free.onnx --shape 2,3", "expected NAME=VALUE"),
        ("optimize good.onnx --shape z=1", "'z'"),
        ("optimize good.onnx -o nowhere/m.korch", "cannot write nowhere/m.korch: there is no folder nowhere"),
        ("optimize good.onnx -o .", "cannot write .: it is a folder"),
        (
            "optimize good.onnx --numerics sloppy",
            "numerics 'sloppy' are not strict, default, fast, relaxed or a number up to 0.1",
        ),
        ("optimize good.onnx --time-budget -1", "the time budget must be positive"),
        ("optimize good.onnx --threads two", "threads"),
        ("optimize good.onnx --nonsense", "--nonsense"),
        ("optimise good.onnx", "optimise"),
        ("optimize", "Missing argument 'model'"),
        ("fission bad.onnx out.onnx", "bad.onnx is not an ONNX model"),
        ("fission good.onnx nowhere/out.onnx", "there is no folder nowhere"),
        ("run none.korch", "cannot read none.korch: No such file"),
        ("run bad.onnx", "not a Korch archive"),
        ("explain bad.onnx", "not a Korch archive"),
        ("verify bad.onnx good.onnx", "not a Korch archive"),
        ("bench good.onnx --korch a.korch --korch b.korch", "2 archives are given for 1 models"),
        ("bench good.onnx --korch a.korch --time-budget 5", "are for programs that are made now"),
        ("bench good.onnx --against onnxruntime,ort", "no runtime is named ort; there are korch, onnxruntime"),
        ("bench good.onnx bad.onnx", "bad.onnx is not an ONNX model"),
        ("bench free.onnx", "input x has no fixed shape; export the model with static shapes"),
        ("bench good.onnx free.onnx", "free.onnx: input x has no fixed shape"),
        ("cache frobnicate", "frobnicate"),
        ("cache export", "korch cache export takes a file"),
        ("cache clear good.onnx", "korch cache clear takes no file"),
        ("cache show --limit 1GB", "korch cache show takes no --limit"),
        ("cache prune --limit much", "'much' is no size"),
        ("cache import none", "cannot read none: there is no such file"),
        ("cache import good.onnx", "good.onnx cannot be used"),
        ("cache export nowhere/file", "there is no folder nowhere"),
    ],
)
def test_what_is_wrong_is_named(folder: Path, complaint, line: str, words: str):
    before = sorted(folder.iterdir())
    assert words in complaint(*line.split())
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("x=wrong.npy", "input 'x' must be f32[1,4,8,8], found f64[1,4,8,8]"),
        ("x=small.npy", "input 'x' must be f32[1,4,8,8], found f32[2,2]"),
        ("x=none.npy", "input 'x': cannot read none.npy: No such file"),
        ("x=text.npy", "text.npy is no .npy file"),
        ("z=wrong.npy", "the model has no input 'z'; it has x"),
        ("wrong.npy", "expected NAME=VALUE"),
    ],
)
def test_inputs_that_do_not_fit(folder: Path, complaint, small_archive: Path, given: str, words: str):
    assert words in complaint("run", small_archive, "--input", given)


def test_outputs_that_cannot_be_written(folder: Path, complaint, small_archive: Path):
    (folder / "file").touch()
    assert "cannot make the folder file" in complaint("run", small_archive, "--output-dir", "file")


def test_an_archive_of_another_version(folder: Path, complaint, small_archive: Path):
    with zipfile.ZipFile(small_archive) as old, zipfile.ZipFile(folder / "new.korch", "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, json.dumps(json.loads(data) | {"format": 99}) if name == "manifest.json" else data)
    assert "has format 99" in complaint("run", "new.korch")


def test_a_model_that_is_not_the_archives(folder: Path, complaint, small_archive: Path):
    assert "the archive was made from another model" in complaint("verify", small_archive, "free.onnx")


def test_bench_wants_the_threads_of_the_archive(folder: Path, complaint, small_archive: Path):
    text = complaint("bench", "good.onnx", "--korch", small_archive, "--threads", 1)
    assert "was made for 2 threads, not 1" in text


def test_bench_does_not_time_one_thread_against_two(folder: Path, complaint, monkeypatch: pytest.MonkeyPatch):
    """As where the compiler has no OpenMP."""
    monkeypatch.setattr(processor, "find_toolchain", lambda: replace(find_toolchain(), openmp=False))
    text = complaint("bench", "good.onnx", "--threads", 2)
    assert "a program would run on 1 threads, not 2: the compiler has no OpenMP" in text


def test_the_unexpected_is_one_line_too_and_a_traceback_when_asked_for(
    complaint, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def broken(path: Path, **options: bool) -> None:
        raise ZeroDivisionError("division\nby zero")

    monkeypatch.setattr(korch.executable, "load", broken)
    text = complaint("explain", "m.korch")
    assert "ZeroDivisionError: division by zero; KORCH_DEBUG=1 shows where it comes from" in text
    monkeypatch.setenv("KORCH_DEBUG", "1")
    assert main(["explain", "m.korch"]) == 2
    assert "Traceback" in capsys.readouterr().err


def test_ctrl_c_is_one_line(small_model: Path, tmp_path: Path):
    """As a terminal sends it: to the whole group, when kernels are being compiled and the measuring process has
    started. (Who runs tests in the background ignores it.)"""
    (compiler,) = endless_compiler(tmp_path, "korch_kernel_count").command
    command = [sys.executable, "-m", "korch.cli", "optimize", str(small_model), "-o", str(tmp_path / "m.korch")]
    environment = {**os.environ, "KORCH_CACHE_DIR": str(tmp_path / "cache"), "KORCH_DEBUG": "", "CC": compiler}
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stderr is not None and process.stdout is not None
    said = [process.stderr.readline() for _ in range(2)]
    while not started(tmp_path):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 130, err
    assert said == ["reading\n", "enumerating\n"] and err.splitlines()[-1] == "interrupted" and not out
    assert "Traceback" not in err and not (tmp_path / "m.korch").exists() and all_gone(tmp_path)
