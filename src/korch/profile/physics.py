"""Physical lower bounds: multiply-adds at the machine's peak, compulsory bytes at the best bandwidth.

No kernel can be faster. The bounds of backends are sharper, and partly extrapolated.
"""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.footprint import footprint
from korch.backends.precision import faster
from korch.ir.cone import Cone
from korch.ir.macs import float32_time
from korch.machine import Machine


@dataclass(frozen=True, slots=True)
class Work:
    """Compulsory work of a kernel: float32 operations (a multiply-add counts two), and bytes to read and write."""

    operations: float = 0.0
    moved: float = 0.0

    @staticmethod
    def of(cone: Cone, precision: str = "") -> Work:
        """Multiply-adds of `cone`'s linear primitives in a `precision`, each of its leaves read once as far as it is
        needed, and its outputs written."""
        return Work(2.0 * float32_time(cone.linear) / faster(precision), footprint(cone)[0])


@dataclass
class Physics:
    """The best rates ever seen on a machine: operations and bytes a second. They only rise: a calibration on a busy
    machine may have found less than there is."""

    peak: float = 0.0
    bandwidth: float = 0.0

    @staticmethod
    def of(machine: Machine) -> Physics:
        """The best of a calibrated machine's rates, of the caches where these are faster than memory."""
        peaks = (machine.peak_flops, *(rate for _, rate in machine.peaks))
        return Physics(max(peaks), max((rate for _, rate in machine.bandwidths), default=0.0))

    def seconds(self, work: Work) -> float:
        """No kernel that does `work` takes less; 0 while no rate is known."""
        computing = work.operations / self.peak if self.peak else 0.0
        return max(computing, work.moved / self.bandwidth if self.bandwidth else 0.0)

    def raised(self, peak: float = 0.0, bandwidth: float = 0.0) -> bool:
        """Enters rates that were seen; whether one was better than the best."""
        better = peak > self.peak or bandwidth > self.bandwidth
        self.peak, self.bandwidth = max(self.peak, peak), max(self.bandwidth, bandwidth)
        return better
