"""NVIDIA GPUs: installed ones, whose kernels are measured, and described ones, whose kernels are modelled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import ClassVar, cast

from korch.backends.contract import Backend, Kernel
from korch.backends.cuda.triton.compile import Compiled, CompiledLaunch, compile_kernel, compilers
from korch.backends.precision import allowed, peak
from korch.backends.table import backends
from korch.devices import DEVICES, Device, device_named
from korch.errors import BackendError, Error
from korch.executable import Executable
from korch.executable.plan import Plan
from korch.executable.recall import Recall
from korch.ir.cone import Cone
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.machine import Machine
from korch.options import Options
from korch.profile.costs import Costs
from korch.profile.cuda.calibrate import machine
from korch.profile.cuda.installed import Installed, installed
from korch.profile.cuda.profiler import DeviceProfiler
from korch.profile.database import Database
from korch.profile.modelled import Modelled
from korch.system.processor import processors
from korch.targets.emulate import emulated
from korch.targets.target import Target


@dataclass(frozen=True)
class _Gpu:
    """What is the same for all GPUs."""

    options: Options
    device: Device

    way_out: ClassVar[str] = "; a program for the processor takes any operator: --target cpu"

    def backends(self) -> tuple[Backend, ...]:
        return backends("cuda", self.options.numerics)

    def choices(self, graph: Graph) -> Graph:
        """Winograd's and Strassen's transforms, among others, have no kernels here: their chains go."""
        untaken = {p for p in graph.primitives if p.rule and not self._takes(Cone.of([p]))}
        return _needed(graph.without(untaken)) if untaken else graph

    def _takes(self, cone: Cone) -> bool:
        return any(b.refuses(cone) is None for b in self.backends())

    def peak(self, machine: Machine) -> float:
        return peak(machine, allowed(self.options.numerics))

    def link(self, plan: Plan, costs: Costs, recall: Recall | None = None) -> Executable:
        return linked(plan, self.device)

    def trial(self, plan: Plan, costs: Costs) -> Executable:
        return self.link(plan, costs)

    def refused(self, kernels: Sequence[Kernel]) -> list[Kernel]:
        return []

    def keep(self, program: Executable, recall: Recall) -> None:
        """Nothing: what was compiled is kept kernel by kernel."""


@dataclass(frozen=True)
class DescribedGpu(_Gpu):
    """A GPU that need not be here: costs are modelled, programs compiled and not run."""

    timed: bool = False

    def costs(self, database: Database) -> Modelled:
        return Modelled(self.device, self.backends(), database)

    def machine(self, costs: Costs) -> Machine:
        return self.device.machine

    def refused(self, kernels: Sequence[Kernel]) -> list[Kernel]:
        """Those that do not compile, or do not fit. What was compiled, the compiler remembers."""
        return unfit([k for k in kernels if k.launches], self.device)

    def outputs(self, program: Executable, feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        return emulated(program.plan, feeds)


@dataclass(frozen=True)
class InstalledGpu(_Gpu):
    """A GPU of this machine: kernels are measured on it, and on all others of its kind among `boards`."""

    boards: tuple[Installed, ...] = ()
    timed: bool = True

    def costs(self, database: Database) -> DeviceProfiler:
        return DeviceProfiler(self.boards, database)

    def machine(self, costs: Costs) -> Machine:
        return machine(cast(DeviceProfiler, costs), self.device)

    def link(self, plan: Plan, costs: Costs, recall: Recall | None = None) -> Executable:
        return linked(plan, self.device, cast(DeviceProfiler, costs).made)

    def outputs(self, program: Executable, feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        return program.run(feeds)


def _needed(graph: Graph) -> Graph:
    """Without choices that nothing reads: what is left of chains that have lost their ends."""
    while True:
        read = {*graph.outputs, *(t for p in graph.primitives for t in p.inputs)}
        idle = {p for p in graph.primitives if p.rule and p.output not in read and p.output not in graph.twins}
        if not idle:
            return graph
        graph = graph.without(idle)


def linked(plan: Plan, device: Device, made: Compiled | None = None) -> Executable:
    """The program of `plan`, compiled for `device` as far as it is not `made`."""
    from korch.executable.cuda import DeviceExecutable

    return DeviceExecutable.link(plan, device, made=made)


def unfit(kernels: Sequence[Kernel], device: Device) -> list[Kernel]:
    """Those of `kernels` that do not compile, or want more shared memory than a block has, tried on all processors."""
    if not kernels:
        return []
    with compilers(min(len(kernels), processors())) as pool:
        tried = [pool.submit(compile_kernel, k, device.capability) for k in kernels]
        return [k for k, future in zip(kernels, tried, strict=True) if not _fits(future, device)]


def _fits(future: Future[tuple[CompiledLaunch, ...]], device: Device) -> bool:
    try:
        return all(binary.shared <= device.shared for binary in future.result())
    except BackendError:
        return False


def gpu_of(options: Options) -> Target:
    """The GPU that `options` ask for; Error says in one line what is missing."""
    if find_spec("triton") is None:
        raise BackendError("triton is not installed, which compiles kernels for NVIDIA GPUs: pip install 'korch[cuda]'")
    return _described(options) if options.costs == "model" else _installed(options)


def _described(options: Options) -> DescribedGpu:
    here = installed()
    if options.device.isdigit() or (here and not options.device):
        device = _numbered(here, options.device).device()
    elif options.device:
        device = device_named(options.device)
    else:
        raise Error(f"no NVIDIA GPU here to make a model of: give --device {'|'.join(DEVICES)}")
    return DescribedGpu(replace(options, device=device.name), device)


def _installed(options: Options) -> InstalledGpu:
    here = installed()
    if not here:
        raise Error(
            f"no NVIDIA GPU here: kernels cannot be measured or run; give --costs model --device "
            f"{'|'.join(DEVICES)} to plan with roofline costs and compile for that device"
        )
    if find_spec("torch") is None:
        raise BackendError(
            "torch is not installed, with which kernels are measured and NVIDIA's libraries called: "
            "pip install torch, for this machine's driver"
        )
    named = options.device and not options.device.isdigit()
    chosen = _named(here, options.device) if named else _numbered(here, options.device)
    if chosen.index:
        raise Error(
            f"programs run on the first GPU: set CUDA_VISIBLE_DEVICES={chosen.index} to make the "
            f"{chosen.name} the first"
        )
    device = chosen.device()
    return InstalledGpu(replace(options, device=device.name), device, tuple(b for b in here if b.like(chosen)))


def _numbered(here: tuple[Installed, ...], number: str) -> Installed:
    index = int(number or 0)
    if index >= len(here):
        found = ", ".join(f"{b.index} {b.name}" for b in here) or "none"
        raise Error(f"there is no GPU number {index} here; installed: {found}")
    return here[index]


def _named(here: tuple[Installed, ...], name: str) -> Installed:
    for board in here:
        if name.upper() in (board.name.upper(), board.device().name.upper()):
            return board
    raise Error(
        f"no {name} is installed here, but {here[0].name}: give --costs model to plan for a device that is not at hand"
    )
