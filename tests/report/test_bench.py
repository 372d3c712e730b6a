"""Comparison of runtimes: what enters the race, what is left out and why, and what the result says."""

from __future__ import annotations

import sys
import venv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnx
import onnx.parser
import pytest

from korch.errors import Error, ModelError
from korch.report import bench, runtime_process
from korch.report.bench import Contest, compare, inputs_of, race, relative_error
from korch.report.peers import NotOffered, Subject, known_peers
from korch.report.runtime_process import RuntimeFailed, RuntimeProcess, module_command
from korch.system.processor import cpu_flags

MODEL = """
<ir_version: 8, opset_import: ["" : 17]>
doubled (float[2,3] x) => (float[2,3] y) { y = Add(x, x) }
"""

RUNTIME = """
from types import SimpleNamespace
import numpy as np
from korch.report import serving
from korch.report.peers import NotOffered, Peer

now = 0.0

def passes(seconds):
    global now
    now += seconds
    return now

serving.time = SimpleNamespace(perf_counter=lambda: passes(1e-3))  # of a clock that nobody else moves

def load(subject, threads):
    {load}
    return lambda feeds: [{output}]

serving.serve(Peer("fake", lambda: {available}, load, lambda: "{precision}"))
"""


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    path = tmp_path / "doubled.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), path)
    return Subject(path, ("y",))


@pytest.fixture
def runtime(tmp_path: Path):
    """Makes a fake runtime: the command that starts it."""

    def make(
        output: str = "feeds['x'] * 2", load: str = "pass", available: str = "None", precision: str = "float32"
    ) -> list[str]:
        script = tmp_path / f"runtime{len(list(tmp_path.iterdir()))}.py"
        script.write_text(RUNTIME.format(output=output, load=load, available=available, precision=precision))
        return [sys.executable, str(script)]

    return make


FEEDS = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}


def test_result_says_who_is_best_and_how_far_off_each_is(subject, runtime):
    commands = {
        "reference": runtime(),
        "korch": runtime(),
        "exact": runtime(),
        "slow": runtime(output="passes(0.02) and feeds['x'] * 2 + 0.05"),
    }
    result = race(commands, subject, FEEDS, threads=1, rounds=1)
    assert set(result["runtimes"]) == {"korch", "exact", "slow"}
    ours, best = (result["runtimes"][name]["median_ms"] for name in ("korch", "exact"))
    assert result["runtimes"]["slow"]["median_ms"] == pytest.approx(21) and best == pytest.approx(1)
    assert all(set(figures) == {"median_ms", "min_ms"} for figures in result["runtimes"].values())
    assert (result["model"], result["threads"], result["rounds"]) == ("doubled", 1, 1)
    assert result["best_peer"] == "exact"
    assert result["speedup_vs_best_peer"] == best / ours
    assert result["errors"] == {"korch": 0.0, "exact": 0.0, "slow": pytest.approx(0.005, rel=1e-4)}
    assert result["skipped"] == {}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"available": "'not here'"}, "not here"),
        ({"load": "raise NotOffered('no such form')"}, "no such form"),
        ({"load": "raise ValueError('bad node')"}, "ValueError: bad node"),
        ({"load": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"}, "killed by SIGKILL"),
        ({"load": "raise SystemExit('gone')"}, "ended with status 1: gone"),
        ({"output": "feeds['x'][0]"}, "shapes [(3,)]"),
        ({"output": "feeds['x'] * 2 + 1"}, "output 'y' errs by 1.0e-01 of its largest magnitude"),
        ({"output": "feeds['x'] / 0"}, "output 'y' is not finite where that of onnxruntime without optimisations is"),
    ],
)
def test_peer_that_fails_is_left_out_with_its_reason(subject, runtime, fault, reason):
    commands = {"reference": runtime(), "korch": runtime(), "broken": runtime(**fault)}
    result = race(commands, subject, FEEDS, threads=1, rounds=1)
    assert reason in result["skipped"]["broken"]
    assert set(result["runtimes"]) == {"korch"}
    assert result["best_peer"] is None and result["speedup_vs_best_peer"] is None


def test_who_computes_in_another_precision_stands_apart(subject, runtime):
    """It may err more, and who is best among those of one precision is said as well."""
    commands = {
        "reference": runtime(),
        "korch": runtime(),
        "slow": runtime(output="passes(0.02) and feeds['x'] * 2"),
        "narrow": runtime(output="feeds['x'] * 2.1", precision="bfloat16"),
        "wrong": runtime(output="feeds['x'] * 3", precision="bfloat16"),
    }
    result = race(commands, subject, FEEDS, threads=1, rounds=1)
    assert result["precisions"] == {"korch": "float32", "slow": "float32", "narrow": "bfloat16"}
    assert (result["best_peer"], result["fastest_peer"]) == ("slow", "narrow")
    assert result["speedup_vs_best_peer"] > 10 > result["speedup_vs_fastest_peer"] > 0
    assert "errs by 5.0e-01" in result["skipped"]["wrong"]


def test_peer_that_fails_in_the_race_is_left_out(subject, runtime):
    failing = runtime(load="state = []", output="feeds['x'] * 2 if not state.append(0) and len(state) < 3 else 1 / 0")
    result = race({"reference": runtime(), "late": failing}, subject, FEEDS, threads=1, rounds=2)
    assert "ZeroDivisionError" in result["skipped"]["late"]
    assert result["runtimes"] == {} and result["errors"] == {}


def test_the_machines_rate_stands_beside_the_runtimes(subject, runtime, tmp_path, monkeypatch):
    """Also where nothing was tuned before, so that there is no cache folder yet."""
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "none" / "yet"))
    pace = [sys.executable, "-m", "korch.report.pace"]
    result = race({"reference": runtime(), "korch": runtime()}, subject, FEEDS, threads=1, rounds=1, pace=pace)
    assert set(result["runtimes"]) == {"korch"}
    assert 0.1 < result["peak_gflops"] < 10_000


def test_machine_without_a_compiler_has_no_rate(subject, runtime):
    pace = [sys.executable, "-c", "raise SystemExit('no compiler')"]
    result = race({"reference": runtime(), "korch": runtime()}, subject, FEEDS, threads=1, rounds=1, pace=pace)
    assert result["peak_gflops"] is None
    assert "no compiler" in result["skipped"]["machine"]


def test_korch_failing_is_an_error(subject, runtime):
    commands = {"reference": runtime(), "korch": runtime(load="raise ValueError('bad archive')")}
    with pytest.raises(RuntimeFailed, match="bad archive"):
        race(commands, subject, FEEDS, threads=1, rounds=1)


def test_korch_computing_something_else_is_an_error(subject, runtime):
    commands = {"reference": runtime(), "korch": runtime(output="feeds['x'] * 3")}
    with pytest.raises(Error, match=r"korch: output 'y' errs by 5\.0e-01 of its largest magnitude"):
        race(commands, subject, FEEDS, threads=1, rounds=1)


def test_single_precision_that_overflows_tells_nothing(subject, runtime):
    commands = {"reference": runtime("feeds['x'] / (feeds['x'] > 1)"), "korch": runtime("feeds['x']")}
    assert race(commands, subject, FEEDS, threads=1, rounds=1)["errors"] == {"korch": 0.0}


def test_integers_that_differ_are_no_reason_to_be_left_out(subject, runtime):
    """The larger of nearly equal ones is another for every runtime."""
    commands = {"reference": runtime("(feeds['x'] > 2).astype('int64')"), "other": runtime("feeds['x'] > 3")}
    assert race(commands, subject, FEEDS, threads=1, rounds=1)["errors"] == {"other": pytest.approx(1 / 6)}


@pytest.mark.parametrize("kind", ["float16", "int8"])
def test_models_that_round_coarsely_may_err_more(subject, runtime, kind):
    model = onnx.load(subject.onnx)
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(1, kind), "w"))
    onnx.save(model, subject.onnx)
    commands = {"reference": runtime(), "near": runtime("feeds['x'] * 2.1"), "far": runtime("feeds['x'] * 3")}
    result = race(commands, subject, FEEDS, threads=1, rounds=1)
    assert set(result["runtimes"]) == {"near"} and "errs by 5.0e-01" in result["skipped"]["far"]


def test_korch_has_as_many_threads_as_its_peers(tmp_path, monkeypatch):
    def load(path: Path, threads: int) -> SimpleNamespace:
        asked.append(threads)
        return SimpleNamespace(plan=SimpleNamespace(threads=2, steps=()))

    asked: list[int] = []
    monkeypatch.setattr("korch.load", load)
    subject = Subject(tmp_path / "m.onnx", ("y",), tmp_path / "m.korch")
    known_peers()["korch"].load(subject, 1)
    with pytest.raises(NotOffered, match=r"m\.korch was made for 2 threads, not 3"):
        known_peers()["korch"].load(subject, 3)
    assert asked == [1, 3]


ANSWERING = "import json, sys, library\nfor _ in sys.stdin: print(json.dumps({'value': library.WHOSE}), flush=True)"


def test_another_interpreter_has_its_own_packages(tmp_path, monkeypatch):
    """Korch's are found only where that has none of the name."""
    venv.create(tmp_path / "other", symlinks=True)
    (theirs,) = (tmp_path / "other").glob("lib/*/site-packages")
    ours = tmp_path / "ours"
    ours.mkdir()
    for folder, whose in ((theirs, "theirs"), (ours, "ours")):
        (folder / "library.py").write_text(f"WHOSE = {whose!r}")
    (ours / "answering.py").write_text(ANSWERING)
    monkeypatch.setattr(runtime_process, "PACKAGES", ours)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    command = runtime_process.module_command(str(tmp_path / "other" / "bin" / "python"), "answering")
    with RuntimeProcess("other", command, 1) as process:
        assert process.ask("load", limit=600.0) == "theirs"


def test_a_runtime_that_is_left_out_does_not_run_beside_the_others(subject, tmp_path):
    with RuntimeProcess("hung", [sys.executable, "-c", "import time; time.sleep(600)"], 1) as process:
        contest = Contest(subject, 1, print, tmp_path, {"hung": process}, {"hung": 0.0})
        contest.leave(process, RuntimeFailed("hung: no answer within 1 s"))
        assert process._process.poll() is not None
    assert contest.skipped == {"hung": "no answer within 1 s"} and not contest.racing and not contest.errors


def test_a_runtime_takes_nothing_from_the_working_directory(subject, runtime, tmp_path, monkeypatch):
    (tmp_path / "bisect.py").write_text("raise SystemExit('that of the working directory')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with RuntimeProcess("machine", module_command(sys.executable, "korch.report.pace"), 1) as process:
        process.ask("load", limit=600.0)


def test_what_a_runtime_prints_does_not_disturb_the_protocol(subject, runtime):
    noisy = runtime(load="import os; print('hello'); os.write(1, b'there')")
    result = race({"reference": runtime(), "noisy": noisy}, subject, FEEDS, threads=1, rounds=1)
    assert set(result["runtimes"]) == {"noisy"}


@pytest.mark.parametrize("name", ["onnxruntime", "openvino"])
def test_installed_peer_agrees_with_the_reference(subject, name):
    if reason := known_peers()[name].available():
        pytest.skip(reason)
    result = compare(subject.onnx, korch_path=None, against=(name,), threads=1, rounds=1)
    assert result["errors"] == {name: 0.0}
    assert set(result["runtimes"]) == {name} and result["best_peer"] == name


def test_openvino_as_it_comes_is_one_runtime_more_only_where_it_computes_in_less(subject):
    if reason := known_peers()["openvino"].available():
        pytest.skip(reason)
    result = compare(subject.onnx, korch_path=None, against=("openvino", "openvino-default"), threads=1, rounds=1)
    if cpu_flags_of_bfloat16():
        assert result["precisions"] == {"openvino": "float32", "openvino-default": "bfloat16"}
    else:
        assert result["skipped"] == {"openvino-default": "computes in float32 on this processor, as openvino does"}


def cpu_flags_of_bfloat16() -> set[str]:
    return {"avx512_bf16", "amx_bf16"}.intersection(cpu_flags())


@pytest.mark.slow
def test_torch_is_left_out_without_a_definition(subject):
    if reason := known_peers()["torch"].available():
        pytest.skip(reason)
    result = compare(subject.onnx, korch_path=None, against=("torch",), threads=1, rounds=1)
    assert result["skipped"] == {"torch": "no folder of torch definitions was given"}


def test_unknown_peer_is_named(subject):
    with pytest.raises(Error, match="no runtime is named tvm9; there are korch, onnxruntime, openvino"):
        compare(subject.onnx, korch_path=None, against=("tvm9",), threads=1, rounds=1)


def test_inputs_are_seeded_and_typed():
    text = MODEL.replace("float[2,3] x", "float[2,3] x, int64[4] i, bool[5] b")
    first, second = (inputs_of(onnx.parser.parse_model(text)) for _ in range(2))
    assert {name: (a.dtype.name, a.shape) for name, a in first.items()} == {
        "x": ("float32", (2, 3)),
        "i": ("int64", (4,)),
        "b": ("bool", (5,)),
    }
    assert all(np.array_equal(first[name], second[name]) for name in first)


def test_indices_point_anywhere_for_every_runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    text = """<ir_version: 8, opset_import: ["": 17]>
    g (float[40, 3] table, int64[200] i, int64[4] n) => (float[200, 3] y, int64[4] m)
    { y = Gather(table, i) m = Add(n, n) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "rows.onnx")
    given = dict[str, np.ndarray]()
    monkeypatch.setattr(bench, "race", lambda commands, subject, feeds, **rest: given.update(feeds))
    compare(tmp_path / "rows.onnx", korch_path=None, against=(), threads=1, rounds=1)
    assert set(given["i"]) <= set(range(40)) and len(set(given["i"])) > 20 and set(given["n"]) <= {0, 1}


def test_input_of_open_shape_is_refused_by_name():
    with pytest.raises(ModelError, match="input x has no fixed shape"):
        inputs_of(onnx.parser.parse_model(MODEL.replace("float[2,3] x", "float[N,3] x")))


@pytest.mark.parametrize(
    ("found", "expected", "error"),
    [
        ([1.0, 2.0], [1.0, 4.0], 0.5),
        ([1.0], [0.0], 1.0),
        ([np.inf, 3.0], [np.inf, 4.0], 0.25),
        ([5.0, 3.0], [np.inf, 4.0], 0.25),
        ([np.nan], [np.nan], 0.0),
        ([np.nan], [1.0], np.inf),
        ([1, 2, 300], [1, 2, 3], 1 / 3),
        ([], [], 0.0),
        (np.zeros(0, bool), np.zeros(0, bool), 0.0),
    ],
)
def test_relative_error(found, expected, error):
    assert relative_error(np.array(found), np.array(expected)) == error


def test_open_lengths_get_shapes_in_a_copy(tmp_path: Path):
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[n, 4] x) => (float[n, 4] y) { y = Relu(x) }'
    onnx.save(onnx.parser.parse_model(text), tmp_path / "open.onnx")
    copy = bench.fixed(tmp_path / "open.onnx", {"x": (3, 4)}, tmp_path / "copies")
    bench.check_fixed(copy)
    assert copy.name == "open.onnx" and copy.parent == tmp_path / "copies"
    static = tmp_path / "static.onnx"
    onnx.save(onnx.parser.parse_model(MODEL), static)
    assert bench.fixed(static, {"x": (2, 3)}, tmp_path) == static
    with pytest.raises(ModelError, match=r"dynamic|shape"):
        bench.check_fixed(bench.fixed(tmp_path / "open.onnx", {}, tmp_path))
