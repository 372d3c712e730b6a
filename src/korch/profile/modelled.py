"""Costs without a device: every kernel costs what the model says. Nothing is compiled, run or remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

from korch.backends.contract import Backend, Kernel
from korch.devices import Device
from korch.ir.cone import Cone
from korch.profile.database import Database
from korch.profile.physics import Physics
from korch.profile.results import Measurement, Result, Tally
from korch.profile.roofline import SHARES, modelled_error, modelled_seconds
from korch.profile.setting import Setting, offer_key
from korch.system.deadline import Deadline


class Modelled:
    """The costs of kernels on `device`. None of `backends` is ever better than its own bound."""

    def __init__(self, device: Device, backends: Sequence[Backend], database: Database) -> None:
        self.device = device
        self.database = database
        self.setting = Setting(f"model {SHARES}", device.name, device.multiprocessors)
        self.measured = 0
        self.physics = Physics.of(device.machine)
        self.tally = Tally()
        self._backends: Mapping[str, Backend] = {b.name: b for b in backends}

    def offer_key(self, cone: Cone, backend: str) -> str:
        return offer_key(cone, backend, self.setting)

    def measure(self, kernels: Sequence[Kernel]) -> list[Result]:
        """The modelled cost of each kernel."""
        return [self.cost(k) for k in kernels]

    def measure_until(self, deadline: Deadline, kernels: Sequence[Kernel]) -> list[Result | None]:
        """The same; None for what comes after the deadline."""
        return [None if deadline.passed else self.cost(k) for k in kernels]

    def measure_again(
        self, deadline: Deadline, kernels: Sequence[Kernel], rivals: Sequence[Kernel | None] = ()
    ) -> list[Result | None]:
        """The same: a model has no second thoughts."""
        return self.measure_until(deadline, kernels)

    def cost(self, kernel: Kernel) -> Result:
        """The modelled cost, no less than the backend's own bound."""
        backend = self._backends.get(kernel.backend)
        least = backend.bound(kernel.cone, self.device.machine) if backend and not kernel.alias else 0.0
        return Measurement(max(modelled_seconds(kernel, self.device), least), 0.0, modelled_error(kernel))

    def alone(self, until: Deadline) -> AbstractContextManager[None]:
        """Nobody else is asked."""
        return nullcontext()

    def pace(self) -> float:
        return 1.0

    def rest(self) -> None:
        """Nothing is at work."""

    close = rest

    def __enter__(self) -> Modelled:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
