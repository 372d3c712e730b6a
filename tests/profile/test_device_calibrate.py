"""What is known of a device: what its driver says, what it is described as, what was measured."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from korch.devices import DEVICES
from korch.errors import Error
from korch.profile.cuda import installed as module
from korch.profile.cuda.calibrate import MARGIN, calibrated, machine
from korch.profile.cuda.installed import ATTRIBUTES, Installed, installed
from korch.profile.cuda.profiler import DeviceProfiler
from korch.profile.cuda.tasks import BoardRates
from korch.profile.database import Database
from korch.profile.results import Failed

from .test_device_profiler import H200, Process, measuring, pipeline

RATES = BoardRates(
    (("ieee", 5e13), ("tf32", 4e14), ("fp16", 2e15)), ((2048, 2e-6), (4096, 1.9e-6), (1 << 29, 1.5e-4)), 1.2e-6
)


def test_rates_are_those_measured_with_a_margin_and_within_the_description():
    found, described = calibrated(DEVICES["H200"], RATES), DEVICES["H200"].machine
    assert found.peak_flops == pytest.approx(5e13 / MARGIN) and found.peak("tf32") == pytest.approx(4e14 / MARGIN)
    assert found.peak("fp16") == described.peak("fp16") and found.peak("bf16") == described.peak("bf16")
    assert found.launch == pytest.approx(MARGIN * 1.2e-6) and found.name == "H200"
    assert found.moves == ((2048, MARGIN * 1.9e-6), (4096, MARGIN * 1.9e-6), (1 << 29, MARGIN * 1.5e-4))
    assert found.bandwidth(1 << 40) == pytest.approx((1 << 29) / 1.5e-4 / MARGIN)
    assert found.bandwidth(1 << 40) < described.bandwidth(1 << 40)


def test_a_calibration_is_remembered(tmp_path: Path):
    with Database(tmp_path) as database:
        first = pipeline()
        found = machine(DeviceProfiler([H200], database, pipeline=first), DEVICES["H200"])
        again = pipeline()
        assert machine(DeviceProfiler([H200], database, pipeline=again), DEVICES["H200"]) == found
        assert len(first.boards[0].asked) == 1 and not again.boards[0].asked  # pyright: ignore


def test_where_nothing_can_be_measured_the_description_counts(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    with Database(tmp_path) as database, caplog.at_level(logging.WARNING):
        profiler = DeviceProfiler([H200], database, pipeline=pipeline(reply=lambda task: Failed("out of memory")))
        assert machine(profiler, DEVICES["H200"]) == DEVICES["H200"].machine
    assert "out of memory" in caplog.text and "those of its description" in caplog.text


class Gpu:
    """What the driver says of one GPU."""

    def __init__(self, name: str, capability: int, multiprocessors: int, **attributes: int) -> None:
        self._facts = name, capability, multiprocessors
        self._attributes = {ATTRIBUTES[k]: v for k, v in attributes.items()}

    def count(self) -> int:
        return 1

    def name(self, ordinal: int) -> str:
        return self._facts[0]

    def capability(self, ordinal: int) -> int:
        return self._facts[1]

    def multiprocessors(self, ordinal: int) -> int:
        return self._facts[2]

    def attribute(self, which: int, ordinal: int) -> int:
        return self._attributes[which]

    def version(self) -> int:
        return 13000

    def memory(self, ordinal: int) -> int:
        return 48 << 30

    def uuid(self, ordinal: int) -> str:
        return "5a"


FACTS = {"shared": 101376, "l2": 96 << 20, "clock": 2_520_000, "memory_clock": 10_000_000, "bus": 384}


def told(monkeypatch: pytest.MonkeyPatch, gpu: Gpu | None) -> tuple[Installed, ...]:
    def driver() -> Gpu:
        if gpu is None:
            raise Error("there is no NVIDIA driver here")
        return gpu

    monkeypatch.setattr(module, "driver", driver)
    installed.cache_clear()
    try:
        return installed()
    finally:
        installed.cache_clear()


def test_the_driver_describes_the_gpus_here(monkeypatch: pytest.MonkeyPatch):
    (found,) = told(monkeypatch, Gpu("NVIDIA L40S", 89, 142, **FACTS))
    assert (found.name, found.capability, found.multiprocessors) == ("NVIDIA L40S", 89, 142)
    assert found.bandwidth == pytest.approx(960e9) and found.clock == 2.52e9 and found.driver
    device = found.device()
    assert device.arch == "sm_89" and device.machine.bandwidth(1 << 40) == found.bandwidth
    assert device.machine.peak_flops > 9.1e13 and device.machine.peak("fp16") > 3.6e14


def test_known_gpus_have_their_description(monkeypatch: pytest.MonkeyPatch):
    (found,) = told(monkeypatch, Gpu("NVIDIA A100-SXM4-80GB", 80, 108, **FACTS))
    device = found.device()
    assert replace(device, machine=DEVICES["A100"].machine) == replace(DEVICES["A100"], shared=101376)
    (cache, rate), memory = device.machine.bandwidths
    assert cache == 96 << 20, "the driver's own figure"
    assert (rate, memory) == (DEVICES["A100"].machine.bandwidths[0][1], DEVICES["A100"].machine.bandwidths[1])
    assert found.like(replace(found, index=4, uuid="5b"))
    assert not found.like(replace(found, name="NVIDIA A100-PCIE-40GB"))


def test_without_a_driver_there_is_none(monkeypatch: pytest.MonkeyPatch):
    assert told(monkeypatch, None) == ()


def test_the_measuring_process_is_asked_for_rates(tmp_path: Path):
    line = pipeline()
    line.boards = [Process(measuring)]
    with Database(tmp_path) as database:
        rates = DeviceProfiler([H200], database, pipeline=line).calibrate()
    assert isinstance(rates, BoardRates) and rates.launch == 1.2e-6
