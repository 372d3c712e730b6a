"""`korch.InferenceSession` where onnxruntime's would be."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest

import korch
from korch.errors import Error, InputError, ModelError
from korch.integrations import session as module
from korch.integrations.session import InferenceSession
from korch.session import making
from korch.session.service import SERVICE

OPTIONS = {"threads": 2, "time_budget": 5.0}
FREE = """
<ir_version: 8, opset_import: ["": 17]>
free (float[batch, 3, width] x) => (float[batch, 3, width] y, float[batch, width] z)
{ y = Relu(x)  axes = Constant<value_ints = [1]>()  z = ReduceSum<keepdims = 0>(x, axes) }
"""


@pytest.fixture
def feeds() -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).standard_normal((1, 4, 8, 8), dtype=np.float32)}


@pytest.fixture(scope="module")
def always_faster() -> Iterator[None]:
    """A program of microseconds may lose against onnxruntime in a noisy minute; here it wins."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "raced", lambda *_: (1.0, 2.0))
        yield


@pytest.fixture(scope="module")
def session(small_model: Path, small_archive: Path, always_faster: None) -> InferenceSession:
    """Its program is there; its kernels were measured when the archive was made."""
    made = korch.InferenceSession(str(small_model), tune="now", **OPTIONS)
    assert [s.state for s in made.status().specialisations] == ["ready"], made.status()
    return made


@pytest.fixture
def free() -> InferenceSession:
    return korch.InferenceSession(onnx.parser.parse_model(FREE), tune="off")


def test_a_program_runs_like_onnxruntime(session, small_model: Path, feeds):
    theirs, before = ort.InferenceSession(str(small_model)), session.status().base_calls
    for names in (None, [], ["y"]):
        np.testing.assert_allclose(session.run(names, feeds)[0], theirs.run(names, feeds)[0], rtol=1e-4)
    assert session.status().base_calls == before


def test_describes_itself_like_onnxruntime(session, free, small_model: Path):
    others = (
        ort.InferenceSession(str(small_model)),
        ort.InferenceSession(onnx.parser.parse_model(FREE).SerializeToString()),
    )
    for ours, theirs in zip((session, free), others, strict=True):
        for mine, other in ((ours.get_inputs(), theirs.get_inputs()), (ours.get_outputs(), theirs.get_outputs())):
            assert [(a.name, a.shape, a.type) for a in mine] == [(a.name, a.shape, a.type) for a in other]
        assert ours.get_modelmeta().graph_name == theirs.get_modelmeta().graph_name
        assert ours.get_modelmeta().custom_metadata_map == theirs.get_modelmeta().custom_metadata_map
        assert ours.get_providers() == theirs.get_providers() and isinstance(ours, ort.InferenceSession)
    assert session.get_session_options().intra_op_num_threads == 2
    assert free.get_inputs()[0].shape == ["batch", 3, "width"]


def test_any_shape_is_answered_at_once(free):
    for shape in ((1, 3, 5), (2, 3, 7), (0, 3, 4)):
        x = np.random.default_rng(1).standard_normal(shape, dtype=np.float32)
        y, z = free.run(None, {"x": x})
        np.testing.assert_array_equal(y, np.maximum(x, 0))
        np.testing.assert_allclose(z, x.sum(1), atol=1e-5)


def test_what_does_not_fit_is_refused_as_onnxruntime_does_in_one_line(session, free, feeds):
    invalid = ort.capi.onnxruntime_pybind11_state.InvalidArgument
    for asked in (
        lambda: session.run(None, {"x": feeds["x"][:, :2]}),
        lambda: session.run(["nothing"], feeds),
        lambda: session.run(None, {"x": feeds["x"].astype(np.float64)}),
        lambda: free.run(None, {"x": feeds["x"]}),
    ):
        with pytest.raises(invalid) as caught:
            asked()
        assert isinstance(caught.value, InputError) and "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="missing"):
        session.run(None, {})


def test_what_is_no_model_is_refused():
    with pytest.raises(ModelError, match="model") as caught:
        korch.InferenceSession(b"nonsense")
    assert type(caught.value).__name__ in ("InvalidProtobuf", "Fail", "InvalidArgument")
    with pytest.raises(Error, match="not one of background, now, off"):
        korch.InferenceSession(b"nonsense", tune="soon")


def test_what_was_made_is_found_by_the_next_session(session, small_model: Path, feeds, monkeypatch):
    monkeypatch.setattr("korch.session.specialisations.make", lambda *_: pytest.fail("made again"))
    again = korch.InferenceSession(small_model.read_bytes(), tune="off", **OPTIONS)
    first = again.run(None, feeds)[0]
    until(lambda: again.status().specialisations[0].state == "ready")
    calls = again.status().base_calls
    np.testing.assert_array_equal(again.run(None, feeds)[0], session.run(None, feeds)[0])
    np.testing.assert_allclose(first, session.run(None, feeds)[0], rtol=1e-4)
    assert again.status().base_calls == calls


def until(condition, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.nightly
def test_programs_are_made_in_the_background_and_take_over(small_model: Path, feeds, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path))
    session = korch.InferenceSession(small_model, **OPTIONS)
    expected = session.run(None, feeds)[0]
    until(lambda: session.status().specialisations[0].state not in ("wanted", "waiting", "making"), 180)
    (status,) = session.status().specialisations
    assert status.state in ("ready", "tried", "rejected"), status
    np.testing.assert_allclose(session.run(None, feeds)[0], expected, rtol=1e-4)


def test_numbers_and_lists_are_arrays(session, feeds):
    expected = session.run(None, feeds)[0]
    np.testing.assert_array_equal(session.run(None, {"x": feeds["x"].tolist()})[0], expected)


def test_numpy_scalars_are_inputs():
    text = '<ir_version: 8, opset_import: ["": 17]> g (float x, float[n] y) => (float[n] z) { z = Mul(x, y) }'
    session = korch.InferenceSession(onnx.parser.parse_model(text), tune="off")
    assert session.run(None, {"x": np.float32(2), "y": np.ones(3, np.float32)})[0].tolist() == [2, 2, 2]
    assert session._binding(session._as_arrays({"x": np.float32(2), "y": [1.0]})) == ((), (1,))


def test_the_base_is_let_go_and_comes_back(session, feeds, monkeypatch):
    monkeypatch.setattr(module, "IDLE_SECONDS", 0.05)
    session.run(None, {"x": np.ones((1, 4, 8, 8), np.float32)}, ort.RunOptions())
    SERVICE.attend(session)
    until(lambda: not session.status().base_loaded)
    assert session.get_inputs()[0].shape == [1, 4, 8, 8]
    calls = session.status().base_calls
    np.testing.assert_allclose(session.base_run(None, feeds)[0], session.run(None, feeds)[0], rtol=1e-4)
    assert session.status().base_calls == calls + 1
    until(lambda: not session.status().base_loaded)


def test_a_program_that_fails_is_not_used_again(small_model: Path, session, feeds):
    other = korch.InferenceSession(small_model, tune="now", **OPTIONS)
    program = other.programs.known(((1, 4, 8, 8),)).program
    program.close()
    np.testing.assert_allclose(other.run(None, feeds)[0], session.run(None, feeds)[0], rtol=1e-4)
    (status,) = other.status().specialisations
    assert status.state == "failed" and "closed" in status.reason


@pytest.mark.parametrize("by_program", [True, False])
def test_memory_of_the_caller_is_bound(by_program: bool, session, free, feeds):
    chosen = session if by_program else korch.InferenceSession(session._source.file, tune="off", cache=False)
    expected, binding, y = session.run(None, feeds)[0], chosen.io_binding(), np.full((1, 4, 8, 8), np.nan, np.float32)
    binding.bind_cpu_input("x", feeds["x"])
    binding.bind_output("y", "cpu", 0, np.float32, y.shape, y.ctypes.data)
    chosen.run_with_iobinding(binding)
    np.testing.assert_allclose(y, expected, rtol=1e-4)
    binding.clear_binding_outputs()
    binding.bind_output("y")
    binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(2 * feeds["x"]))
    chosen.run_with_iobinding(binding)
    doubled = chosen.run(None, {"x": 2 * feeds["x"]})[0]
    np.testing.assert_allclose(binding.copy_outputs_to_cpu()[0], doubled, rtol=1e-4)
    np.testing.assert_allclose(binding.get_outputs()[0].numpy(), doubled, rtol=1e-4)
    x = np.ascontiguousarray(feeds["x"])
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    chosen.run_with_iobinding(binding)
    np.testing.assert_allclose(binding.copy_outputs_to_cpu()[0], expected, rtol=1e-4)
    values = chosen.run_with_ort_values(["y"], {"x": ort.OrtValue.ortvalue_from_numpy(feeds["x"])})
    np.testing.assert_allclose(values[0].numpy(), expected, rtol=1e-4)
    with pytest.raises(InputError, match="not of this session"):
        free.run_with_iobinding(binding)


def test_runs_in_another_thread(session, feeds):
    done = threading.Event()
    answers = []
    session.run_async(["y"], feeds, lambda *answer: (answers.append(answer), done.set()), "data")
    assert done.wait(60)
    ((results, data, error),) = answers
    np.testing.assert_array_equal(results[0], session.run(None, feeds)[0])
    assert (data, error) == ("data", "")


def test_threads_share_a_session(session, feeds):
    expected = session.run(None, feeds)[0]
    with ThreadPoolExecutor(8) as pool:
        for results in pool.map(lambda _: session.run(None, feeds), range(64)):
            np.testing.assert_array_equal(results[0], expected)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("(string[2] x) => (string[2] y) { y = Identity(x) }", "input 'x' is tensor(string)"),
        ("(seq(float[2]) x) => (seq(float[2]) y) { y = Identity(x) }", "input 'x' is seq(tensor(float))"),
    ],
)
def test_models_of_other_values_stay_with_onnxruntime(text: str, reason: str):
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["": 17]> g ' + text)
    session = korch.InferenceSession(model)
    assert session.status().reason == reason
    x = ["a", "b"] if "string" in text else [np.ones(2, np.float32)]
    assert len(session.run(None, {"x": np.array(x) if "string" in text else x})) == 1
    assert session.status().specialisations == ()


def test_profiles_are_onnxruntimes(small_model: Path, feeds, tmp_path: Path):
    options = ort.SessionOptions()
    options.enable_profiling, options.profile_file_prefix = True, str(tmp_path / "profile")
    session = korch.InferenceSession(small_model, options)
    session.run(None, feeds)
    assert Path(session.end_profiling()).is_file() and session.status().reason == "onnxruntime profiles its runs"


@pytest.mark.slow
@pytest.mark.parametrize("cache", [True, False])
def test_where_nothing_can_be_kept_there_is_a_session_all_the_same(
    cache: bool, small_model: Path, feeds, session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog
):
    (tmp_path / "file").touch()
    monkeypatch.setenv("KORCH_CACHE_DIR", str(tmp_path / "file") if cache else str(tmp_path / "new"))
    found = korch.InferenceSession(small_model, tune="now", threads=1, time_budget=1.0, cache=cache)
    np.testing.assert_allclose(found.run(None, feeds)[0], session.run(None, feeds)[0], rtol=1e-4)
    assert ("nothing is kept" in caplog.text) == cache and not (tmp_path / "new").exists()
    folder = found.programs.folder
    assert folder.exists()
    del found
    gc.collect()
    until(lambda: not folder.exists())


def test_shapes_are_made_ahead(free):
    model = onnx.parser.parse_model(FREE)
    session = korch.InferenceSession(model, tune="off", shapes=[{"x": (1, 3, 4)}, {"x": (2, 3, 4)}])
    assert {s.shapes["x"] for s in session.status().specialisations} == {(1, 3, 4), (2, 3, 4)}
    for shapes, said in (({}, "dynamic shape"), ({"w": (1,)}, "given for 'w'")):
        with pytest.raises(InputError, match=said):
            korch.InferenceSession(model, tune="off", shapes=[shapes])


def test_a_session_that_nobody_holds_goes(small_model: Path, feeds):
    session = korch.InferenceSession(small_model, tune="off", cache=False)
    session.run(None, feeds)
    gone = weakref.ref(session)
    del session
    until(lambda: gc.collect() >= 0 and gone() is None)
