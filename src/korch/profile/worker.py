"""The measuring process: `python -m korch.profile.worker <pipe> <timing library> <threads>`.

It answers each task with a result; when a kernel kills it or never ends, its parent starts another (`process.py`).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from math import inf
from multiprocessing.connection import Connection

import numpy as np

from korch.errors import line_of
from korch.ir.cone import Cone
from korch.ir.ops.table import Array
from korch.profile.answering import answering
from korch.profile.arena import Arena, Bytes, tensor_view
from korch.profile.check import Comparison, Reference, reference
from korch.profile.fault import failure_of
from korch.profile.nan import Probe, kept, probe_of
from korch.profile.outputs import POISONS, KernelOutput, compared, first_finite, never_written, still
from korch.profile.pace import Pace, meanwhile, peak
from korch.profile.physics import Physics, Work
from korch.profile.results import Failed, Measurement, Result, Tally, Unloadable
from korch.profile.runners import Clock, HostRunner, Native, Runner, entry
from korch.profile.task import Answered, Calibrate, Now, Rates, Task
from korch.profile.timing import Floor, load, scrub_size
from korch.system.processor import PRIORITY, available

TRIES = 2
"""How often a kernel is timed where the machine's pace changes meanwhile."""
SHARED = 4
"""Runs of a team whose threads help each other, which are compared with those where none can."""
RECALIBRATIONS = 3
"""How often the machine's rates are measured again, in vain, because a sample lies below what they allow."""
CLEARLY_SLOWER = 1.5
"""How many times as long as another of the same cone a kernel may take before three samples are enough."""

FOOTPRINTS = tuple(1 << shift for shift in (15, 18, 20, 22, 24, 26, 28))
_CALIBRATION_BYTES = 256 << 20  # moved for each rate


class Worker:
    """Holds the buffers, the leaves of the last cone with their reference, and the loaded libraries."""

    def __init__(self, timing: ctypes.CDLL, threads: int, processors: set[int]) -> None:
        self._timing = timing
        self._clock, self._pace = Clock(timing, scrub_size()), Pace(timing)
        self._threads = threads
        self._processors = processors
        self._leaf_arena, self._arena = Arena(), Arena()
        self._signature = ""
        self._leaves: list[Bytes] = []
        self._sums: list[int] = []
        self._references = dict[str, tuple[Reference, ...]]()
        self._probe: tuple[Probe | None] | None = None
        self._best = inf
        self._physics, self._tally = Physics(), Tally()
        self._recalibrations = RECALIBRATIONS

    def answer(self, task: Task | Calibrate | Now) -> Answered | Rates | float:
        if isinstance(task, Calibrate):
            return calibrate(self._timing)
        if isinstance(task, Now):
            return self._pace.now()
        self._tally = Tally()
        self._physics.raised(max(task.physics.peak, self._pace.best), task.physics.bandwidth)
        return Answered(self._answer(task), self._tally, self._physics)

    def _answer(self, task: Task) -> Result | Unloadable:
        try:
            return self._measure(task)
        except _LoadError as e:
            return Unloadable(str(e))
        except Exception as e:  # onnxruntime's own share no base
            self._signature = ""
            return failure_of(e)

    def _floor(self, work: Work) -> Floor:
        """What a kernel that does `work` takes at least; where a sample lies below, the machine's rates are measured
        again before that is believed."""

        def floor(least: float) -> float:
            if least < self._physics.seconds(work) and self._recalibrations:
                self._recalibrations -= 1
                rates = calibrate(self._timing)
                found = Physics(rates.peak, max(rate for _, rate in rates.bandwidths))
                self._recalibrations += self._physics.raised(found.peak, found.bandwidth)
            return self._physics.seconds(work)

        return floor

    def _measure(self, task: Task) -> Result:
        refs = self._prepare(task.cone, task.precision)
        *outs, workspace = self._arena.buffers((task.cone.root.nbytes, task.workspace))
        workspace[...] = POISONS[0]
        runner = self._runner(task, outs, workspace)
        try:
            made = [
                KernelOutput(b, tensor_view(b, t), ref) for b, t, ref in zip(outs, [task.cone.root], refs, strict=True)
            ]
            report = self._run_poisoned(runner, made, task.helped)
            if reason := report.reason or self._nan(task, runner, made[0]):
                return Failed(reason)
            timing, pace = meanwhile(
                self._pace.now,
                lambda pace: runner.time(CLEARLY_SLOWER * self._best / pace, self._floor(task.work)),
                TRIES,
            )
            self._tally += timing.tally
            if timing.seconds == inf:
                return Failed("no sample is as long as its arithmetic at the machine's peak takes", lasting=False)
            seconds = max(pace * timing.seconds, self._physics.seconds(task.work))
            self._best = min(self._best, seconds)
            again = compared(made)
            if again.reason:
                return Failed(f"right at first, but after many runs {again.reason}")
            return Measurement(seconds, timing.spread, max(report.error, again.error))
        finally:
            runner.close()

    def _prepare(self, cone: Cone, precision: str) -> tuple[Reference, ...]:
        """Fills the leaves, with values for which most of the outputs is finite, and evaluates the references."""
        if not self._references or self._signature != cone.signature:
            self._signature = ""
            self._leaves = self._leaf_arena.buffers([t.nbytes for t in cone.leaves])
            self._references, self._probe = {precision: first_finite(cone, self._arrays(cone), precision)}, None
            self._sums = [_checksum(b) for b in self._leaves]
            self._signature, self._best = cone.signature, inf
        if precision not in self._references:
            self._references[precision] = (reference(cone, self._arrays(cone), precision),)
        return self._references[precision]

    def _arrays(self, cone: Cone) -> list[Array]:
        return [tensor_view(b, t) for b, t in zip(self._leaves, cone.leaves, strict=True)]

    def _runner(self, task: Task, outs: Sequence[Bytes], workspace: Bytes) -> Runner:
        if task.host is not None:
            _spread(self._processors)  # OpenMP bound this thread; those of the session would inherit that
            return HostRunner(task.host, task.cone, self._leaves, outs[0], self._threads)
        library = _library(task.library, task.preload)
        row = entry(library, task.index)
        return Native(row, task.cone, self._leaves, outs, workspace, self._clock, library.korch_join)

    def _run_poisoned(self, runner: Runner, made: Sequence[KernelOutput], helped: bool) -> Comparison:
        missing = never_written(lambda poison: self._unwritten(runner, made, poison))
        unlike = helped and not missing and isinstance(runner, Native) and _unlike_alone(runner, made)
        if reason := self._trespass() or missing:
            return Comparison(0.0, reason)
        if unlike:
            return Comparison(0.0, "gives another result where one thread takes the turns of all")
        return compared(made)

    def _unwritten(self, runner: Runner, made: Sequence[KernelOutput], poison: int) -> list[Array]:
        """Which elements of each output a run leaves as they were."""
        for output in made:
            output.bytes[...] = poison
        runner.run()
        return [still(output.bytes, output.values, poison) for output in made]

    def _nan(self, task: Task, runner: Runner, root: KernelOutput) -> str:
        """How the kernel treats NaN otherwise than numpy; onnxruntime, which is asked last, may."""
        if task.host is not None:
            return ""
        leaves = self._arrays(task.cone)
        if self._probe is None:
            self._probe = (probe_of(task.cone, leaves),)
        (probe,) = self._probe
        return kept(probe, runner.run, leaves, root.values) if probe else ""

    def _trespass(self) -> str:
        if not self._arena.intact or not self._leaf_arena.intact:
            self._signature = ""
            return "writes outside its output and workspace"
        for i, (buffer, known) in enumerate(zip(self._leaves, self._sums, strict=True)):
            if _checksum(buffer) != known:
                self._signature = ""
                return f"writes to its leaf {i}"
        return ""


def _unlike_alone(runner: Native, made: Sequence[KernelOutput]) -> bool:
    """Whether a bit depends on who takes a turn: one thread those of all, each its own, or whoever comes first."""
    results = list[list[int]]()
    for run in (runner.run_alone, runner.run_static, *[runner.run] * SHARED):
        for output in made:
            output.bytes[...] = POISONS[0]
        run()
        results.append([_checksum(o.bytes) for o in made])
    return results != results[:1] * len(results)


class _LoadError(Exception):
    """A compiled library cannot be loaded."""


@cache
def _library(path: str, preload: tuple[str, ...]) -> ctypes.CDLL:
    try:
        for name in preload:
            ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        return load(path)
    except OSError as e:
        raise _LoadError(f"cannot be loaded: {line_of(e)}") from None


def _checksum(buffer: Bytes) -> int:
    even = buffer.size // 8 * 8
    return int(buffer[:even].view(np.uint64).sum()) + int(buffer[even:].sum())


def calibrate(library: ctypes.CDLL) -> Rates:
    """The best rates of many short tries."""
    for name in ("korch_bandwidth", "korch_launch"):
        getattr(library, name).restype = ctypes.c_double
    best = [(size, max(_bandwidth(library, kind, size) for kind in range(3))) for size in FOOTPRINTS]
    falling = [(size, max(rate for _, rate in best[i:])) for i, (size, _) in enumerate(best)]
    launch = min(library.korch_launch(100) for _ in range(200))
    return Rates(peak(library), tuple(falling), launch)


def _bandwidth(library: ctypes.CDLL, kind: int, size: int) -> float:
    repeats = max(_CALIBRATION_BYTES // size, 1)
    rate = library.korch_bandwidth(kind, ctypes.c_size_t(size), repeats)
    if rate <= 0:
        raise MemoryError(f"no memory to calibrate {size} bytes")
    return rate


def _spread(processors: set[int]) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, processors)


def _go_first() -> None:
    """Other programs wait while a kernel is timed, where this user may ask for that."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)


def main(pipe: int, timing: str, threads: int) -> None:
    _go_first()
    processors = available()  # asked before OpenMP is loaded, which binds this thread
    answering(Connection(pipe), lambda: Worker(load(timing), threads, processors).answer)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
