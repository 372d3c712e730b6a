"""What the search asks of whoever says what kernels cost, wherever they run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from korch.backends.contract import Kernel
from korch.ir.cone import Cone
from korch.profile.database import Database
from korch.profile.physics import Physics
from korch.profile.results import Result, Tally
from korch.profile.setting import Setting
from korch.system.deadline import Deadline


class Costs(Protocol):
    """Costs of kernels, measured on a processor or a device, or modelled. `measured` counts those that really ran."""

    measured: int
    physics: Physics
    """The best rates of the machine or device: they bound every cost from below."""
    tally: Tally
    """The samples taken."""

    @property
    def database(self) -> Database: ...

    @property
    def setting(self) -> Setting:
        """What costs depend on; its `threads` are what kernels are built for."""
        ...

    def offer_key(self, cone: Cone, backend: str) -> str:
        """Under which the database has what `backend` offers for all cones of this signature."""
        ...

    def measure(self, kernels: Sequence[Kernel]) -> list[Result]:
        """The result of each kernel, in order."""
        ...

    def measure_until(self, deadline: Deadline, kernels: Sequence[Kernel]) -> list[Result | None]:
        """The same, but None for kernels whose turn had not come by `deadline`."""
        ...

    def measure_again(
        self, deadline: Deadline, kernels: Sequence[Kernel], rivals: Sequence[Kernel | None] = ()
    ) -> list[Result | None]:
        """The same of kernels that are known: each keeps the least of its times, as a busy machine only adds. A kernel
        of the same cone may be named as the rival that tells how busy it is."""
        ...

    def alone(self, until: Deadline) -> AbstractContextManager[object]:
        """Within it no other process measures where programs run: whoever comes waits, but not after `until`."""
        ...

    def pace(self) -> float:
        """Of what a program takes at the moment, the part that it would take if nobody shared the machine."""
        ...

    def rest(self) -> None:
        """Makes way for a program that is to be timed."""
        ...

    def close(self) -> None: ...
