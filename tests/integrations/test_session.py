"""`korch.InferenceSession` where onnxruntime's would be."""

from __future__ import annotations

import importlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import korch
from korch.errors import CacheError, InputError, ModelError
from korch.executable.plan import Accuracy
from korch.integrations import archives
from korch.options import Options

OPTIONS = {"threads": 2, "time_budget": 5.0}


@pytest.fixture
def feeds() -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).standard_normal((1, 4, 8, 8), dtype=np.float32)}


@pytest.fixture(scope="module")
def session(small_model: Path, small_archive: Path):
    """Its kernels were measured when the archive was made."""
    return korch.InferenceSession(str(small_model), **OPTIONS)


def test_runs_like_onnxruntime(session, small_model: Path, feeds):
    theirs = onnxruntime.InferenceSession(str(small_model))
    for names in (None, [], ["y"]):
        np.testing.assert_allclose(session.run(names, feeds)[0], theirs.run(names, feeds)[0], rtol=1e-4)


def test_describes_itself_like_onnxruntime(session, small_model: Path):
    theirs = onnxruntime.InferenceSession(str(small_model))
    for ours, other in ((session.get_inputs(), theirs.get_inputs()), (session.get_outputs(), theirs.get_outputs())):
        assert [(a.name, a.shape, a.type) for a in ours] == [(a.name, a.shape, a.type) for a in other]


def test_says_what_does_not_fit(session, feeds):
    with pytest.raises(InputError, match="no output 'z'; it has y"):
        session.run(["z"], feeds)
    with pytest.raises(InputError, match="input 'x' is missing"):
        session.run(None, {})
    with pytest.raises(ModelError, match="not an ONNX model"):
        korch.InferenceSession(b"nonsense")


def test_the_second_session_is_found(session, small_model: Path, feeds, monkeypatch: pytest.MonkeyPatch):
    def never(*_: object) -> None:
        raise AssertionError("optimised again")

    monkeypatch.setattr(importlib.import_module("korch.optimize"), "optimized", never)
    again = korch.InferenceSession(small_model, **OPTIONS)
    np.testing.assert_array_equal(again.run(None, feeds)[0], session.run(None, feeds)[0])
    with pytest.raises(AssertionError):
        korch.InferenceSession(small_model, **OPTIONS, cache=False)
    with pytest.raises(AssertionError):
        korch.InferenceSession(small_model, **OPTIONS, numerics="fast")


def test_a_kept_program_that_errs_too_much_is_told(small_archive: Path, tmp_path: Path, caplog, monkeypatch):
    """Each time that it is found, not only when it is made."""
    with korch.load(small_archive) as executable:
        assert not caplog.messages
        far = replace(executable.plan, accuracy=Accuracy("y", 1e-2, 1e-4))
        monkeypatch.setattr(executable, "plan", far)
        archives.keep(executable, tmp_path / "m.korch")
    kept = archives.recall(tmp_path / "m.korch")
    assert kept is not None
    assert "output 'y' errs by 1.0e-02, numerics default allow 1.0e-04" in caplog.text


def test_threads_come_from_onnxruntimes_options(small_model: Path, monkeypatch: pytest.MonkeyPatch):
    asked = []
    monkeypatch.setattr("korch.integrations.session._program", lambda model, options, cache: asked.append(options))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 3
    korch.InferenceSession(str(small_model), options, providers=["CPUExecutionProvider"])
    assert asked[0].threads == 3


def external(folder: Path, weight: float) -> Path:
    """A model whose weight lies in a file beside it."""
    folder.mkdir()
    text = (
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) <float[2] w = {1,2}> { y = Add(x, w) }'
    )
    model = onnx.parser.parse_model(text)
    array = np.full(2, weight, np.float32)
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(array, "w"))
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return folder / "m.onnx"


def test_weights_in_other_files_count(tmp_path: Path):
    places = [archives.place_of(external(tmp_path / str(w), w), Options(2)) for w in (1.0, 2.0)]
    assert (tmp_path / "1.0" / "m.onnx").read_bytes() == (tmp_path / "2.0" / "m.onnx").read_bytes()
    assert places[0] != places[1]


def test_whatever_is_asked_for_has_an_archive_of_its_own():
    asked = (Options(2), Options(1), Options(2, 5.0), Options(2, shapes={"x": (2,)}), Options(2, shapes={"x": (3,)}))
    assert len({archives.place_of(b"m", o) for o in asked}) == len(asked)


def test_an_archive_that_does_not_fit_is_made_again(tmp_path: Path):
    (tmp_path / "m.korch").write_bytes(b"of another time")
    assert archives.recall(tmp_path / "m.korch") is None


def test_numbers_and_lists_are_arrays(session, feeds):
    expected = session.run(None, feeds)[0]
    np.testing.assert_array_equal(session.run(None, {"x": feeds["x"].tolist()})[0], expected)
    with pytest.raises(ValueError, match="input 'x' is no array of float32"):
        session.run(None, {"x": [["a"]]})


@pytest.mark.parametrize("cache", [True, False])
def test_where_nothing_can_be_kept_there_is_a_session_all_the_same(
    cache: bool, small_model: Path, feeds, session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "file") if cache else str(tmp_path / "new"))
    found = korch.InferenceSession(small_model, threads=1, time_budget=1.0, cache=cache)
    np.testing.assert_allclose(found.run(None, feeds)[0], session.run(None, feeds)[0], rtol=1e-4)
    assert ("nothing is kept" in caplog.text) == cache and not (tmp_path / "new").exists()


def test_of_two_that_want_a_program_one_makes_it(small_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path))
    module, made = importlib.import_module("korch.optimize"), list[object]()
    original = module.optimized
    monkeypatch.setattr(module, "optimized", lambda *asked: made.append(asked) or original(*asked))
    with ThreadPoolExecutor(2) as pool:
        sessions = list(pool.map(lambda _: korch.InferenceSession(small_model, threads=1, time_budget=1.0), range(2)))
    assert len(made) == 1 and len(sessions) == 2
    assert archives.clear_archives(tmp_path) == 1 and not list((tmp_path / archives.FOLDER).iterdir())


def test_a_user_without_a_home_folder_is_told(monkeypatch: pytest.MonkeyPatch):
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("KORCH_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(CacheError, match="KORCH_CACHE_DIR"):
        archives.place_of(b"m", Options())
