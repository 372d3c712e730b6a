"""A kernel tried on a device: checked against float64 on random leaves, then timed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from korch.backends.contract import Kernel
from korch.backends.cuda.buffers import buffers_of, prepare
from korch.backends.cuda.triton.compile import Binary
from korch.backends.precision import precision_of
from korch.ir.cone import Cone
from korch.ir.ops.table import Array
from korch.profile.arena import Bytes
from korch.profile.check import Reference, Report, reference
from korch.profile.cuda.board import Board, BoardError, BoardLost, Memory, Run
from korch.profile.cuda.rates import measured_rates
from korch.profile.cuda.rotation import Rotation, rotation_of
from korch.profile.cuda.tasks import BoardRates, Measure, MeasureRates
from korch.profile.cuda.timing import timed
from korch.profile.fault import failure_of
from korch.profile.outputs import POISONS, Output, compared, first_finite, never_written, still
from korch.profile.results import Failed, Last, Measurement, Result


class Trial:
    """Tries one kernel after another on `board`; the leaves of the last cone stay, with its references."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self._made_for = ""
        self._arrays: list[Array] = []
        self._leaves: list[Memory] = []
        self._references: tuple[Reference, ...] = ()
        self._of_precision: dict[str, tuple[Reference, ...]] = {}

    def answer(self, task: Measure | MeasureRates) -> Result | BoardRates | Last:
        """What a task comes to; `Last` where this process cannot go on."""
        try:
            return measured_rates(self.board) if isinstance(task, MeasureRates) else self.measure(task)
        except BoardLost as e:
            return Last(failure_of(e))
        except (BoardError, ArithmeticError, ValueError, RuntimeError, MemoryError) as e:
            self._made_for = ""
            return failure_of(e)

    def measure(self, task: Measure) -> Result:
        """The kernel's cost, or what is wrong with it."""
        kernel = task.kernel
        self._prepare(kernel.cone, precision_of(kernel.variant))
        buffers = [*self._leaves, *self._own(kernel)]
        run = self.board.bind(kernel, task.binaries, buffers)
        report = self._checked(kernel.cone, run, buffers)
        if report.reason:
            return Failed(report.reason)
        rotation = rotation_of(kernel, self.board.cache)
        seconds, spread = timed(self.board, self._runs(kernel, task.binaries, buffers, rotation))
        again = compared(self._outputs(kernel.cone, buffers))
        if again.reason:
            return Failed(f"right at first, but after many runs {again.reason}")
        return Measurement(seconds, spread, max(report.error, again.error))

    def _prepare(self, cone: Cone, precision: str) -> None:
        """Leaves with values for which most of the outputs is finite, in every precision, and the references."""
        if self._made_for != cone.signature:
            self._made_for = ""
            self._arrays = [np.empty(t.shape, t.dtype) for t in cone.leaves]
            self._of_precision = {precision: first_finite(cone, self._arrays, precision)}
            self._leaves = [self._written(x) for x in self._arrays]
            self._made_for = cone.signature
        if precision not in self._of_precision:
            parts = (cone.part(t) for t in cone.outputs)
            self._of_precision[precision] = tuple(reference(part, self._arrays, precision) for part in parts)
        self._references = self._of_precision[precision]

    def _own(self, kernel: Kernel) -> list[Memory]:
        """Outputs, what is prepared, and the workspace, which holds nonsense."""
        prepared = prepare(kernel, self._arrays)
        first, rest = len(kernel.cone.leaves), buffers_of(kernel)
        outputs = [self.board.memory(b.nbytes) for b in rest[first : first + len(kernel.cone.outputs)]]
        workspace = [self.board.memory(kernel.workspace)] if kernel.workspace else []
        for memory in workspace:
            self.board.fill(memory, POISONS[0])
        return [*outputs, *(self._written(x) for x in prepared), *workspace]

    def _written(self, x: Array) -> Memory:
        memory = self.board.memory(x.nbytes)
        self.board.write(memory, _bytes(x))
        return memory

    def _checked(self, cone: Cone, run: Run, buffers: Sequence[Memory]) -> Report:
        """Whether a run writes all of its outputs, nothing else, and the right values."""
        missing = never_written(lambda poison: self._unwritten(cone, run, buffers, poison))
        if reason := self._trespass(buffers) or missing:
            return Report(0.0, reason)
        return compared(self._outputs(cone, buffers))

    def _unwritten(self, cone: Cone, run: Run, buffers: Sequence[Memory], poison: int) -> list[Array]:
        """Which elements of each output a run leaves as they were."""
        first = len(cone.leaves)
        for memory in buffers[first : first + len(cone.outputs)]:
            self.board.fill(memory, poison)
        self.board.finish(run)
        return [still(o.bytes, o.values, poison) for o in self._outputs(cone, buffers)]

    def _outputs(self, cone: Cone, buffers: Sequence[Memory]) -> list[Output]:
        raw = [self.board.read(m) for m in buffers[len(cone.leaves) : len(cone.leaves) + len(cone.outputs)]]
        return [Output(x, x.view(t.dtype).reshape(t.shape), ref)
                for x, t, ref in zip(raw, cone.outputs, self._references, strict=True)]  # fmt: skip

    def _trespass(self, buffers: Sequence[Memory]) -> str:
        if not all(self.board.intact(m) for m in buffers):
            self._made_for = ""
            return "writes outside its buffers"
        for i, (memory, x) in enumerate(zip(self._leaves, self._arrays, strict=True)):
            if not np.array_equal(self.board.read(memory), _bytes(x)):
                self._made_for = ""
                return f"writes to its leaf {i}"
        return ""

    def _runs(
        self, kernel: Kernel, binaries: Sequence[Binary], buffers: Sequence[Memory], rotation: Rotation
    ) -> list[Run]:
        """The kernel on each set of buffers, the checked ones first."""
        sets = [buffers, *(self._copied(buffers, rotation) for _ in range(rotation.sets - 1))]
        return [self.board.bind(kernel, binaries, own) for own in sets]

    def _copied(self, buffers: Sequence[Memory], rotation: Rotation) -> list[Memory]:
        return [self.board.twin(m) if i in rotation.turning else m for i, m in enumerate(buffers)]


def _bytes(x: Array) -> Bytes:
    return np.ascontiguousarray(x).reshape(-1).view(np.uint8)
