"""An executable in Python: runs a linked plan on numpy arrays, times it, stores it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

import numpy as np

from korch.errors import ArchiveError, Error, InputError
from korch.executable import archive
from korch.executable.buffers import Recycler
from korch.executable.host import HostSteps
from korch.executable.link import Linked, Shelf, link
from korch.executable.memory import MemoryPlan
from korch.executable.native import NativeModel
from korch.executable.plan import Plan
from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor, type_text

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Port:
    """An input or output of the model: its name there, numpy dtype name and shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.name}: {type_text(self.dtype, self.shape)}"


@dataclass(frozen=True)
class Profile:
    """Median seconds over the runs: of each step of the plan, and of the whole run (copies in and out included)."""

    steps: tuple[float, ...]
    total: float
    runs: int

    def least(self, other: Profile) -> Profile:
        """The smaller of every two figures: a disturbed run is slower, never faster."""
        steps = tuple(map(min, self.steps, other.steps))
        return Profile(steps, min(self.total, other.total), self.runs + other.runs)


class Executable:
    """A linked plan. Several threads may use one; its runs take turns. Closes itself when it is collected."""

    def __init__(self, plan: Plan, linked: Linked, threads: int = 0) -> None:
        """Opens the files of `linked`, whose folder the executable owns from now on."""
        self.plan = plan
        self.threads = threads or plan.threads
        self.linked = linked
        self._forget = weakref.finalize(self, shutil.rmtree, linked.folder, ignore_errors=True)
        self._host = HostSteps(plan, self.threads)
        self._outputs = [Recycler(t.shape, t.dtype) for t in plan.graph.outputs]
        native = sorted(plan.libraries - {"onnxruntime"})
        self._native = NativeModel(linked.library, linked.weights, self.threads, native)
        if len(self._host):
            self._native.set_host(self._host, [len(s.reads) for s in plan.steps])

    @staticmethod
    def link(plan: Plan, threads: int = 0, shelf: Shelf | None = None) -> Executable:
        """Compiles and opens `plan`, or takes its library from the `shelf`; BackendError, ArchiveError or Error say in
        one line why not."""
        folder = new_folder()
        try:
            return Executable(plan, link(plan, folder, shelf), threads)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    @property
    def inputs(self) -> tuple[Port, ...]:
        return tuple(Port(t.name, t.dtype, t.shape) for t in self.plan.graph.inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        names = self.plan.graph.output_names
        return tuple(Port(n, t.dtype, t.shape) for n, t in zip(names, self.plan.graph.outputs, strict=True))

    @property
    def memory(self) -> MemoryPlan:
        return self.linked.memory

    @property
    def weight_bytes(self) -> int:
        """Bytes of all constants, as they are stored."""
        return sum(t.nbytes for t in self.plan.constants)

    @property
    def peak_bytes(self) -> int:
        """What a run holds at most: arena, outputs and weights. Inputs, and what packing pads, come on top."""
        return self.memory.arena_bytes + sum(t.nbytes for t in self.plan.graph.outputs) + self.weight_bytes

    def run(self, feeds: Mapping[str, Array], outputs: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """All outputs by name. `outputs` gives arrays to write some of them to; the others are new, in memory of
        earlier ones that nobody refers to any more.

        InputError names the array that does not fit, what was expected and what was found.
        """
        inputs, targets = self._feeds(feeds), self._targets(outputs or {})
        self._guarded(lambda: self._native.run(inputs, targets))
        return dict(zip(self.plan.graph.output_names, targets, strict=True))

    def profile(self, feeds: Mapping[str, Array], runs: int = 20, blocks: int = 1) -> Profile:
        """Times `blocks` blocks of `runs` runs, step by step, each after a run that is not counted.

        Every figure is the least of the blocks' medians: a block that others disturbed is slower, never faster.
        """
        inputs, targets = self._feeds(feeds), self._targets({})
        medians = []
        for _ in range(blocks):
            self._guarded(lambda: self._native.run(inputs, targets))
            medians.append(np.median(self._guarded(lambda: self._native.profile(inputs, targets, runs)), axis=0))
        *steps, total = np.min(medians, axis=0).tolist()
        return Profile(tuple(steps), total, runs * blocks)

    def save(self, path: str | Path) -> Path:
        """Writes the `.korch` archive, wholly or not at all; ArchiveError where it cannot."""
        self._check_open()
        return archive.save(Path(path), self.plan, self.linked, self.threads)

    def export(self, folder: str | Path) -> Path:
        """Writes `korch.h`, `libmodel.so` and `weights.safetensors` for C programs; ArchiveError where it cannot."""
        self._check_open()
        return archive.export(Path(folder), self.linked)

    def close(self) -> None:
        """Frees the native model and its files. Nothing but the plan can be used after."""
        self._native.close()
        self._forget()

    def _feeds(self, feeds: Mapping[str, Array]) -> list[Array]:
        wanted = [t.name for t in self.plan.graph.inputs]
        if unknown := [n for n in feeds if n not in wanted]:
            raise InputError(f"the model has no input {unknown[0]!r}; it has {', '.join(wanted) or 'none'}")
        return [_fitting("input", t.name, t, feeds.get(t.name)) for t in self.plan.graph.inputs]

    def _targets(self, given: Mapping[str, Array]) -> list[Array]:
        names = self.plan.graph.output_names
        if unknown := [n for n in given if n not in names]:
            raise InputError(f"the model has no output {unknown[0]!r}; it has {', '.join(names) or 'none'}")
        return [_writable(n, t, given[n]) if n in given else recycler.empty()
                for n, t, recycler in zip(names, self.plan.graph.outputs, self._outputs, strict=True)]  # fmt: skip

    def _guarded(self, work: Callable[[], Result]) -> Result:
        """What `work` returns; what a host step raised becomes the reason of the error."""
        try:
            return work()
        except Error as e:
            failure, self._host.failure = self._host.failure, None
            if failure is None:
                raise
            raise Error(f"{e}: {failure}") from failure

    def _check_open(self) -> None:
        if not self._forget.alive:
            raise Error("the executable is closed")

    def __enter__(self) -> Executable:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def load(path: str | Path, threads: int = 0) -> Executable:
    """Opens a `.korch` archive; ArchiveError says in one line what does not fit this machine."""
    folder = new_folder()
    try:
        plan, linked = archive.extract(Path(path), folder)
        return Executable(plan, linked, threads)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def new_folder() -> Path:
    """A private folder for the files of one executable."""
    try:
        return Path(tempfile.mkdtemp(prefix="korch-"))
    except OSError as e:
        raise ArchiveError(f"cannot make a folder for the program: {e.strerror}; set TMPDIR to one with room") from None


def _fitting(kind: str, name: str, t: Tensor, x: Array | None) -> Array:
    """`x` as dense memory of the type that `t` has."""
    if isinstance(x, np.ndarray) and x.dtype == t.dtype and x.shape == t.shape:
        return x if x.flags.c_contiguous else np.ascontiguousarray(x).reshape(t.shape)
    expected = type_text(t.dtype, t.shape)
    if x is None:
        raise InputError(f"{kind} {name!r} is missing: expected {expected}")
    if not isinstance(x, np.ndarray):
        raise InputError(f"{kind} {name!r} must be a numpy array {expected}, found {type(x).__name__}")
    order = "" if x.dtype.isnative else " in foreign byte order"
    raise InputError(f"{kind} {name!r} must be {expected}, found {type_text(x.dtype.name, x.shape)}{order}")


def _writable(name: str, t: Tensor, x: Array) -> Array:
    if _fitting("output", name, t, x) is not x or not x.flags.writeable:
        raise InputError(f"output {name!r} must be a contiguous array that can be written")
    return x
