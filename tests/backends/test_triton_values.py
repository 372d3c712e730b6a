"""What generated Triton makes of zero divisors, the ends of integers and NaN: what the reference does."""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
import pytest

from korch.ir import Builder, Cone, Tensor, Value
from korch.ir.evaluate import evaluate_cone

from .interpreted import built, compilations, failures, output

pytest.importorskip("triton")

from korch.backends.cuda.triton.backend import BACKEND
from korch.backends.cuda.triton.compile import parameters_of

FLOATS = (0.0, -0.0, 1.0, -2.5, 3.0, np.inf, -np.inf, np.nan)


def grid_of(numbers: list[float], dtype: str) -> list[np.ndarray]:
    """All pairs of `numbers`, as two arrays."""
    return [np.array(column, dtype) for column in zip(*((u, v) for u in numbers for v in numbers), strict=True)]


def _leaf(t: Tensor, leaves: list[np.ndarray]) -> np.ndarray:
    return leaves[int(t.name[1:])] if t.value is None else np.array(t.value, t.dtype)


def check(compiling: Executor, cones: dict[str, Cone], leaves: list[np.ndarray]) -> None:
    kernels = built(BACKEND, cones, 4)
    asked = compilations(compiling, kernels)
    for name, kernel in kernels.items():
        given = [_leaf(t, leaves) for t in kernel.cone.leaves]
        found = output(kernel, given)
        with np.errstate(all="ignore"):
            expected = evaluate_cone(kernel.cone, given, precision="float32")
        np.testing.assert_array_equal(found, expected, err_msg=name)
    assert not failures(asked)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32"])
def test_integers_divide_by_anything(compiling: Executor, dtype: str):
    limits = np.iinfo(dtype)
    numbers = {limits.min + 1, limits.max, limits.max // 3 * 2, limits.max - 27, limits.max - 28, 0, 1, 2, 3, 7}
    numbers |= {-1, -2, -7} if limits.min else set()
    leaves = grid_of(sorted(numbers), dtype)
    forms = {"Div": {}, "Mod": {"fmod": 0}, "fmod": {"fmod": 1}}
    cones: dict[str, Cone] = {}
    for form, attrs in forms.items():
        for other in ("any", 0, 3, *([-3] if limits.min else [])):
            b = Builder()
            x, y = (b.input(f"x{i}", dtype, leaves[0].shape) for i in (0, 1))
            op = form if form == "Div" else "Mod"
            z = b.op(op, x, y if other == "any" else other, **attrs)
            cones[f"{form} by {other}"] = Cone.of(b.graph([("z", z)]).primitives)
            if other not in ("any", 0):
                cones[f"{form} of {other}"] = _of(op, other, dtype, leaves[0].shape, attrs)
    check(compiling, cones, leaves)


def _of(op: str, number: int, dtype: str, shape: tuple[int, ...], attrs: dict[str, int]) -> Cone:
    b = Builder()
    x: Value = b.input("x0", dtype, shape)
    return Cone.of(b.graph([("z", b.op(op, number, x, **attrs))]).primitives)


def test_floats_that_are_no_numbers(compiling: Executor):
    leaves = grid_of(list(FLOATS), "float32")
    cones: dict[str, Cone] = {}
    for name, attrs in {"Sign": {}, "Mod": {"fmod": 0}, "fmod": {"fmod": 1}, "Mod by -2.5": {"fmod": 0}}.items():
        b = Builder()
        x, y = (b.input(f"x{i}", "float32", leaves[0].shape) for i in (0, 1))
        z = b.op("Sign", x) if name == "Sign" else b.op("Mod", x, -2.5 if "by" in name else y, **attrs)
        cones[name] = Cone.of(b.graph([("z", z)]).primitives)
    check(compiling, cones, leaves)


def test_signs_of_integers(compiling: Executor):
    for dtype in ("int8", "uint8"):
        b = Builder()
        z = b.op("Sign", b.input("x0", dtype, (3,)))
        check(compiling, {dtype: Cone.of(b.graph([("z", z)]).primitives)}, [np.array([0, 1, 99], dtype)])


PTX = """
.func  (.param .b32 func_retval0) twice(
	.param .b32 twice_param_0
)
;
.visible .entry f(
	.param .u64 .ptr .global .align 16 f_param_0,
	.param .u64 .ptr .global .align 16 f_param_1,
	.param .u64 .ptr .global .align 1 f_param_2
)
.reqntid 128
{
	.param .b32 param0;
}
"""


def test_parameters_are_those_of_the_entry():
    assert parameters_of(PTX) == 3
