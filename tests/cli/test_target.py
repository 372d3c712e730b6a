"""What the command line says where a GPU is asked for: what is missing, and what can be done without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from korch.cli import main
from targets.fake_gpu import H200, pretend


@pytest.fixture
def model(tmp_path: Path, small_model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """small.onnx in the working directory, no GPU here."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("KORCH_DEBUG", raising=False)
    pretend(monkeypatch)
    (tmp_path / "small.onnx").write_bytes(small_model.read_bytes())
    return tmp_path / "small.onnx"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--target gpu", "target 'gpu' is not one of cpu, cuda"),
        ("--target cuda --costs guessed", "costs 'guessed' is not one of measured, model"),
        ("--device H100", "a device ('H100') is one of target cuda: give --target cuda too"),
        ("--costs model", "costs are modelled for target cuda only"),
        ("--target cuda --threads 2", "threads are a processor's"),
        (
            "--target cuda",
            "no NVIDIA GPU here: kernels cannot be measured or run; give --costs model --device "
            "A100|H100|H200 to plan with roofline costs and compile for that device",
        ),
        ("--target cuda --device H100", "no NVIDIA GPU here: kernels cannot be measured or run"),
        ("--target cuda --costs model", "give --device A100|H100|H200"),
        ("--target cuda --costs model --device V100", "no device is called 'V100'; descriptions: A100, H100, H200"),
        ("--target cuda --costs model --device 0", "there is no GPU number 0 here; installed: none"),
    ],
)
def test_what_cannot_be_had_is_said_in_a_line(model: Path, capsys, options: str, words: str):
    assert main(["optimize", str(model), *options.split()]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ") and printed.err.count("\n") == 1 and words in printed.err
    assert printed.out == "" and not list(model.parent.glob("*.korch"))


@pytest.mark.parametrize(
    ("missing", "options", "words"),
    [
        (
            "triton",
            "--costs model --device H100",
            "triton is not installed, which compiles kernels for NVIDIA GPUs: pip install 'korch[cuda]'",
        ),
        ("torch", "", "torch is not installed, with which kernels are measured"),
    ],
)
def test_what_has_to_be_installed_is_named(model: Path, capsys, monkeypatch, missing: str, options: str, words: str):
    pretend(monkeypatch, (H200,), (missing,))
    assert main(["optimize", str(model), "--target", "cuda", *options.split()]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("A100", "no A100 is installed here, but NVIDIA H200: give --costs model"),
        ("3", "there is no GPU number 3 here; installed: 0 NVIDIA H200"),
    ],
)
def test_another_device_than_the_one_here(model: Path, capsys, monkeypatch, device: str, words: str):
    pretend(monkeypatch, (H200,))
    assert main(["optimize", str(model), "--target", "cuda", "--device", device]) == 2
    assert words in capsys.readouterr().err


LINE = "--target cuda --costs model --device H100 --time-budget 20"


def test_a_modelled_plan_is_told_as_one(model: Path, capsys):
    assert main(["optimize", str(model), *LINE.split()]) == 0
    text = capsys.readouterr().out
    assert text.startswith("small.korch: ") and "none measured" in text
    assert "costs are those of a model of the H100, not measurements: " in text and " ms predicted" in text
    assert "ms a run" not in text and "of the largest magnitude, emulated, 1.0e-04 allowed" in text
    assert Path("small.korch").read_text() == "H100 sm_90"


def test_a_modelled_plan_as_json(model: Path, capsys):
    """Strict numerics round nothing, so no kernel is exchanged after the proof."""
    assert main(["optimize", str(model), *LINE.split(), "--numerics", "strict", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    told = {"target": "cuda", "device": "H100", "costs": "model", "actual_ms": None, "measured": 0, "gap": 0.0}
    assert told.items() <= facts.items() and facts["predicted_ms"] > 0
