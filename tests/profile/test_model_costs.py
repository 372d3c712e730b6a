"""What the model says of kernels: launches, waves of blocks, traffic, precisions; and that it is only a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from korch.backends.contract import Call, Kernel, Launch
from korch.devices import DEVICES, LAUNCH
from korch.ir import Cone
from korch.profile.database import Database
from korch.profile.modelled import Modelled
from korch.profile.results import Measurement
from korch.profile.roofline import SHARES, modelled_error, modelled_seconds

from .fake_board import product_cone, relu_cone

H100 = DEVICES["H100"]
WIDE = product_cone(4096, 4096, 4096)


def launched(cone: Cone, blocks: int, variant: str = "", count: int = 1, workspace: int = 0, warps: int = 4) -> Kernel:
    launch = Launch("f", (blocks, 1, 1), (0,), warps)
    return Kernel(cone, "by-hand", "f", workspace, variant, launches=(launch,) * count)


def seconds(kernel: Kernel) -> float:
    return modelled_seconds(kernel, H100)


def test_a_launch_costs_something_and_each_one_as_much():
    one, three = launched(relu_cone(64), 1), launched(relu_cone(64), 1, count=3)
    assert LAUNCH < seconds(one) < 1.5 * LAUNCH
    assert seconds(three) - seconds(one) == pytest.approx(2 * LAUNCH)
    assert seconds(Kernel(relu_cone(), "by-hand", alias=True)) == 0.0


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


def test_products_cost_arithmetic_in_their_precision():
    flops = 2 * 4096**3
    call = Kernel(WIDE, "vendor", variant="tf32", call=Call("product"))
    assert seconds(call) == pytest.approx(flops / (SHARES.call * 494e12) + LAUNCH, rel=0.01)
    ieee = seconds(replace(call, variant="ieee")) - LAUNCH
    assert ieee == pytest.approx(flops / (SHARES.call * 67e12), rel=0.01)
    assert seconds(replace(call, variant="tf32x3")) - LAUNCH == pytest.approx(
        3 * flops / (SHARES.call * 494e12), rel=0.01
    )
    generated = seconds(launched(WIDE, 1056, "ieee 128x128"))
    assert generated - LAUNCH == pytest.approx(flops / (SHARES.product * 67e12)), "eight full waves"


def test_blocks_come_in_waves():
    full, one_more = (seconds(launched(WIDE, blocks, "ieee")) - LAUNCH for blocks in (132, 133))
    assert one_more == pytest.approx(full * 2 * 132 / 133)


def test_a_library_divides_small_products_and_cannot_divide_the_smallest():
    """64 x 32 outputs of 256 terms are one block's work; so are more terms divided."""
    one, divided = (
        Kernel(product_cone(64, k, 32), "vendor", variant="ieee", call=Call("product")) for k in (256, 8192)
    )
    flops = [2 * 64 * 32 * k for k in (256, 8192)]
    times = [seconds(k) - LAUNCH for k in (one, divided)]
    assert times[0] == pytest.approx(132 * flops[0] / (SHARES.call * 67e12))
    assert times[1] == pytest.approx(132 / 16 * flops[1] / (SHARES.call * 67e12))


def test_small_tiles_read_their_factors_more_often():
    small, large = (seconds(launched(WIDE, blocks, "fp16")) for blocks in (132 * 512, 132 * 8))
    assert small > 2 * large


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
        assert costs.measure_until(0.0, [kernel]) == [None]
        strict = Modelled(H100, [Optimist()], database)  # pyright: ignore[reportArgumentType]
        assert strict.measure([kernel]) == [Measurement(1.0, 0.0, modelled_error(kernel))]


def test_costs_of_devices_differ():
    kernel = launched(relu_cone(1 << 24), 1 << 14)
    assert modelled_seconds(kernel, DEVICES["A100"]) > seconds(kernel) > modelled_seconds(kernel, DEVICES["H200"])
