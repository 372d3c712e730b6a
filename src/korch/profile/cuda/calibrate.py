"""A device's rates as its kernels reach them, measured once and remembered; never beyond its description."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, replace
from typing import Protocol

from korch.devices import Device
from korch.machine import Machine
from korch.profile.costs import Costs
from korch.profile.cuda.tasks import BoardRates
from korch.profile.database import known_machine
from korch.profile.results import Failed
from korch.system.digest import digest

MARGIN = 0.9
"""Of the best time seen: what remains a lower bound when the device has a better day."""
SHORTEST = 0.5e-6
"""Seconds that no kernel of a graph takes less than."""

log = logging.getLogger(__name__)


class Calibrated(Costs, Protocol):
    """Costs that can measure the device itself."""

    def calibrate(self) -> BoardRates | Failed: ...


def machine(costs: Calibrated, device: Device) -> Machine:
    """The calibrated device; as it is described, where it cannot be calibrated."""
    key = digest("device", device.machine, *asdict(costs.setting).values())
    if known := known_machine(costs.database, key):
        return known
    rates = costs.calibrate()
    if isinstance(rates, Failed):
        log.warning("the device cannot be calibrated (%s): bounds are those of its description", rates.reason)
        return device.machine
    found = calibrated(device, rates)
    costs.database.record_machine(key, json.dumps(asdict(found)))
    return found


def calibrated(device: Device, rates: BoardRates) -> Machine:
    """What `rates` say of `device`, with a margin, and within its description."""
    described, best = device.machine, dict(rates.peaks)
    peaks = tuple((p, min(peak, best.get(p, peak) / MARGIN)) for p, peak in described.peaks)
    moved, seconds = rates.copies[-1]
    memory = min(described.bandwidths[-1][1], moved / seconds / MARGIN)
    return replace(
        described,
        name=device.name,
        peaks=peaks,
        launch=max(MARGIN * rates.launch, SHORTEST),
        moves=_moves(rates),
        peak_flops=min(described.peak_flops, best.get("ieee", described.peak_flops) / MARGIN),
        bandwidths=(*described.bandwidths[:-1], (described.bandwidths[-1][0], memory)),
    )


def _moves(rates: BoardRates) -> tuple[tuple[int, float], ...]:
    """What copies take at least; never less for more bytes."""
    seconds = [MARGIN * s for _, s in rates.copies]
    return tuple((moved, min(seconds[i:])) for i, (moved, _) in enumerate(rates.copies))
