"""Dtypes of factors and of what kernels store."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.executable.small_plans import plan_of

from korch.backends.contract import Kernel
from korch.backends.cpu.loops.backend import BACKEND
from korch.executable.plan import Plan
from korch.ir import Builder, Cone, Primitive
from korch.report.precisions import Precisions


def built(p: Primitive) -> Kernel:
    return BACKEND.build(Cone.of([p]), 1)[0]


def quantized() -> Plan:
    """A product of bytes, scaled, and one of floats."""
    b = Builder()
    x, w = b.input("x", "uint8", (3, 8)), b.constant(np.ones((8, 5), np.int8))
    total = b.op("MatMulInteger", x, w, b.constant(0, "uint8"), w_zero=0)
    y = b.op("Cast", total, to="float32") @ b.constant(np.ones((5, 2), np.float32))
    return plan_of(b.graph([("y", y)]), built, threads=1)


def test_bytes_and_floats():
    found = Precisions.of(quantized().steps)
    assert found.factors == {"uint8": 120, "float32": 30}
    assert found.stored == {"int32": 60, "float32": 60 + 24}
    assert found.casts == {"int32 to float32": 1}
    assert [line.partition(":")[0] for line in found.lines] == ["factors", "stored by kernels", "casts"]


def test_what_a_kernel_rounds_its_factors_to():
    """The dtype that the precision stands for."""
    *before, last = quantized().steps
    halves = replace(last, kernel=replace(last.kernel, variant=replace(last.kernel.variant, precision="bf16")))
    assert Precisions.of([*before, halves]).factors == {"uint8": 120, "bfloat16": 30}


def test_casts_alone():
    b = Builder()
    plan = plan_of(b.graph([("y", b.op("Cast", b.input("x", "uint8", (4,)), to="float32"))]), built, threads=1)
    assert list(Precisions.of(plan.steps).lines) == ["stored by kernels: 0.00 MB float32", "casts: 1 uint8 to float32"]


def test_nothing_is_said_of_one_dtype():
    b = Builder()
    plan = plan_of(b.graph([("y", b.op("Exp", b.input("x", "float32", (4,))))]), built, threads=1)
    assert not list(Precisions.of(plan.steps).lines)
