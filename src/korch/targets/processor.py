"""This machine's processor: kernels are measured, programs are native libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from korch.backends.contract import Backend, Kernel
from korch.backends.table import backends
from korch.backends.toolchain import find_toolchain
from korch.executable import Executable
from korch.executable.cpu import CpuExecutable
from korch.executable.plan import Plan
from korch.executable.recall import Recall
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.machine import Machine
from korch.options import Options
from korch.profile.calibrate import machine
from korch.profile.costs import Costs
from korch.profile.database import Database
from korch.profile.profiler import Profiler


@dataclass(frozen=True)
class Processor:
    """The processor that this process runs on."""

    options: Options
    timed: bool = True

    @staticmethod
    def of(options: Options) -> Processor:
        """With the threads that the compiler can give a program."""
        return Processor(options if find_toolchain().openmp else replace(options, threads=1))

    way_out: ClassVar[str] = "; install onnxruntime, which runs any operator"

    def backends(self) -> tuple[Backend, ...]:
        return backends(numerics=self.options.numerics)

    def choices(self, graph: Graph) -> Graph:
        """All of them: onnxruntime takes any primitive."""
        return graph

    def costs(self, database: Database) -> Profiler:
        return Profiler(self.options.thread_count, database)

    def machine(self, costs: Costs) -> Machine:
        return machine(costs.setting.threads, costs.database, cast(Profiler, costs))

    def peak(self, machine: Machine) -> float:
        return machine.peak_flops

    def link(self, plan: Plan, costs: Costs, recall: Recall | None = None) -> Executable:
        known = recall.library if recall else None
        return CpuExecutable.of(plan, known=known, units=cast(Profiler, costs).units)

    def trial(self, plan: Plan, costs: Costs) -> Executable:
        return CpuExecutable.of(plan, units=cast(Profiler, costs).units, trial=True)

    def keep(self, program: Executable, recall: Recall) -> None:
        recall.keep_library(program.plan, program.linked)

    def refused(self, kernels: Sequence[Kernel]) -> list[Kernel]:
        return []

    def outputs(self, program: Executable, feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        return program.run(feeds)
