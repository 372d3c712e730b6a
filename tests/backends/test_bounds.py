"""Lower bounds on processors: bytes and arithmetic that no kernel avoids, and no more than that."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.loops.work import operations
from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.backends.cpu.tiles.backend import BACKEND as TILES
from korch.backends.footprint import footprint
from korch.backends.table import backends
from korch.ir import Builder, Cone, Value
from korch.machine import Machine

from .cones import CONES, cone_of, sliced

MEMORY, PEAK = 1e10, 1e11
MACHINE = Machine(1, PEAK, ((1 << 40, MEMORY),), 1e-9)


def products(*sizes: int) -> Cone:
    """Of a matrix of `sizes[:2]` by constants of the next sizes, one after another."""
    b = Builder()
    y = b.input("x", "float32", sizes[:2])
    for n, k in pairwise(sizes[1:]):
        y = b.op("MatMul", y, b.constant(np.ones((n, k), np.float32)))
    return Cone.of(b.graph([("y", y)]).primitives)


def test_every_byte_is_moved_once():
    whole = cone_of(lambda b, x: b.op("Relu", x), (1000, 1000))
    assert LOOPS.bound(whole, MACHINE) == pytest.approx(2 * 4e6 / MEMORY)


def test_only_what_is_needed_is_read():
    half = cone_of(sliced((0, 0), (1, 2), (1000, 500)), (1000, 1000))
    assert LOOPS.bound(half, MACHINE) == pytest.approx(2 * 2e6 / MEMORY, rel=1e-3)


def test_nothing_between_is_moved():
    chain = cone_of(lambda b, x: b.op("Relu", b.op("Neg", x) + 1.0), (1000, 1000))
    assert LOOPS.bound(chain, MACHINE) == pytest.approx(2 * 4e6 / MEMORY)


def test_a_window_that_moves_further_than_it_is_wide_leaves_places_unread():
    def conv(b: Builder, x: Value) -> Value:
        w = b.constant(np.ones((64, 64, 1, 1), np.float32))
        return b.op("Conv", x, w, strides=(2, 2), pads=(0,) * 4, dilations=(1, 1), group=1, channels_last=1)

    cone = cone_of(conv, (1, 64, 64, 64))
    slow = Machine(1, 1e30, ((1 << 40, MEMORY),), 1e-9)
    assert ONEDNN.bound(cone, slow) == pytest.approx(4 * 64 * (32 * 32 * 2 + 64) / MEMORY)


def test_multiply_adds_at_peak():
    assert ONEDNN.bound(products(256, 256, 512), MACHINE) == pytest.approx(2 * 256 * 256 * 512 / PEAK)
    assert TILES.bound(products(256, 256, 512, 256), MACHINE) == pytest.approx(4 * 256 * 256 * 512 / PEAK)


def test_a_view_costs_nothing():
    assert LOOPS.bound(cone_of(lambda b, x: b.op("Reshape", x, shape=(20,)), (4, 5)), MACHINE) == 0.0


@pytest.mark.parametrize("name", CONES)
def test_where_arithmetic_is_free_no_bound_is_above_what_all_bytes_would_take(name: str):
    cone = CONES[name]
    tensors = {*cone.leaves, *(t for p in cone.primitives for t in (*p.inputs, p.output))}
    most = sum(t.nbytes for t in tensors) / MEMORY + 1e-9
    taken = [b for b in backends() if not b.fallback and b.refuses(cone) is None]
    assert taken and all(b.bound(cone, Machine(1, 1e30, MACHINE.bandwidths, 1e-9)) <= most for b in taken)


def test_a_resized_image_is_read_where_it_is_looked_up():
    def quarter(b: Builder, x: Value) -> Value:
        return b.op("Interpolate", x, axis=0, taps=1, indices=tuple(range(0, 64, 4)), weights=(1.0,) * 16)

    moved, _ = footprint(cone_of(quarter, (64, 100)))
    assert moved == pytest.approx(4 * (16 + 16) * 100)


@pytest.mark.parametrize(
    ("kernel", "strides", "share"), [((1, 3), (2, 1), 0.5), ((2, 2), (2, 2), 1.0), ((1, 1), (2, 2), 0.25)]
)
def test_a_pool_reads_what_its_windows_hold(kernel: tuple[int, int], strides: tuple[int, int], share: float):
    def pool(b: Builder, x: Value) -> Value:
        return b.op(
            "MaxPool",
            x,
            kernel_shape=kernel,
            strides=strides,
            pads=(0,) * 4,
            dilations=(1, 1),
            ceil_mode=0,
            channels_last=1,
        )

    cone = cone_of(pool, (1, 64, 64, 16))
    moved, _ = footprint(cone)
    assert moved == pytest.approx(share * 4 * 64 * 64 * 16 + cone.root.nbytes, rel=0.05)


def test_functions_of_what_nobody_reads_cost_nothing():
    def one_column(b: Builder, x: Value, g: Value) -> Value:
        return x * b.op("Slice", b.op("Tanh", g), starts=(0, 0), steps=(1, 1), lengths=(50, 1))

    cone = cone_of(one_column, (50, 256), (50, 256))
    _, computed = footprint(cone)
    assert operations(cone, computed)["Tanh"] == 50


MOVES = Machine(1, PEAK, ((1 << 40, 1e9),), 1e-6, moves=((2048, 1e-6), (1 << 17, 2e-6), (1 << 19, 2e-5)))


@pytest.mark.parametrize("moved", [(1 << 17) + 1, 200 << 10, 300 << 10, (1 << 19) - 1])
def test_between_two_sizes_no_more_is_asked_than_the_smaller_shows(moved: int):
    assert MOVES.moving(moved) <= 2e-6 * moved / (1 << 17) < 2e-5


def test_who_moves_more_takes_no_less():
    seconds = [MOVES.moving(1 << n) for n in range(8, 32)]
    assert seconds == sorted(seconds) and seconds[0] == 1e-6 and seconds[-1] > 1
