"""What a kernel costs on a device by a model: a roofline, refined by how the kernel is launched.

The bound of a backend knows a cone's least traffic and arithmetic. The model knows the kernel too: the functions that
are launched, those inside of a library's call included; the tiles in which products are computed, by the tile model of
generated products (`backends/cuda/triton/linear/tiles.py`); the bytes that pass through a workspace; and which share of
a device's rates kernels reach (`Efficiencies`). It is no measurement: it makes plans for a device that is not at hand.
`benchmarks/model_accuracy.py` compares it with what an H200 measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product as combinations

from korch.backends.contract import Kernel, Launch
from korch.backends.cuda.triton.linear.product import Size, product_of
from korch.backends.cuda.triton.linear.tiles import Multiprocessor, ProductTile
from korch.backends.cuda.triton.linear.tiles import seconds as tiled
from korch.backends.cuda.triton.windows import has_channel_groups
from korch.backends.footprint import footprint
from korch.backends.precision import HALVES, KNOWN, peak
from korch.devices import LAUNCH, Device
from korch.ir.macs import multiply_adds
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive


@dataclass(frozen=True)
class Efficiencies:
    """What kernels reach of a device's rates.

    call: of a precision's peak, products of a vendor that have no tiles here (transposed convolutions). memory: of the
    bandwidths. plain: of the float32 peak, arithmetic outside of tensor cores. costly: operations of an exponential and
    its like. tap: operations of an element of a window outside of tensor cores: its load, its place, its mask. warps:
    that a multiprocessor needs at work to draw its share of the memory's bandwidth.
    """

    call: float = 0.8
    memory: float = 0.85
    plain: float = 0.4
    costly: float = 12.0
    tap: float = 6.0
    warps: int = 8


SHARES = Efficiencies()
SIDES = ((256, 128), (128, 256), (128, 128), (128, 64), (64, 128), (64, 64), (64, 32))
DEPTHS, PARTS = (32, 64), (1, 2, 4, 8)
"""Tiles that a vendor's library is taken to choose from, and into how many parts it divides the steps of a product."""
LARGE, STAGES = 128 * 128, 4
"""Elements of a tile from which on eight warps compute it, four else; its pipeline."""
ERRORS = {"bf16x3": 1.5e-5, "tf32": 5e-4, "fp16": 5e-4, "bf16": 4e-3}
"""Of a product's largest magnitude: half of what the last bit of a rounded factor is worth, or a little less."""
EXACT = 1e-6


def modelled_seconds(kernel: Kernel, device: Device, shares: Efficiencies = SHARES) -> float:
    """Seconds that `kernel` takes on `device`, as far as its launches and its traffic tell."""
    if kernel.alias:
        return 0.0
    launches = kernel.call.count if kernel.call else max(len(kernel.launches), 1)
    arithmetic = _products(kernel, device, shares) + _rest(kernel, device, shares)
    joined = len(kernel.launches) - 1 if _tile_of(kernel) else 0  # the tile model has them
    return max(arithmetic, _moving(kernel, device, shares)) + LAUNCH * (launches - joined)


def modelled_error(kernel: Kernel) -> float:
    """What the kernel errs, of the largest magnitude of its output."""
    return ERRORS.get(kernel.variant.precision, EXACT) if kernel.cone.linear else EXACT


def _products(kernel: Kernel, device: Device, shares: Efficiencies) -> float:
    """Seconds of the linear primitives on tensor cores."""
    return sum(_product(kernel, p, device, shares) for p in kernel.cone.linear if not has_channel_groups(p))


def _product(kernel: Kernel, p: Primitive, device: Device, shares: Efficiencies) -> float:
    precision = kernel.variant.precision or "ieee"
    if not p.spec.contracts:
        return 2 * multiply_adds(p) / (shares.call * peak(device.machine, (precision,)))
    rates, size = _rates(device), Size.of(product_of(p), _widths(kernel, p, precision))
    launch = _tile_of(kernel)
    tiles = [_tile(launch, size)] if launch else _library_tiles(size, p, device.multiprocessors)
    return min(tiled(t, size, device.multiprocessors, precision, rates) for t in tiles)


def _rates(device: Device) -> Multiprocessor:
    machine, width = device.machine, device.multiprocessors
    return Multiprocessor({p: peak(machine, (p,)) / width for p in KNOWN}, machine.bandwidth(0) / width)


def _tile_of(kernel: Kernel) -> Launch | None:
    """The launch that computes a product in tiles, if one does."""
    return next((launch for launch in kernel.launches if launch.tile), None)


def _tile(launch: Launch, size: Size) -> ProductTile:
    rows, columns, depth = launch.tile
    tile = ProductTile(rows, columns, depth, launch.warps, launch.stages)
    return replace(tile, parts=max(math.prod(launch.grid) // tile.blocks(size), 1))


def _library_tiles(size: Size, p: Primitive, multiprocessors: int) -> list[ProductTile]:
    """The tiles a library may choose; it divides the steps of products only, and of few tiles."""
    tiles = [ProductTile(r, c, d, 8 if r * c >= LARGE else 4, STAGES) for (r, c), d in combinations(SIDES, DEPTHS)]
    divided = [
        replace(t, parts=n)
        for t in tiles
        for n in PARTS[1:]
        if p.spec.is_product and n * t.blocks(size) <= 2 * multiprocessors and n <= t.turns(size)
    ]
    return tiles + divided


def _widths(kernel: Kernel, p: Primitive, precision: str) -> tuple[int, int]:
    """Bytes of an element of each factor as tiles read it. A call rounds its factors before."""
    if precision not in HALVES:
        return 4, 4
    rounded = {made.leaf for made in kernel.prepared if made.dtype in HALVES.values()}
    leaves = kernel.cone.leaves
    first, second = (2 if kernel.call or (t in leaves and leaves.index(t) in rounded) else 4 for t in p.inputs[:2])
    return first, second


def _rest(kernel: Kernel, device: Device, shares: Efficiencies) -> float:
    """Seconds of all arithmetic outside of tensor cores."""
    _, computed = footprint(kernel.cone)
    operations = sum(n * _weight(p, shares) for p, n in computed.items())
    return operations * _rounds(kernel, device) / (shares.plain * device.machine.peak_flops)


def _weight(p: Primitive, shares: Efficiencies) -> float:
    """Operations for an element that is computed; `footprint` counts all taps of a pooling window."""
    if has_channel_groups(p):
        return shares.tap * math.prod(p.inputs[1].shape[2:])
    if p.spec.is_pool:
        return shares.tap
    if p.spec.interpolates:
        return shares.tap * p.attr("taps")
    if p.category in (Category.LINEAR, Category.LAYOUT, Category.BROADCAST):
        return 0.0
    return shares.costly if p.spec.costly else 1.0


def _moving(kernel: Kernel, device: Device, shares: Efficiencies) -> float:
    """Seconds of reading and writing, what passes through the workspace twice; few warps draw less than all of the
    bandwidth."""
    temporary = kernel.call.temporary if kernel.call else kernel.workspace
    moved = footprint(kernel.cone)[0] + 2 * temporary
    drawn = min(1.0, _warps(kernel) / (shares.warps * device.multiprocessors)) if kernel.launches else 1.0
    return moved / (shares.memory * drawn * device.machine.bandwidth(moved))


def _rounds(kernel: Kernel, device: Device) -> float:
    """By how much the blocks of the largest launch take longer than if they filled all multiprocessors to the end."""
    if not kernel.launches:
        return 1.0
    blocks, width = max(math.prod(launch.grid) for launch in kernel.launches), device.multiprocessors
    return -(-blocks // width) * width / blocks


def _warps(kernel: Kernel) -> int:
    return max(math.prod(launch.grid) * launch.warps for launch in kernel.launches)
