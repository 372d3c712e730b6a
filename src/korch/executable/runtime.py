"""An executable in Python: runs a linked plan on numpy arrays, times it, stores it. The part that all targets share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from korch.devices import device_named
from korch.errors import ArchiveError, Error, FolderError
from korch.executable import archive
from korch.executable.link import Libraries, Linked
from korch.executable.memory import MemoryPlan
from korch.executable.plan import Plan
from korch.executable.ports import Port, input_ports, output_ports
from korch.executable.profile import Profile as Profile
from korch.ir.ops.table import Array
from korch.system.folders import discard, owned_folder, removed_with


class Executable(ABC):
    """A linked plan. Several threads may use one; its runs take turns. Closes itself when it is collected.

    `needs`: what the archive that it came from says that it needs to run; None where it was linked here.
    """

    needs: Mapping[str, Any] | None = None

    def __init__(self, plan: Plan, linked: archive.LinkedProgram, threads: int = 0) -> None:
        """Opens the files of `linked`, whose folder the executable owns from now on."""
        self.plan = plan
        self.threads = threads or plan.threads
        self.linked = linked
        self._forget = removed_with(self, linked.folder)

    @staticmethod
    def link(plan: Plan, threads: int = 0, known: Libraries | None = None) -> Executable:
        """Compiles and opens `plan` for its target, or takes its library from the `known` ones; BackendError,
        ArchiveError or Error say in one line why not."""
        if plan.target == "cuda":
            from korch.executable.cuda import DeviceExecutable

            return DeviceExecutable.link(plan, device_named(plan.device))
        from korch.executable.cpu import CpuExecutable  # here: it is one of these

        return CpuExecutable.of(plan, threads, known)

    @property
    def inputs(self) -> tuple[Port, ...]:
        return input_ports(self.plan)

    @property
    def outputs(self) -> tuple[Port, ...]:
        return output_ports(self.plan)

    @property
    def memory(self) -> MemoryPlan:
        return self.linked.memory

    @property
    def weight_bytes(self) -> int:
        """Bytes of all constants, as they are stored."""
        return sum(t.nbytes for t in self.plan.constants)

    @property
    @abstractmethod
    def peak_bytes(self) -> int:
        """The most bytes that a run holds."""

    @abstractmethod
    def run(self, feeds: Mapping[str, Any], outputs: Mapping[str, Array] | None = None) -> dict[str, Array]:
        """All outputs by name. `outputs` gives arrays to write some of them to.

        InputError names the array that does not fit, what was expected and what was found.
        """

    @abstractmethod
    def profile(self, feeds: Mapping[str, Array], runs: int = 20, blocks: int = 1) -> Profile:
        """Times `blocks` blocks of `runs` runs, step by step, each after a run that is not counted."""

    def save(self, path: str | Path, private: bool = False) -> Path:
        """Writes the `.korch` archive, wholly or not at all; ArchiveError where it cannot. Only this user can read a
        `private` one."""
        self._check_open()
        return archive.save(Path(path), self.plan, self.linked, self.threads, self.needs, private)

    def export(self, folder: str | Path) -> Path:
        """Writes `korch.h`, `libmodel.so`, `weights.safetensors` and the libraries that the program calls, for C
        programs; ArchiveError where it cannot."""
        raise ArchiveError(f"cannot export to {folder}: C programs run plans for the CPU, this is one for a device")

    def close(self) -> None:
        """Frees the program and its files. Nothing but the plan can be used after."""
        self._forget()

    def _check_open(self) -> None:
        if not self._forget.alive:
            raise Error("the executable is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def load(path: str | Path, threads: int = 0, runs: bool = True) -> Executable:
    """Opens a `.korch` archive; ArchiveError says in one line what does not fit this machine.

    It runs on as many `threads` as when it was saved (0), or on these.

    Unless it `runs`, the program is only to be looked at: none of its code is loaded, and a program for a device needs
    no such device.
    """
    from korch.executable.cpu import CpuExecutable
    from korch.executable.segmented import is_segmented, open_segmented

    if is_segmented(Path(path)):
        return open_segmented(Path(path), threads, runs)
    folder = new_folder()
    try:
        plan, linked, about = archive.extract(Path(path), folder, runs)
        if isinstance(linked, Linked):
            executable = CpuExecutable(plan, linked, threads or about.threads, opens=runs)
        else:
            from korch.executable.cuda import DeviceExecutable

            executable = DeviceExecutable(plan, linked)
            executable = executable.opened() if runs else executable
        executable.needs = about.needs
        return executable
    except BaseException:
        discard(folder)
        raise


def new_folder() -> Path:
    """A private folder for the files of one executable."""
    try:
        return owned_folder("korch-")
    except FolderError as e:
        raise ArchiveError(str(e)) from None
