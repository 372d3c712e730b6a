"""The commands, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

import korch
from korch.cli import main
from korch.cli.run import _store
from korch.executable.archive import read_manifest
from korch.numerics.judge import Judge
from korch.numerics.verdict import Verdict
from korch.profile import Database, Failed, Measurement


@pytest.fixture
def korch_json(capsys: pytest.CaptureFixture[str]):
    """Runs a command with --json; what it prints."""

    def run(*arguments: object) -> Any:
        assert main([*map(str, arguments), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def korch_text(capsys: pytest.CaptureFixture[str]):
    """Runs a command; its text."""

    def run(*arguments: object) -> str:
        assert main([*map(str, arguments)]) == 0
        return capsys.readouterr().out

    return run


def small_input() -> np.ndarray:
    return np.random.default_rng(3).standard_normal((1, 4, 8, 8), dtype=np.float32)


def expected(model: Path, x: np.ndarray) -> np.ndarray:
    return np.asarray(onnxruntime.InferenceSession(str(model)).run(None, {"x": x})[0])


def test_help_names_every_command_and_imports_nothing_heavy():
    script = "import sys; from korch.cli import main; main(['--help']); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    help_, _, modules = done.stdout.rpartition("\n")[0].rpartition("\n")
    for command in ("optimize", "certify", "run", "verify", "bench", "explain", "fission", "cache", "rules"):
        assert f"  {command} " in help_
    assert not {"numpy", "onnx", "onnxruntime", "rich"} & set(modules.split())


def test_version(korch_text):
    assert korch_text("--version") == f"korch {korch.__version__}\n"


def test_the_package_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "korch", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"korch {korch.__version__}\n"


def test_optimize_prints_json_and_nothing_else(optimising):
    assert optimising.returncode == 0, optimising.stderr
    facts = json.loads(optimising.stdout)
    asked = {"kernels", "candidates", "measured", "predicted_ms", "actual_ms", "gap", "tuning_s", "peak_bytes"}
    assert asked <= facts.keys()
    assert facts["kernels"] >= 1 and facts["candidates"] > facts["kernels"] and facts["actual_ms"] > 0
    assert facts["passed"] is True
    assert optimising.stderr == ""


def test_optimize_tells_how_the_problem_grew(optimising):
    facts = json.loads(optimising.stdout)
    assert facts["choices"] > 0 and facts["tensors"] > facts["primitives"] > 0, "layouts are tensors and choices too"
    assert facts["cones"] >= facts["candidates"] >= facts["distinct"] > 0
    assert 0 < facts["columns"] <= facts["candidates"] and facts["rows"] > 0
    assert all(facts[stage] > 0 for stage in ("saturation_s", "enumeration_s", "solver_s"))
    assert facts["enumeration_s"] + facts["saturation_s"] + facts["solver_s"] < facts["tuning_s"]


def test_optimize_without_json_says_what_it_does(small_model, small_archive, optimising, tmp_path):
    command = [sys.executable, "-m", "korch.cli", "optimize", str(small_model), "--threads", "2", "--time-budget", "5"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("small.korch: ") and (tmp_path / "small.korch").is_file()
    growth = next(line for line in done.stdout.splitlines() if " grew by " in line)
    facts = json.loads(optimising.stdout)
    assert f"{facts['columns']} columns and {facts['rows']} rows; " in growth and "for choices" in growth
    assert "reading" in done.stderr.splitlines()  # and no more: what was found before is only linked again


@pytest.mark.slow
def test_a_program_beyond_its_bound_is_written_and_has_failed(small_model, tmp_path, monkeypatch, capsys):
    """When it is found, and when it is recalled, which needs no judge."""
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(Judge, "verdict", lambda *_: Verdict("y", 5e-4, 1e-4))
    for name in ("found", "recalled"):
        archive = tmp_path / f"{name}.korch"
        asked = ["optimize", str(small_model), "-o", str(archive), "--threads", "1", "--time-budget", "2", "--json"]
        assert main(asked) == 1 and archive.is_file()
        printed = capsys.readouterr()
        facts = json.loads(printed.out)
        assert facts["passed"] is False and facts["error"] == 5e-4
        assert printed.err.splitlines()[-1] == (
            "error: the program is written, but output 'y' errs by 5.0e-04, numerics default allow 1.0e-04: "
            "--numerics fast allow 1.0e-03"
        )
        monkeypatch.setattr(Judge, "verdict", None)


def test_run_takes_files_and_writes_files(small_model, small_archive, korch_json, tmp_path):
    np.save(tmp_path / "x.npy", small_input())
    facts = korch_json("run", small_archive, "--input", f"x={tmp_path / 'x.npy'}", "--output-dir", tmp_path / "out")
    assert facts["inputs"] == [{"name": "x", "dtype": "float32", "shape": [1, 4, 8, 8]}]
    assert 0 < facts["min_ms"] <= facts["median_ms"]
    np.testing.assert_allclose(np.load(tmp_path / "out" / "y.npy"), expected(small_model, small_input()), rtol=1e-4)


def test_each_output_has_a_file_of_its_own(tmp_path):
    outputs = {name: np.full(1, i) for i, name in enumerate(("a/b", "a_b", "/c", "a_b_1"))}
    files = _store(outputs, tmp_path)
    assert [Path(file).name for file in files.values()] == ["a_b.npy", "a_b_1.npy", "c.npy", "a_b_1_3.npy"]
    assert {name: np.load(file) for name, file in files.items()} == outputs


def test_run_makes_its_own_inputs(small_archive, korch_text):
    text = korch_text("run", small_archive, "--runs", 2)
    assert "input x: f32[1,4,8,8]" in text and "output y: f32[1,4,8,8]" in text and "ms median" in text


def test_verify_passes(small_model, small_archive, korch_json, korch_text):
    facts = korch_json("verify", small_archive, small_model)
    (y,) = facts["outputs"]
    assert facts["passed"] and facts["numerics"] == "default"
    assert 0 < y["korch_error"] <= y["tolerance"] < y["bound"] == 1e-4
    assert y["ratio"] == pytest.approx(y["korch_error"] / y["onnxruntime_error"])
    assert " ok" in korch_text("verify", small_archive, small_model)


def test_verify_fails_with_one_line(small_model, small_archive, tmp_path, capsys):
    model = onnx.load(small_model)
    model.graph.initializer[0].float_data[0] += 0.5
    onnx.save(model, tmp_path / "other.onnx")
    assert main(["verify", str(small_archive), str(tmp_path / "other.onnx")]) == 1
    printed = capsys.readouterr()
    assert "WRONG" in printed.out and printed.err.count("\n") == 1
    assert printed.err.startswith("error: output 'y' is ")


def test_explain(small_archive, korch_json, korch_text):
    facts = korch_json("explain", small_archive)
    text = korch_text("explain", small_archive)
    assert sum(k["share"] for k in facts["kernels"]) == pytest.approx(1)
    assert any("conv(" in p for k in facts["kernels"] for p in k["primitives"])
    for kernel in facts["kernels"]:
        assert kernel["root"] in text and all(p in text for p in kernel["primitives"])
    assert {"arena", "weights", "peak"} <= facts["memory"].keys() and "total: " in text


def test_what_was_asked_for_is_kept(small_archive, korch_json, korch_text):
    asked = {"threads": "2", "numerics": "default", "time_budget": "5"}
    assert korch_json("explain", small_archive)["options"] == asked == read_manifest(small_archive).options
    assert "asked for: threads 2, numerics default, time_budget 5\n" in korch_text("explain", small_archive)


def test_fission_writes_plain_onnx(small_model, korch_text, tmp_path):
    target = tmp_path / "primitives.onnx"
    assert "3 operators, " in korch_text("fission", small_model, target)
    onnx.checker.check_model(str(target))
    found, wanted = expected(target, small_input()), expected(small_model, small_input())
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert list(tmp_path.iterdir()) == [target]


def test_fission_gives_dynamic_inputs_their_shapes(korch_text, tmp_path):
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[N,3] x) => (float[N,3] y) { y = Relu(x) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "in.onnx")
    korch_text("fission", tmp_path / "in.onnx", tmp_path / "out.onnx", "--shape", "x=2,3")
    assert [d.dim_value for d in onnx.load(tmp_path / "out.onnx").graph.input[0].type.tensor_type.shape.dim] == [2, 3]


def test_bench_takes_an_archive(small_model, small_archive, korch_json):
    asked = ("bench", small_model, "--korch", small_archive, "--against", "onnxruntime", "--threads", 2, "--rounds", 1)
    facts = korch_json(*asked)
    assert (facts["model"], facts["threads"], facts["rounds"], facts["best_peer"]) == ("small", 2, 1, "onnxruntime")
    assert facts["runtimes"].keys() == {"korch", "onnxruntime"} and facts["speedup_vs_best_peer"] > 0
    assert all(times.keys() == {"median_ms", "min_ms"} for times in facts["runtimes"].values())


def test_cache(korch_json, korch_text, tmp_path, monkeypatch):
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "cache"))
    assert korch_text("cache", "path") == f"{tmp_path / 'cache'}\n"
    assert korch_json("cache")["database_bytes"] == 0 and not (tmp_path / "cache").exists()
    assert korch_json("cache", "prune")["bytes"] == 0 and not (tmp_path / "cache").exists()
    (tmp_path / "cache" / "archives").mkdir(parents=True)
    (tmp_path / "cache" / "archives" / f"{'0f' * 16}.korch").write_bytes(b"")
    from korch.profile import Database

    Database().close()
    assert korch_json("cache", "show")["archives"] == 1
    assert "measurements: 0 costs" in korch_text("cache", "show")
    assert "at most 10.0 GB" in korch_text("cache", "show")
    with Database() as database:
        database.record_plan("p", "x" * 10**6)
    before = korch_json("cache")
    assert before["plan_bytes"] == 10**6 < before["bytes"]
    left = korch_json("cache", "prune", "--limit", "900kB")["bytes"]
    assert left == korch_json("cache")["bytes"] < 900_000 and korch_json("cache")["plans"] == 0
    assert korch_json("cache", "clear")["removed"] >= 2
    assert not [p for p in (tmp_path / "cache").rglob("*") if p.is_file()]


@pytest.mark.slow  # all evidence is computed anew
@pytest.mark.parametrize("arguments", [["rules"], ["rules", "list"]])
def test_rules_lists_operators_rewrites_and_backends(korch_json, arguments: list[str]):
    facts = korch_json(*arguments)
    assert any("Softmax" in r["operators"] for r in facts["fission"])
    assert {"loops", "onednn", "onnxruntime"} <= {b["name"] for b in facts["backends"]}
    strips = next(r for r in facts["rewrites"] if r["name"] == "conv_in_strips")
    assert (strips["stage"], strips["error"], strips["file"]) == (2, "reassociated", "strips")
    assert any(r["evidence"]["laws"] == ["(A @ B) @ C = A @ (B @ C)"] for r in facts["algebra"])
    assert strips["evidence"]["exact"] and strips["evidence"]["numeric"] and strips["evidence"]["graphs"] >= 3


@pytest.mark.slow
def test_rules_as_text(korch_text):
    text = korch_text("rules", "list")
    assert text == korch_text("rules")
    assert "conv_in_strips" in text and "exact + numeric" in text


def test_rules_discover(korch_json, korch_text):
    facts = korch_json("rules", "discover", "--size", "1")
    assert facts["size"] == 1 and "A @ ones = sum(A)" in facts["laws"]
    lines = korch_text("rules", "discover", "--size", "1").splitlines()
    assert lines[:-1] == facts["laws"] and lines[-1].startswith(f"{len(facts['laws'])} law")


def test_cache_lists_failed_kernels(korch_text, korch_json, tmp_path, monkeypatch):
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "cache"))
    assert korch_text("cache", "failures") == "no kernel has failed\n" and not (tmp_path / "cache").exists()
    with Database(tmp_path / "cache") as database:
        database.record("a", Measurement(1e-3), label="loops  good")
        database.record("b", Failed("status 3"), label="onednn matmul c1")
        database.record("c", Failed("wrong by 0.5"), label="loops  c2")
        database.record("d", Failed("wrong by 0.5"), label="tiles  c3")
    listed = korch_json("cache", "failures")["failures"]
    assert [f["kernel"] for f in listed] == ["tiles  c3", "loops  c2", "onednn matmul c1"]
    assert korch_text("cache", "failures").splitlines() == [
        "    2  wrong by 0.5",
        "       tiles  c3",
        "    1  status 3",
        "       onednn matmul c1",
    ]


def test_the_cache_goes_to_another_machine(korch_text, korch_json, tmp_path, monkeypatch):
    with Database(tmp_path / "here") as database:
        database.record("a", Measurement(1e-3))
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "here"))
    assert korch_text("cache", "export", tmp_path / "file") == f"{tmp_path / 'file'}: 1 row\n"
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "there"))
    assert korch_json("cache", "import", tmp_path / "file") == {"file": str(tmp_path / "file"), "rows": 1}
    assert korch_json("cache")["costs"] == 1
