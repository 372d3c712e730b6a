"""Kernels on a device: right ones have costs, wrong ones reasons, and what a broken device means."""

from __future__ import annotations

import numpy as np
import pytest

from korch.numerics.rounding import EPSILONS, rounded
from korch.profile.check import reference
from korch.profile.cuda import trial as trials
from korch.profile.cuda.board import BoardError, BoardLost
from korch.profile.cuda.tasks import BoardRates, Measure, MeasurePace, MeasureRates
from korch.profile.cuda.trial import KernelTrials
from korch.profile.pace import SHARE
from korch.profile.results import Failed, Last, Measurement

from .fake_board import FakeBoard, kernel, on_board, product_cone, relu_cone


@kernel
def right(x, y):
    y[...] = np.maximum(x, 0)


@kernel
def wrong(x, y):
    right(x, y)
    y[3, 5] += 1


@kernel
def forgetful(x, y):
    y[:-1] = np.maximum(x, 0)[:-1]


@kernel
def trespassing(x, y):
    right(x, y)
    y.base[y.nbytes + 3] = 7


@kernel
def greedy(x, y):
    right(x, y)
    x[0, 0] = 4


@kernel
def failing(x, y):
    raise ZeroDivisionError


@kernel
def losing(x, y):
    raise BoardLost("an illegal memory access was encountered")


@kernel
def crowded(x, y):
    raise BoardError("CUDA out of memory. Tried to allocate 2.00 GiB")


@kernel
def starved(x, y):
    raise MemoryError


@kernel
def exact(x, w, y):
    y[...] = x @ w


@kernel
def in_tf32(x, w, y):
    y[...] = rounded(x, "tf32") @ rounded(w, "tf32")


@kernel
def cut_off(x, w, y):
    """As tensor cores do that read float32: the last bits do not count."""
    y[...] = truncated(x) @ truncated(w)


@kernel
def short(x, w, y):
    """One of the terms is left out."""
    y[...] = rounded(x, "tf32")[:, :-1] @ rounded(w, "tf32")[:-1]


def truncated(x: np.ndarray) -> np.ndarray:
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


@pytest.fixture
def trial() -> KernelTrials:
    return KernelTrials(FakeBoard())


def test_a_right_kernel_has_a_cost(trial: KernelTrials):
    result = trial.answer(Measure(on_board(relu_cone(), right)))
    assert isinstance(result, Measurement)
    assert result.seconds == pytest.approx(10e-6) and result.spread == 0.0 and result.error == 0.0


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (wrong, "wrong at [3, 5]"),
        (forgetful, "never writes [63, 0]; 64 values are missing"),
        (trespassing, "writes outside its buffers"),
        (greedy, "writes to its leaf 0"),
        (failing, "an illegal instruction"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_a_wrong_kernel_has_a_reason_and_the_next_one_a_cost(trial: KernelTrials, function, reason: str):
    result = trial.answer(Measure(on_board(relu_cone(), function)))
    assert isinstance(result, Failed) and reason in result.reason
    assert isinstance(trial.answer(Measure(on_board(relu_cone(), right))), Measurement)


def test_a_kernel_that_waits_for_another_that_hangs_is_not_to_blame(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trials, "PATIENCE", -1.0)
    result = KernelTrials(FakeBoard()).answer(Measure(on_board(relu_cone(), right)))
    assert isinstance(result, Failed) and not result.lasting and "waited in vain" in result.reason


def test_after_a_lost_device_the_process_says_its_last_word(trial: KernelTrials):
    result = trial.answer(Measure(on_board(relu_cone(), losing)))
    assert result == Last(Failed("an illegal memory access was encountered"))


@pytest.mark.parametrize("function", [in_tf32, cut_off], ids=lambda f: f.__name__)
def test_rounded_factors_are_right_where_the_kernel_says_so(trial: KernelTrials, function):
    result = trial.answer(Measure(on_board(product_cone(), function, precision="tf32")))
    assert isinstance(result, Measurement) and 1e-5 < result.error < 4 * EPSILONS["tf32"]
    for precision in ("ieee", "tf32x3"):
        assert isinstance(trial.answer(Measure(on_board(product_cone(), function, precision=precision))), Failed)


@pytest.mark.parametrize("precision", ["tf32", "fp16"])
def test_rounding_does_not_excuse_a_term_too_few(trial: KernelTrials, precision: str):
    result = trial.answer(Measure(on_board(product_cone(), short, precision=precision)))
    assert isinstance(result, Failed) and "wrong at" in result.reason


def test_constants_are_cold_and_what_moves_is_warm():
    board = FakeBoard(cache=1 << 20)
    trial = KernelTrials(board)
    assert isinstance(trial.answer(Measure(on_board(product_cone(64, 4096, 64), exact, precision="ieee"))), Measurement)
    sets = board.binds[1:]
    assert len(sets) == 2 and len({s[1] for s in sets}) == 2, "a megabyte of weights does not stay in one of cache"
    assert {len({s[i] for s in sets}) for i in (0, 2)} == {2}, "what moves is large too"
    board.binds.clear()
    assert isinstance(trial.answer(Measure(on_board(product_cone(8, 4096, 32), exact, precision="ieee"))), Measurement)
    sets = board.binds[1:]
    assert len({s[1] for s in sets}) == len(sets) > 2 and {len({s[i] for s in sets}) for i in (0, 2)} == {1}


def test_small_kernels_run_on_the_same_buffers():
    board = FakeBoard(cache=1 << 20)
    KernelTrials(board).answer(Measure(on_board(product_cone(), exact, precision="ieee")))
    assert len(board.binds) == 2


def test_the_device_itself_has_rates(trial: KernelTrials):
    rates = trial.answer(MeasureRates())
    assert isinstance(rates, BoardRates) and rates.launch == pytest.approx(10e-6)
    assert [p for p, _ in rates.peaks] == ["ieee", "tf32", "fp16", "bf16"] and rates.copies[0] == (2048, 10e-6)


def test_costs_are_those_of_the_device_at_its_best(monkeypatch: pytest.MonkeyPatch):
    """The reference kernel runs every so often; a device whose clock falls makes all kernels slower."""
    board = FakeBoard()
    trial = KernelTrials(board)
    monkeypatch.setattr(trials, "PACED", 3)
    kernels = [Measure(on_board(relu_cone(), right))] * 3
    best = [trial.answer(k) for k in kernels]
    board.seconds *= 2
    slow = [trial.answer(k) for k in kernels]
    assert all(isinstance(r, Measurement) and r.seconds == pytest.approx(10e-6) for r in best)
    scaled = [r.seconds for r in slow if isinstance(r, Measurement)]
    assert scaled[-1] == pytest.approx(20e-6 * 0.5**SHARE)
    assert trial.answer(MeasurePace()) == pytest.approx(0.5**SHARE)


def test_a_reference_kernel_that_fails_is_not_the_fault_of_another(
    trial: KernelTrials, monkeypatch: pytest.MonkeyPatch
):
    def refused(precision: str, side: int) -> None:
        raise BoardError("CUDA out of memory")

    monkeypatch.setattr(trial.board, "product", refused)
    result = trial.answer(Measure(on_board(relu_cone(), right)))
    assert isinstance(result, Measurement) and result.seconds == pytest.approx(10e-6)


@pytest.mark.parametrize("function", [crowded, starved], ids=lambda f: f.__name__)
def test_want_of_memory_is_not_remembered_as_the_fault_of_a_kernel(trial: KernelTrials, function):
    result = trial.answer(Measure(on_board(relu_cone(), function)))
    assert isinstance(result, Failed) and not result.lasting
    result = trial.answer(Measure(on_board(relu_cone(), failing)))
    assert isinstance(result, Failed) and result.lasting


def test_other_precisions_keep_the_leaves_and_each_its_references(monkeypatch, trial: KernelTrials):
    filled, made = [], []
    fill, refer = trials.first_finite, reference
    monkeypatch.setattr(trials, "first_finite", lambda *args: filled.append(args[2]) or fill(*args))
    monkeypatch.setattr(trials, "reference", lambda *args: made.append(args[2]) or refer(*args))
    for function, precision in ((exact, "ieee"), (in_tf32, "tf32"), (exact, "ieee"), (in_tf32, "tf32")):
        result = trial.answer(Measure(on_board(product_cone(), function, precision=precision)))
        assert isinstance(result, Measurement), "with the tolerance of its own precision"
    assert isinstance(trial.answer(Measure(on_board(product_cone(), in_tf32, precision="ieee"))), Failed)
    assert filled == ["ieee"] and made == ["tf32"]
    trial.answer(Measure(on_board(product_cone(8), exact, precision="ieee")))
    assert filled == ["ieee"] * 2
