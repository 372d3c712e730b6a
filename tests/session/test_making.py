"""Programs are judged before they are kept, and what cannot be made is remembered where that will not change."""

from __future__ import annotations

import errno
import importlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import korch
from korch.errors import BackendError, ModelError, UnreadableModel
from korch.executable import Executable
from korch.executable.plan import Accuracy
from korch.options import Options
from korch.session import making, race
from korch.session.archives import Outcome
from korch.session.making import Request, judged, make
from korch.session.source import ModelSource


@pytest.fixture
def request_(small_model: Path, tmp_path: Path) -> Request:
    source = ModelSource(small_model)
    return Request(str(source.file), source.digest, Options(1, 5.0), str(tmp_path), {"intra_op_num_threads": 1})


@pytest.fixture
def searched(small_archive: Path, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Searches find the small archive's program; the budgets that they had."""
    budgets: list[float] = []

    def optimized(model: object, options: Options, *_: object) -> tuple[Executable, None, tuple[()]]:
        budgets.append(options.time_budget or 0.0)
        return korch.load(small_archive), None, ()

    monkeypatch.setattr(importlib.import_module("korch.optimize"), "optimized", optimized)
    return budgets


def times(monkeypatch: pytest.MonkeyPatch, program: float, base: float) -> None:
    monkeypatch.setattr(making, "raced", lambda *_: (program, base))


def test_what_is_faster_is_kept(request_: Request, searched: list[float], monkeypatch: pytest.MonkeyPatch):
    times(monkeypatch, 1.0, 2.0)
    assert make(request_) == Outcome(5.0, 2.0, 1.0)
    opened = request_.place.open()
    assert opened is not None
    opened.close()
    assert make(request_).usable and searched == [5.0]  # found, not made again


def test_what_is_hopeless_is_not(request_: Request, searched: list[float], monkeypatch: pytest.MonkeyPatch):
    times(monkeypatch, 3.5, 1.0)
    outcome = make(request_)
    assert outcome.reason == "onnxruntime takes 1.000 ms, the program 3.500 ms"
    assert not request_.place.archive.exists() and make(request_) == outcome and searched == [5.0]


def test_what_errs_is_not_even_timed(small_archive: Path):
    with korch.load(small_archive) as program:
        program.plan = replace(program.plan, accuracy=Accuracy("y", 1e-2, 1e-4))
        outcome = judged(program, 5.0, lambda: pytest.fail("it was raced"))
    assert "output 'y' errs by 1.0e-02" in outcome.reason


def test_a_longer_search_replaces_unless_it_is_worse(request_: Request, searched: list[float], monkeypatch):
    times(monkeypatch, 1.0, 2.0)
    make(request_)
    first = request_.place.archive.stat().st_mtime_ns
    times(monkeypatch, 1.2, 2.0)
    assert make(request_.within(50.0)) == Outcome(50.0, 2.0, 1.0)
    assert request_.place.archive.stat().st_mtime_ns == first
    times(monkeypatch, 0.8, 2.0)
    assert make(request_.within(200.0)) == Outcome(200.0, 2.0, 0.8)
    assert request_.place.archive.stat().st_mtime_ns > first and searched == [5.0, 50.0, 200.0]


@pytest.mark.parametrize(
    "error, lasting",
    [
        (ModelError("x is strange"), True),
        (BackendError("no compiler"), False),
        (OSError(28, "No space left on device"), False),
    ],
)
def test_what_fails_is_tried_again_another_day_unless_it_is_the_models_fault(
    error: Exception, lasting: bool, request_: Request, monkeypatch: pytest.MonkeyPatch
):
    def optimized(*_: object) -> None:
        raise error

    monkeypatch.setattr(importlib.import_module("korch.optimize"), "optimized", optimized)
    outcome = make(request_)
    assert not outcome.usable
    assert (request_.place.outcome() == outcome) == lasting


def test_of_two_that_want_a_program_one_makes_it(request_: Request, searched: list[float], monkeypatch):
    times(monkeypatch, 1.0, 2.0)
    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda _: make(request_), range(2)))
    assert outcomes[0] == outcomes[1] and len(searched) == 1


def test_the_race_has_two_runners_or_one(small_archive: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(race, "ROUND_SECONDS", 0.001)

    def refuses(*_: object) -> None:
        raise ValueError("no")

    feeds = {"x": np.ones((1, 4, 8, 8), np.float32)}
    with korch.load(small_archive) as program:
        for run, timed in ((lambda *_: None, True), (refuses, False)):
            mine, theirs = making.raced(program, SimpleNamespace(run=run, get_inputs=list), feeds, {})
            assert mine > 0 and (theirs > 0) == timed


def test_a_model_that_cannot_be_read_now_is_made_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """That it could not is not remembered, unlike a model that is malformed."""
    file = tmp_path / "model.onnx"
    file.write_bytes(b"no model")
    request = Request(str(file), "digest", Options(1, 5.0), str(tmp_path / "cache"), {})
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", _unreadable)
        assert "Too many open files" in make(request).reason
    assert request.place.outcome() is None
    assert "not an ONNX model" in make(request).reason
    assert request.place.outcome()


def test_weights_beside_a_model_are_part_of_its_digest_or_it_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "model.onnx"
    file.write_bytes(b"location")
    monkeypatch.setattr(Path, "open", _unreadable)
    with pytest.raises(UnreadableModel, match="Too many open files"):
        _ = ModelSource(file).digest


def _unreadable(*_: object, **__: object) -> bytes:
    raise OSError(errno.EMFILE, "Too many open files")
