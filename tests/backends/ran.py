"""Native kernels of one library, run on leaves of the test's choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from korch.backends.contract import Kernel
from korch.backends.libraries import find_libraries
from korch.backends.toolchain import find_toolchain
from korch.backends.units import Units
from korch.ir import Cone
from korch.ir.evaluate import evaluate_cone
from korch.profile.arena import Arena, tensor_view
from korch.profile.database import Database
from korch.profile.inputs import leaf_arrays
from korch.profile.outputs import POISONS
from korch.profile.runners import Clock, Native, entry
from korch.profile.timing import load, timing_library

Array = np.ndarray[Any, Any]


class Library:
    """The kernels, compiled together."""

    def __init__(self, kernels: Sequence[Kernel], folder: Path) -> None:
        toolchain, file = find_toolchain(), folder / "kernels.so"
        Units(folder).compile_library(toolchain, [k.code for k in kernels], file, 100_000, 2)
        for found in find_libraries(name for k in kernels for name in k.libraries):
            load(str(found.file))
        self._library = load(file)
        with Database(folder) as database:
            self._clock = Clock(load(timing_library(database, toolchain, folder)), 0)
        self.kernels = kernels

    def run(self, number: int, leaves: Sequence[Array]) -> list[Array]:
        """The output of kernel `number`."""
        kernel, arena = self.kernels[number], Arena()
        cone, tensors = kernel.cone, (*kernel.cone.leaves, kernel.cone.root)
        *buffers, workspace = arena.buffers([*(t.nbytes for t in tensors), kernel.workspace])
        for buffer, t, x in zip(buffers, cone.leaves, leaves, strict=False):
            tensor_view(buffer, t)[...] = x
        outs = buffers[len(leaves) :]
        for buffer in (*outs, workspace):
            buffer[...] = POISONS[1]
        runner = Native(
            entry(self._library, number),
            cone,
            buffers[: len(leaves)],
            outs,
            workspace,
            self._clock,
            self._library.korch_join,
        )
        try:
            runner.run()
        finally:
            runner.close()
        assert arena.intact
        return [tensor_view(buffer, t).copy() for buffer, t in zip(outs, (cone.root,), strict=True)]


def poisoned(cone: Cone, seed: int) -> Iterator[list[Array]]:
    """Random leaves with NaN in them: at the first element, at the last one, at one in the middle, and at a few."""
    rng, plain = np.random.default_rng(seed), leaf_arrays(cone)
    floats = [i for i, t in enumerate(cone.leaves) if t.is_float and not t.const and t.value is None and t.size]
    for i in floats:
        size = cone.leaves[i].size
        for places in ([0], [size - 1], [size // 2], rng.integers(0, size, max(size // 1000, 2)).tolist()):
            leaves = list(plain)
            leaves[i] = plain[i].copy()
            leaves[i].reshape(-1)[places] = rng.choice(np.array([np.nan, -np.nan]), len(places))
            yield leaves


def forgotten(found: Sequence[Array], cone: Cone, leaves: Sequence[Array]) -> str:
    """Where outputs are NaN and should not be, or the other way round; integers and booleans where they differ."""
    for t, x in zip((cone.root,), found, strict=True):
        with np.errstate(all="ignore"):
            wanted = np.asarray(evaluate_cone(cone.part(t), leaves))
        wrong = np.isnan(x) != np.isnan(wanted) if t.is_float else x != wanted
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            return f"{t.name}{list(at)} is {x[at]} instead of {wanted[at]}; {int(wrong.sum())} of {x.size} differ"
    return ""
