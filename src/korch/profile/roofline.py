"""What a kernel costs on a device by a model: a roofline, refined by how the kernel is launched.

The bound of a backend knows a cone's least traffic and arithmetic. The model knows the kernel too: how many functions
are launched, how evenly their blocks fill the multiprocessors, how often the tiles of a product read their factors,
what goes through a workspace; and which share of a device's rates kernels reach (`Shares`). It is no measurement: what
it is for are plans for a device that is not at hand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from korch.backends.contract import Kernel
from korch.backends.footprint import footprint
from korch.backends.precision import THRICE, part_of, precision_of
from korch.devices import LAUNCH, Device
from korch.ir.cone import Cone
from korch.ir.macs import products
from korch.ir.ops.elementwise import COSTLY
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive


@dataclass(frozen=True)
class Shares:
    """What kernels reach of a device's rates.

    call, product: of a precision's peak, a vendor's products and generated ones. memory, cache: of the bandwidths.
    plain: of the float32 peak, arithmetic outside of products. costly: operations of an exponential and its like.
    passes: of tensor cores for a product in several parts. warps: that a multiprocessor needs at work to draw its
    share of the memory's bandwidth. tile, terms: of the parts into which a vendor's library is taken to divide a
    product that has few outputs.
    """

    call: float = 0.8
    product: float = 0.7
    memory: float = 0.85
    cache: float = 0.6
    plain: float = 0.4
    costly: float = 12.0
    passes: int = 3
    warps: int = 8
    tile: int = 64 * 64
    terms: int = 512


SHARES = Shares()
ERRORS = {"bf16x3": 1.5e-5, "tf32": 5e-4, "fp16": 5e-4, "bf16": 4e-3}
"""Of a product's largest magnitude: half of what the last bit of a rounded factor is worth, or a little less."""
EXACT = 1e-6


def modelled_seconds(kernel: Kernel, device: Device, shares: Shares = SHARES) -> float:
    """Seconds that `kernel` takes on `device`, as far as its launches and its traffic tell."""
    if kernel.alias:
        return 0.0
    arithmetic = _products(kernel, device, shares) + _rest(kernel.cone, device, shares)
    work = max(
        arithmetic * _rounds(kernel, device, shares), _moving(kernel, device, shares), _tiles(kernel, device, shares)
    )
    return work + LAUNCH * max(len(kernel.launches), 1)


def modelled_error(kernel: Kernel) -> float:
    """What the kernel errs, of the largest magnitude of its output."""
    return ERRORS.get(precision_of(kernel.variant), EXACT) if kernel.cone.linear else EXACT


def _products(kernel: Kernel, device: Device, shares: Shares) -> float:
    """Seconds of multiplying and adding."""
    precision = precision_of(kernel.variant)
    passes = shares.passes if precision in THRICE else 1
    share = shares.call if kernel.call else shares.product
    return 2 * passes * sum(map(products, kernel.cone.primitives)) / (share * device.machine.peak(part_of(precision)))


def _rest(cone: Cone, device: Device, shares: Shares) -> float:
    """Seconds of all other arithmetic."""
    _, computed = footprint(cone)
    operations = sum(n * _weight(p, shares) for p, n in computed.items())
    return operations / (shares.plain * device.machine.peak_flops)


def _weight(p: Primitive, shares: Shares) -> float:
    if p.category in (Category.LINEAR, Category.LAYOUT, Category.BROADCAST):
        return 0.0
    return shares.costly if p.op in COSTLY else 1.0


def _moving(kernel: Kernel, device: Device, shares: Shares) -> float:
    """Seconds of reading and writing, what passes through the workspace twice; few warps draw less than all of the
    bandwidth."""
    moved = footprint(kernel.cone)[0] + 2 * kernel.workspace
    drawn = min(1.0, _warps(kernel) / (shares.warps * device.multiprocessors)) if kernel.launches else 1.0
    return moved / (shares.memory * drawn * device.machine.bandwidth(moved))


def _tiles(kernel: Kernel, device: Device, shares: Shares) -> float:
    """Seconds that the tiles of a generated product take to read their factors from the cache, each as many rows and
    columns as a square tile of its size."""
    if not kernel.launches:
        return 0.0
    read = sum(_read_by_tiles(p, _blocks(kernel)) for p in kernel.cone.primitives)
    return read / (shares.cache * device.machine.bandwidth(0))


def _read_by_tiles(p: Primitive, blocks: int) -> float:
    terms = products(p) / max(p.output.size, 1)
    tile = p.output.size / blocks
    return blocks * terms * 2 * math.sqrt(tile) * p.inputs[0].nbytes / max(p.inputs[0].size, 1)


def _rounds(kernel: Kernel, device: Device, shares: Shares) -> float:
    """By how much the blocks of the largest launch take longer than if they filled all multiprocessors to the end."""
    blocks = _blocks(kernel) if kernel.launches else _parts(kernel.cone, shares)
    width = device.multiprocessors
    return -(-blocks // width) * width / blocks


def _parts(cone: Cone, shares: Shares) -> int:
    """Into how many blocks a library divides the largest product of a cone."""
    parts = [-(-p.output.size // shares.tile) * max(products(p) // max(p.output.size, 1) // shares.terms, 1)
             for p in cone.linear]  # fmt: skip
    return max(parts, default=1)


def _blocks(kernel: Kernel) -> int:
    return max(math.prod(launch.grid) for launch in kernel.launches)


def _warps(kernel: Kernel) -> int:
    return max(math.prod(launch.grid) * launch.warps for launch in kernel.launches)
