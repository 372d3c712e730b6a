"""Kernels of devices, run without one: what the tests of generated Triton stand on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any

import numpy as np

from korch.backends.contract import Backend, Kernel
from korch.backends.cuda.buffers import buffers_of, prepare
from korch.backends.cuda.interpret import interpret
from korch.errors import Error
from korch.ir import Cone
from korch.profile.check import check
from korch.profile.inputs import leaf_arrays

Array = np.ndarray[Any, Any]
DEVICES = (90, 80)


def built(backend: Backend, cones: Mapping[str, Cone], multiprocessors: int) -> dict[str, Kernel]:
    """Every kernel of `cones`, all of which `backend` must take; views need none."""
    assert {name: backend.refuses(c) for name, c in cones.items()} == dict.fromkeys(cones)
    found = {f"{name}: {k.variant}": k for name, c in cones.items() for k in backend.build(c, multiprocessors)}
    return {name: k for name, k in found.items() if not k.alias}


def output(kernel: Kernel, leaves: Sequence[Array]) -> Array:
    """What `kernel` writes on memory that was full of NaN, or of other bytes that are wrong."""
    buffers = [*(np.array(leaf) for leaf in leaves), *(b.empty() for b in buffers_of(kernel)[len(leaves) :])]
    made = prepare(kernel, leaves)
    first = len(leaves) + 1
    for array in (*buffers[len(leaves) : first], *buffers[first + len(made) :]):
        array.reshape(-1).view(np.uint8)[...] = 0xAA
        if array.dtype.kind == "f":
            array[...] = np.nan
    buffers[first : first + len(made)] = made
    with np.errstate(all="ignore"):
        interpret(kernel, buffers)
    return buffers[len(leaves)]


def wrong(kernels: Mapping[str, Kernel]) -> dict[str, str]:
    """What is wrong with kernels, against float64."""
    found: dict[str, str] = {}
    for name, kernel in kernels.items():
        leaves = leaf_arrays(kernel.cone)
        if reason := check(output(kernel, leaves), kernel.cone, leaves).reason:
            found[name] = reason
    return found


def compilations(pool: Executor, kernels: Mapping[str, Kernel]) -> list[tuple[str, Any]]:
    """The compilations under way: of every kernel for every device."""
    from korch.backends.cuda.triton.compile import compile_kernel

    return [(f"{name} sm_{d}", pool.submit(compile_kernel, k, d)) for name, k in kernels.items() for d in DEVICES]


def failures(asked: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Why kernels do not compile."""
    found: dict[str, str] = {}
    for name, future in asked:
        try:
            binaries = future.result()
            assert all(b.cubin and b.shared <= 48 << 10 for b in binaries), name
        except Error as e:
            found[name] = str(e)
    return found
