"""Choices for GPUs: those that some backend there takes."""

from __future__ import annotations

import numpy as np
import pytest

from korch.devices import DEVICES
from korch.ir import Builder
from korch.options import Options
from korch.rewrite import add_choices
from korch.targets.gpu import DescribedGpu

pytest.importorskip("triton")


def test_algorithms_that_no_gpu_backend_takes_are_no_choices_there():
    """Winograd's and Strassen's chains go as a whole, all else stays."""
    b, rng = Builder(), np.random.default_rng(0)
    w = b.constant(rng.standard_normal((64, 64, 3, 3)).astype(np.float32))
    y = b.op(
        "Conv",
        b.input("x", "float32", (1, 64, 56, 56)),
        w,
        strides=(1, 1),
        dilations=(1, 1),
        pads=(1,) * 4,
        group=1,
        channels_last=0,
    )
    z = b.input("z", "float32", (1024, 1024)) @ b.constant(rng.standard_normal((1024, 1024)).astype(np.float32))
    plain = b.graph([("y", y), ("z", z)])
    graph = add_choices(plain)
    target = DescribedGpu(Options(target="cuda", costs="model", device="H100"), DEVICES["H100"])
    found = target.choices(graph)
    ops, left = ({p.op for p in g.primitives} for g in (graph, found))
    assert {"WinogradInput", "WinogradOutput", "StrassenInput", "StrassenOutput"} <= ops
    assert not any(op.startswith(("Winograd", "Strassen")) for op in left)
    assert {p.rule for p in found.primitives} == {"", "channels_last"}
    assert set(plain.primitives) <= set(found.primitives) and found.twins == graph.twins
