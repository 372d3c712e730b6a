"""The seam between the search and where its programs run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import ClassVar, Protocol

from korch.backends.contract import Backend, Kernel
from korch.executable.plan import Plan
from korch.executable.recall import Recall
from korch.executable.runtime import Executable
from korch.ir.graph import Graph
from korch.ir.ops.table import Array
from korch.machine import Machine
from korch.options import Options
from korch.profile.costs import Costs
from korch.profile.database import Database


class Target(Protocol):
    """Where programs run, and how the search learns what they cost there."""

    @property
    def options(self) -> Options:
        """What was asked for, with the name of the device that was found."""
        ...

    @property
    def timed(self) -> bool:
        """Whether programs can be run and timed here; where not, costs are a model's."""
        ...

    way_out: ClassVar[str]
    """How a refusal of all backends ends: the user's way out."""

    def backends(self) -> tuple[Backend, ...]:
        """Who builds kernels."""
        ...

    def choices(self, graph: Graph) -> Graph:
        """The graph without choices that no backend takes."""
        ...

    def costs(self, database: Database) -> AbstractContextManager[Costs]:
        """Who says what kernels cost."""
        ...

    def machine(self, costs: Costs) -> Machine:
        """The rates from which lower bounds follow."""
        ...

    def peak(self, machine: Machine) -> float:
        """Operations a second of the fastest products that the numerics allow."""
        ...

    def link(self, plan: Plan, costs: Costs, recall: Recall | None = None) -> Executable:
        """The program of `plan`; what `recall` has of it, and `costs` of its kernels, need not be compiled."""
        ...

    def trial(self, plan: Plan, costs: Costs) -> Executable:
        """The program of `plan`, to be timed and not to be kept; `costs` may have its kernels."""
        ...

    def keep(self, program: Executable, recall: Recall) -> None:
        """Remembers what of a finished program took long to make."""
        ...

    def refused(self, kernels: Sequence[Kernel]) -> list[Kernel]:
        """Those that cannot be built, where costs are modelled."""
        ...

    def outputs(self, program: Executable, feeds: Mapping[str, Array]) -> Mapping[str, Array]:
        """What the program computes, by which it is judged."""
        ...
