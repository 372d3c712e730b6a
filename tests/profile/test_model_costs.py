"""What the model says of kernels: launches, waves of blocks, traffic, precisions; and that it is only a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from korch.backends.contract import Alias, Kernel, Launch, LibraryCall, Prepared, Triton, Variant
from korch.devices import DEVICES, LAUNCH
from korch.ir import Builder, Cone
from korch.profile.database import Database
from korch.profile.modelled import Modelled
from korch.profile.results import Measurement
from korch.profile.roofline import SHARES, modelled_error, modelled_seconds
from korch.system.deadline import Deadline

from .fake_board import product_cone, relu_cone

H100 = DEVICES["H100"]
WIDE = product_cone(4096, 4096, 4096)


def launched(
    cone: Cone,
    blocks: int,
    precision: str = "",
    count: int = 1,
    workspace: int = 0,
    warps: int = 4,
    tile: tuple[int, ...] = (),
) -> Kernel:
    launch = Launch("f", (blocks, 1, 1), (0,), warps, 4, tile)
    return Kernel(cone, "by-hand", Variant(precision=precision), Triton("f", (launch,) * count, workspace=workspace))


def seconds(kernel: Kernel) -> float:
    return modelled_seconds(kernel, H100)


def test_a_launch_costs_something_and_each_one_as_much():
    one, three = launched(relu_cone(64), 1), launched(relu_cone(64), 1, count=3)
    assert LAUNCH < seconds(one) < 1.5 * LAUNCH
    assert seconds(three) - seconds(one) == pytest.approx(2 * LAUNCH)
    assert seconds(Kernel(relu_cone(), "by-hand", Variant(), Alias())) == 0.0


def test_moving_costs_bandwidth_and_needs_warps():
    cone = relu_cone(1 << 26)
    moved = 2 * cone.root.nbytes
    full = seconds(launched(cone, 1 << 15))
    assert full == pytest.approx(moved / (SHARES.memory * 3.35e12) + LAUNCH)
    assert seconds(launched(cone, 66)) - LAUNCH == pytest.approx(4 * (full - LAUNCH)), (
        "half of the processors, half full"
    )


def test_a_workspace_is_written_and_read():
    cone = relu_cone(1 << 26)
    more = seconds(launched(cone, 1 << 15, workspace=1 << 28)) - seconds(launched(cone, 1 << 15))
    assert more == pytest.approx(2 * (1 << 28) / (SHARES.memory * 3.35e12))


def in_tiles(cone: Cone, tile: tuple[int, int, int], precision: str, parts: int = 1) -> Kernel:
    """A product in tiles, split into parts that a second launch joins."""
    rows, columns = cone.root.shape
    product = Launch("product", (-(-rows // tile[0]) * -(-columns // tile[1]) * parts, 1, 1), (0,), 8, 4, tile)
    join = (Launch("join", (-(-rows // 4) * -(-columns // 128), 1, 1), (0,)),) if parts > 1 else ()
    workspace = 4 * parts * cone.root.size if parts > 1 else 0
    return Kernel(cone, "by-hand", Variant(precision=precision), Triton("f", (product, *join), workspace=workspace))


def test_products_cost_arithmetic_in_their_precision():
    flops = 2 * 4096**3
    times = {p: seconds(in_tiles(WIDE, (128, 256, 32), p)) for p in ("fp16", "tf32", "tf32x3", "ieee")}
    for precision, peak in (("tf32", 494e12), ("tf32x3", 494e12 / 3), ("ieee", 67e12)):
        assert 1.0 < times[precision] * peak / flops < 2.5, "a large product is near the peak"
    assert times["fp16"] <= times["tf32"] < times["tf32x3"] < times["ieee"]


def test_a_call_is_as_fast_as_good_tiles_and_its_own_launches_count():
    call = Kernel(WIDE, "vendor", Variant(precision="tf32"), LibraryCall("product"))
    assert seconds(call) <= seconds(in_tiles(WIDE, (128, 128, 32), "tf32")) * 1.01
    more = seconds(replace(call, body=LibraryCall("product", count=3))) - seconds(call)
    assert more == pytest.approx(2 * LAUNCH)
    passing = seconds(replace(call, body=LibraryCall("product", temporary=1 << 32))) - LAUNCH
    assert passing == pytest.approx((2 * (1 << 32) + 3 * 4 * 4096**2) / (SHARES.memory * 3.35e12))


def test_blocks_come_in_waves():
    """One row of tiles more than the multiprocessors have room for takes another turn of all."""
    cones = [product_cone(rows, 4096, 256) for rows in (16896, 17024)]
    full, one_more = (seconds(in_tiles(cone, (128, 256, 32), "tf32")) for cone in cones)
    assert one_more > 1.2 * full


def test_a_split_product_counts_with_its_own_launch_not_with_its_join():
    """Few rows and many steps: the parts fill the multiprocessors, which one tile alone does not."""
    cone = product_cone(128, 16384, 256)
    whole, split = in_tiles(cone, (128, 256, 32), "tf32"), in_tiles(cone, (128, 256, 32), "tf32", parts=16)
    assert seconds(split) < 0.5 * seconds(whole)


def test_small_tiles_read_their_factors_more_often_and_rounded_ones_are_smaller():
    small, large = (seconds(in_tiles(WIDE, tile, "fp16")) for tile in ((32, 32, 32), (128, 256, 32)))
    assert small > 2 * large
    kernel = in_tiles(WIDE, (64, 64, 32), "fp16")
    halved = replace(kernel, body=replace(kernel.body, prepared=(Prepared("float16", (4096, 4096), 1),)))
    assert seconds(halved) < 0.9 * seconds(kernel), "constants are stored rounded"


def test_windows_cost_their_taps():
    """Outside of tensor cores every tap costs a load, a place and a mask."""

    def depthwise(taps: int, last: int = 1) -> Cone:
        b = Builder()
        w = b.constant(np.zeros((256, 1, taps, taps), np.float32))
        b.op(
            "Conv",
            b.input("x", "float32", (1, 256, 256, 256)),
            w,
            strides=(1, 1),
            dilations=(1, 1),
            pads=(taps // 2,) * 4,
            group=256,
            channels_last=last,
        )
        return Cone.of(b.primitives)

    three, five = (seconds(launched(depthwise(taps), 1 << 14)) - LAUNCH for taps in (3, 5))
    assert five / three == pytest.approx(25 / 9, rel=0.3) and five < 1e-3
    assert seconds(launched(depthwise(5, last=0), 1 << 14)) - LAUNCH == pytest.approx(five), "in either layout"


def test_errors_are_those_of_the_precision():
    errors = [modelled_error(launched(WIDE, 1, p)) for p in ("ieee", "tf32x3", "bf16x3", "tf32", "bf16")]
    assert errors[0] == errors[1] < errors[2] < errors[3]
    assert modelled_error(launched(relu_cone(), 1)) == errors[0]


class Optimist:
    """A backend whose bound no model reaches."""

    name, version, fallback = "by-hand", "1", False

    def bound(self, cone: Cone, machine: object) -> float:
        return 1.0


def test_no_cost_is_below_the_bound_and_nothing_is_kept(tmp_path: Path):
    with Database(tmp_path) as database, Modelled(H100, [], database) as costs:
        kernel = launched(relu_cone(), 4)
        (plain,) = costs.measure([kernel])
        assert isinstance(plain, Measurement) and plain.seconds == seconds(kernel)
        assert not costs.measured and not database.counts()["costs"]
        assert costs.measure_until(Deadline(0.0), [kernel]) == [None]
        strict = Modelled(H100, [Optimist()], database)  # pyright: ignore[reportArgumentType]
        assert strict.measure([kernel]) == [Measurement(1.0, 0.0, modelled_error(kernel))]


def test_costs_of_devices_differ():
    kernel = launched(relu_cone(1 << 24), 1 << 14)
    assert modelled_seconds(kernel, DEVICES["A100"]) > seconds(kernel) > modelled_seconds(kernel, DEVICES["H200"])
