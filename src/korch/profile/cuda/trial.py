"""A kernel tried on a device: checked against float64 on random leaves, then timed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from math import inf
from time import monotonic

import numpy as np

from korch.backends.contract import Kernel
from korch.backends.cuda.buffers import Buffer, buffers_of, prepare
from korch.backends.cuda.triton.compile import CompiledLaunch
from korch.ir.cone import Cone
from korch.ir.ops.table import Array
from korch.profile.arena import Bytes
from korch.profile.check import Comparison, Reference, compare_part, reference
from korch.profile.cuda.board import Board, BoardError, BoardLost, DeviceMemory, Run
from korch.profile.cuda.rates import measured_rates
from korch.profile.cuda.rotation import Rotation, rotation_of
from korch.profile.cuda.tasks import BoardRates, Measure, MeasurePace, MeasureRates
from korch.profile.cuda.timing import timed
from korch.profile.fault import failure_of
from korch.profile.outputs import POISONS, first_finite, never_written, still, worst
from korch.profile.pace import SHARE
from korch.profile.results import Failed, Last, Measurement, Result

PATIENCE = 20.0
"""Seconds of waiting for the others on a device, after which a kernel that hangs there is not this one's fault: well
before the process that waits is taken for one that hangs."""
PACED, SIDE, COPIES, SAMPLES = 50, 2048, 4, 5
"""Kernels measured between two looks at the device's pace; the reference kernel, a product in TF32 of that many rows,
its copies in a graph, and replays of it."""

log = logging.getLogger(__name__)


class KernelTrials:
    """Tries one kernel after another on `board`; the leaves of the last cone stay, with its references.

    `alone()` is held while the board is at work, so that several processes share one: while one measures, the others
    evaluate what their kernels should compute, which takes longer.
    """

    def __init__(self, board: Board, alone: Callable[[], AbstractContextManager[object]] = nullcontext) -> None:
        self.board = board
        self._alone = alone
        self._made_for = ""
        self._arrays: list[Array] = []
        self._leaves: list[DeviceMemory] = []
        self._pristine: list[DeviceMemory] = []
        self._references: tuple[Reference, ...] = ()
        self._of_precision: dict[str, tuple[Reference, ...]] = {}
        self._reference: Run | None = None
        self._best = inf
        self._pace, self._measured_since = 1.0, PACED

    def answer(self, task: Measure | MeasureRates | MeasurePace) -> Result | BoardRates | Last | float:
        """What a task comes to; `Last` where this process cannot go on."""
        try:
            match task:
                case Measure():
                    return self.measure(task)
                case MeasurePace():
                    with self._alone():
                        return self._look_at_pace()
                case MeasureRates():
                    return self._rates()
        except BoardLost as e:
            return Last(failure_of(e))
        except (BoardError, ArithmeticError, ValueError, RuntimeError, MemoryError) as e:
            self._leaves = []
            return failure_of(e)

    def measure(self, task: Measure) -> Result:
        """The kernel's cost, or what is wrong with it."""
        kernel = task.kernel
        self._evaluate(kernel.cone, kernel.variant.precision)
        prepared = prepare(kernel, self._arrays)
        asked = monotonic()
        with self._alone():
            if monotonic() - asked > PATIENCE:
                return Failed("waited in vain for the device, which another kernel holds", lasting=False)
            self._bring()
            buffers = [*self._leaves, *self._own(kernel, prepared)]
            return self._paced(self._measured(kernel, task.binaries, buffers))

    def _paced(self, result: Result) -> Result:
        """The result as if the device ran as fast as it ever did. A reference kernel that fails is not this one's
        fault."""
        self._measured_since += 1
        if self._measured_since >= PACED:
            try:
                self._look_at_pace()
            except BoardLost:
                raise
            except BoardError as e:
                log.info("the reference kernel fails: %s", e)
        return replace(result, seconds=self._pace * result.seconds) if isinstance(result, Measurement) else result

    def _look_at_pace(self) -> float:
        """The ratio of a kernel's time at the device's best to its time now."""
        if self._reference is None:
            self._reference = self.board.product("tf32", SIDE)
            self.board.finish(self._reference)
        seconds = float(self.board.time([self._reference] * COPIES, SAMPLES).min()) / COPIES
        self._best, self._measured_since = min(self._best, seconds), 0
        self._pace = (self._best / seconds) ** SHARE
        log.info("the reference kernel takes %.1f us, %.1f at best", 1e6 * seconds, 1e6 * self._best)
        return self._pace

    def _measured(self, kernel: Kernel, binaries: Sequence[CompiledLaunch], buffers: Sequence[DeviceMemory]) -> Result:
        outputs = _Outputs(self.board, kernel, buffers, self._references)
        report = self._checked(self.board.bind(kernel, binaries, buffers), outputs, buffers)
        if report.reason:
            return Failed(report.reason)
        rotation = rotation_of(kernel, self.board.cache)
        seconds, spread = timed(self.board, self._runs(kernel, binaries, buffers, rotation))
        again = outputs.compared()
        if again.reason:
            return Failed(f"right at first, but after many runs {again.reason}")
        return Measurement(seconds, spread, max(report.error, again.error))

    def _rates(self) -> BoardRates:
        with self._alone():
            return measured_rates(self.board)

    def _evaluate(self, cone: Cone, precision: str) -> None:
        """Leaves with values for which most of the outputs is finite, in every precision, and the references."""
        if self._made_for != cone.signature:
            self._made_for, self._leaves = "", []
            self._arrays = [np.empty(t.shape, t.dtype) for t in cone.leaves]
            self._of_precision = {precision: first_finite(cone, self._arrays, precision)}
            self._made_for = cone.signature
        if precision not in self._of_precision:
            self._of_precision[precision] = (reference(cone, self._arrays, precision),)
        self._references = self._of_precision[precision]

    def _bring(self) -> None:
        """The leaves onto the board, twice: kernels must not change them."""
        if not self._leaves:
            self._leaves = [self._written(x) for x in self._arrays]
            self._pristine = [self.board.twin(m) for m in self._leaves]

    def _own(self, kernel: Kernel, prepared: Sequence[Array]) -> list[DeviceMemory]:
        """Outputs, what is prepared, and the workspace, which holds nonsense."""
        first, rest = len(kernel.cone.leaves), buffers_of(kernel)
        outputs = [self.board.memory(b.nbytes) for b in rest[first : first + 1]]
        workspace = [self.board.memory(kernel.workspace)] if kernel.workspace else []
        for memory in workspace:
            self.board.fill(memory, POISONS[0])
        return [*outputs, *(self._written(x) for x in prepared), *workspace]

    def _written(self, x: Array) -> DeviceMemory:
        memory = self.board.memory(x.nbytes)
        self.board.write(memory, _bytes(x))
        return memory

    def _checked(self, run: Run, outputs: _Outputs, buffers: Sequence[DeviceMemory]) -> Comparison:
        """Whether a run writes all of its outputs, nothing else, and the right values."""
        missing = never_written(lambda poison: outputs.unwritten(run, poison))
        if reason := self._trespass(buffers) or missing:
            return Comparison(0.0, reason)
        return outputs.compared()

    def _trespass(self, buffers: Sequence[DeviceMemory]) -> str:
        reason = "" if all(map(self.board.intact, buffers)) else "writes outside its buffers"
        for i, (memory, before) in enumerate(zip(self._leaves, self._pristine, strict=True)):
            if not reason and not self.board.same(memory, before):
                reason = f"writes to its leaf {i}"
        if reason:
            self._leaves = []
        return reason

    def _runs(
        self, kernel: Kernel, binaries: Sequence[CompiledLaunch], buffers: Sequence[DeviceMemory], rotation: Rotation
    ) -> list[Run]:
        """The kernel on each set of buffers, the checked ones first."""
        sets = [buffers, *(self._copied(buffers, rotation) for _ in range(rotation.sets - 1))]
        return [self.board.bind(kernel, binaries, own) for own in sets]

    def _copied(self, buffers: Sequence[DeviceMemory], rotation: Rotation) -> list[DeviceMemory]:
        return [self.board.twin(m) if i in rotation.turning else m for i, m in enumerate(buffers)]


class _Outputs:
    """What a kernel stores on the board, and what that should be."""

    def __init__(self, board: Board, kernel: Kernel, buffers: Sequence[DeviceMemory], references: Sequence[Reference]):
        first = len(kernel.cone.leaves)
        own = slice(first, first + 1)
        self._board = board
        self._all = list(zip(buffers[own], buffers_of(kernel)[own], references, strict=True))

    def compared(self) -> Comparison:
        """The first that is wrong, or the worst error."""
        return worst([compare_part(self._board.part(m, b, ref.region), ref) for m, b, ref in self._all])

    def unwritten(self, run: Run, poison: int) -> list[Array]:
        """Which elements of each output a run leaves as they were."""
        for memory, _, _ in self._all:
            self._board.fill(memory, poison)
        self._board.finish(run)
        return [self._still(m, b, poison) for m, b, _ in self._all]

    def _still(self, memory: DeviceMemory, buffer: Buffer, poison: int) -> Array:
        """Looked at closely, and on the host, only where there are some."""
        if not self._board.holds(memory, buffer.width, poison):
            return np.zeros(buffer.shape, bool)
        raw = self._board.read(memory)
        return still(raw, raw.view(buffer.dtype).reshape(buffer.shape), poison)


def _bytes(x: Array) -> Bytes:
    return np.ascontiguousarray(x).reshape(-1).view(np.uint8)
