"""The three commands, each within its seconds, most valuable first. Known entries are not measured again."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

from cuda_lease.kernels import MOST, fixed_kernels
from cuda_lease.record import Record
from cuda_lease.rig import Rig
from cuda_lease.work import archive_of, peers_keep_their_work
from cuda_peers.runtimes import COMPILED, peers
from korch.backends.contract import Kernel
from korch.profile.cuda.calibrate import machine
from korch.profile.database import Database
from korch.profile.modelled import Modelled
from korch.profile.results import Measurement, Result
from korch.system.deadline import Deadline
from page import WORKLOADS

SECONDS = 520.0
"""Of a command that may take ten minutes: the start of Python and the way back of its files are in the rest."""
CHUNK = 20
"""Kernels that are measured between two entries of the record."""
TESTS, TUNING, RACE = 0.3, 45.0, 30.0
"""The share of a stage that the tests may have; seconds of tuning a workload, and of its races with their loading."""
COMPILERS = 4
"""Peers that compile side by side; each has as many processes of its own."""
RACES = {"fast": ("tf32", "fp16"), "strict": ("float32",)}
"""By the numerics of our program: the precisions of the peers that it is compared with."""


def kernels(rig: Rig, out: Path, seconds: float = SECONDS, most: int = MOST) -> None:
    """Stage 1: rates of the device, times of fixed kernels beside the model's, and the tests that need a GPU."""
    until, record = Deadline.after(seconds), Record(out / "kernels.jsonl")
    with _clocks(rig, out), Database(out / "cuda.cache") as database, rig.profiler(database) as profiler:
        device = rig.board.device()
        rates = machine(profiler, device)
        if "machine" not in record.known:
            record.add("machine", {"name": rig.board.name, "driver": rig.board.driver, "rates": str(rates)})
        fixed = fixed_kernels(rig.board.multiprocessors, most)
        missing = [key for key in fixed if key not in record.known]
        measuring = until.share(1 - TESTS)
        model = Modelled(device, (), database)
        for at in range(0, len(missing), CHUNK):
            keys = missing[at : at + CHUNK]
            results = profiler.measure_until(measuring, [fixed[key][1] for key in keys])
            for key, result in zip(keys, results, strict=True):
                if result:
                    record.add(key, _facts(*fixed[key], result, model))
            say(f"{len(record.known) - 1} of {len(fixed)} kernels")
            if measuring.passed:
                break
    if "tests" not in record.known and not until.passed:
        record.add("tests", rig.tests(until.left))


def _facts(form: str, kernel: Kernel, result: Result, model: Modelled) -> dict[str, object]:
    known = {"form": form, "backend": kernel.backend, "variant": str(kernel.variant)}
    if not isinstance(result, Measurement):
        return known | {"failed": result.reason}
    modelled = model.cost(kernel)
    assert isinstance(modelled, Measurement)
    return known | {
        "us": 1e6 * result.seconds,
        "spread": result.spread,
        "error": result.error,
        "modelled_us": 1e6 * modelled.seconds,
    }


def tuning(rig: Rig, out: Path, seconds: float = SECONDS, names: Sequence[str] = WORKLOADS) -> None:
    """Stage 2: a program of each workload that rounds as the peers do, then exact ones, each with its replays."""
    until, record = Deadline.after(seconds), Record(out / "tuning.jsonl")
    with _clocks(rig, out):
        for numerics in RACES:
            for name in names:
                key = f"{name} {numerics}"
                if key in record.known or until.left < min(TUNING, seconds / 4):
                    continue
                say(f"{key}: tuning, {until.left:.0f} s left")
                record.add(key, dict(rig.tune(name, out, numerics, min(TUNING, until.left / 2), until.left)))


def racing(rig: Rig, out: Path, seconds: float = SECONDS, names: Sequence[str] = WORKLOADS) -> None:
    """Stage 3: peers compile side by side, then each workload's programs run in one race, under CUDA graphs."""
    until, record = Deadline.after(seconds), Record(out / "racing.jsonl")
    with _clocks(rig, out), peers_keep_their_work(out):
        _compile(rig, out, names, record, Deadline(until.at - len(names) * min(RACE, seconds / (2 * len(names)))))
        for numerics, precisions in RACES.items():
            for name in names:
                key = f"{name} {numerics}: race"
                if key in record.known or until.passed or not archive_of(out, name, numerics).exists():
                    continue
                say(f"{key}, {until.left:.0f} s left")
                ready = {p: c for p, c in peers(*precisions).items() if not record.known.get(f"{name}: {p}")}
                record.add(key, dict(rig.race(name, out, numerics, ready)))


def _compile(rig: Rig, out: Path, names: Sequence[str], record: Record, until: Deadline) -> None:
    """Has peers compile, those of the first precisions first; the reason of a failure, or nothing, is recorded."""
    todo = {
        f"{name}: {peer}": (peer, command, name)
        for precisions in RACES.values()
        for peer, command in peers(*precisions).items()
        if peer.startswith(COMPILED)
        for name in names
    }

    def warmed(peer: str, command: Sequence[str], name: str) -> str:
        return "no time was left" if until.passed else rig.warm(peer, command, name, out, until.left)

    with ThreadPoolExecutor(max(1, min(COMPILERS, rig.processes))) as pool:
        work = {pool.submit(warmed, *task): key for key, task in todo.items() if key not in record.known}
        for future in as_completed(work):
            record.add(work[future], future.result())
            say(f"{work[future]}: {future.result() or 'compiled'}")


@contextmanager
def _clocks(rig: Rig, out: Path) -> Iterator[None]:
    """The GPU's clocks are logged in the block."""
    log = rig.clocks(out / "clocks.csv")
    try:
        yield
    finally:
        if log:
            log.terminate()
            log.wait()


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


STAGES = {"kernels": kernels, "tuning": tuning, "racing": racing}
