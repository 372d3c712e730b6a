"""An executable for the CPU: the linked library, and onnxruntime for steps that nothing else takes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from korch.backends.libraries import find_code
from korch.backends.units import Units
from korch.errors import ArchiveError, Error
from korch.executable.buffers import Recycler
from korch.executable.host import HostSteps
from korch.executable.link import C_TEXTS, Libraries, Linked, link
from korch.executable.native import NativeLoop, NativeModel
from korch.executable.plan import Plan
from korch.executable.ports import check_unshared, feeds_of, fitting_input, targets_of
from korch.executable.profile import Profile, profile_of
from korch.executable.runtime import Executable, new_folder
from korch.executable.weights import WEIGHTS
from korch.ir.ops.table import Array
from korch.system.folders import discard, replaced
from korch.system.samples import Floats

T = TypeVar("T")
HEADER = C_TEXTS.joinpath("korch.h")
LIBRARY = "libmodel.so"
"""Of an export."""


class CpuExecutable(Executable):
    """A program in native code."""

    linked: Linked

    def __init__(self, plan: Plan, linked: Linked, threads: int = 0, opens: bool = True) -> None:
        """Opens the library; unless it `opens`, the program is only to be looked at, and none of its code is loaded."""
        super().__init__(plan, linked, threads)
        self._libraries = sorted(plan.libraries - {"onnxruntime"})
        self._outputs = [Recycler(t.shape, t.dtype) for t in plan.graph.outputs]
        self._native: NativeModel | None = None
        if opens:
            self._open()

    def _open(self) -> None:
        self._host = HostSteps(self.plan, self.threads)
        self._native = NativeModel(self.linked.library, self.linked.weights, self.threads, self._libraries)
        if len(self._host):
            self._native.set_host(self._host, [len(s.reads) for s in self.plan.steps])

    @property
    def _model(self) -> NativeModel:
        if self._native is None:
            raise Error("the program was opened to be looked at, not to run: load it with runs=True")
        return self._native

    @staticmethod
    def of(
        plan: Plan, threads: int = 0, known: Libraries | None = None, units: Units | None = None, trial: bool = False
    ) -> CpuExecutable:
        """Links and opens `plan` (see `link`)."""
        folder = new_folder()
        try:
            return CpuExecutable(plan, link(plan, folder, known, units, trial), threads)
        except BaseException:
            discard(folder)
            raise

    @property
    def peak_bytes(self) -> int:
        """Arena, outputs and weights. Inputs, and what packing pads, come on top."""
        return self.memory.arena_bytes + sum(t.nbytes for t in self.plan.graph.outputs) + self.weight_bytes

    def run(self, feeds: Mapping[str, Any], outputs: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """All outputs by name; those that `outputs` does not give are new, in memory of earlier ones that nobody
        refers to any more."""
        inputs, targets = feeds_of(self.plan, feeds, fitting_input), self._targets(outputs or {})
        check_unshared(outputs or {}, inputs, targets)
        self._guarded(lambda: self._model.run(inputs, targets))
        return dict(zip(self.plan.graph.output_names, targets, strict=True))

    def profile(self, feeds: Mapping[str, Array], runs: int = 20, blocks: int = 1) -> Profile:
        inputs, targets = feeds_of(self.plan, feeds, fitting_input), self._targets({})
        seconds, lost = list[Floats](), list[Floats]()
        for _ in range(blocks):
            self._guarded(lambda: self._model.run(inputs, targets))
            found = self._guarded(lambda: self._model.profile(inputs, targets, runs))
            seconds.append(found[0])
            lost.append(found[1])
        return profile_of(np.concatenate(seconds), np.concatenate(lost))

    @property
    def iterates(self) -> bool:
        """Whether it can be the body of a loop in native code."""
        return self._model.iterates

    def iterate(self, loop: NativeLoop, inputs: Any, outputs: Any, first: int, last: int) -> tuple[int, bool]:
        """See `NativeModel.iterate`."""
        return self._guarded(lambda: self._model.iterate(loop, inputs, outputs, first, last))

    def export(self, folder: str | Path) -> Path:
        self._check_open()
        return _exported(Path(folder), self.linked, map(find_code, self._libraries))

    def close(self) -> None:
        if self._native:
            self._native.close()
        super().close()

    def _targets(self, given: Mapping[str, Array]) -> list[Array]:
        return targets_of(self.plan, given, lambda k: self._outputs[k].empty())

    def _guarded(self, work: Callable[[], T]) -> T:
        """The result of `work`; an exception of a host step becomes the reason of the error."""
        _ = self._model
        try:
            return work()
        except Error as e:
            failure, self._host.failure = self._host.failure, None
            if failure is None:
                raise
            if not isinstance(failure, Exception):  # an interrupt
                raise failure from None
            raise Error(f"{e}: {failure}") from failure


def _exported(folder: Path, linked: Linked, libraries: Iterable[Path]) -> Path:
    """Writes the files that a C program needs into `folder`, made where it is missing, and with them the `libraries`
    that the program calls, which it looks for beside itself."""
    files = {"korch.h": HEADER, LIBRARY: linked.library, WEIGHTS: linked.weights}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, source in (files | {library.name: library for library in libraries}).items():
            with source.open("rb") as read, replaced(folder / name) as written:
                shutil.copyfileobj(read, written)
    except OSError as e:
        raise ArchiveError(f"cannot export to {folder}: {e.strerror or e}") from None
    return folder
