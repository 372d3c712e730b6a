"""The prefetches of a kernel, noted while it runs."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

from korch.backends.contract import Kernel
from korch.backends.program import compose
from korch.backends.toolchain import find_toolchain
from korch.executable.buffers import aligned_empty
from korch.profile.runners import entry

LINE = 64
"""Bytes of a line of a cache."""
MOST = 1 << 18
NOTED = f"""const char *noted[{MOST}]; int notes;
#define NOTE(place, ...) (noted[notes++] = (const char *)(place))
"""


def prefetched(kernel: Kernel, folder: Path) -> np.ndarray:
    """Lines of the first leaf, by number, in the order in which one thread prefetches them in a run over zeros. Numbers
    outside of the leaf are of other tensors."""
    library = _library(kernel, folder)
    arrays = [aligned_empty(t.shape, "float32") for t in (*kernel.cone.leaves, kernel.cone.root)]
    for a in arrays:
        a[...] = 0
    table = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    row, state = entry(library, 0), ctypes.c_void_p()
    if row.init:
        assert not ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 2)(row.init)(ctypes.byref(state), table)
    ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(row.run)(state, table, arrays[-1].ctypes.data, None)
    count = ctypes.c_int.in_dll(library, "notes").value
    assert count < MOST and not kernel.workspace
    noted = np.array((ctypes.c_void_p * count).in_dll(library, "noted")[:], np.uint64).astype(np.int64)
    return (noted - arrays[0].ctypes.data) // LINE


def inside(lines: np.ndarray, kernel: Kernel) -> np.ndarray:
    """Those of the lines that are the first leaf's."""
    return lines[(lines >= 0) & (lines < kernel.cone.leaves[0].nbytes // LINE)]


def _library(kernel: Kernel, folder: Path) -> ctypes.CDLL:
    text = NOTED + compose([kernel.code]).replace("__builtin_prefetch(", "NOTE(")
    find_toolchain().compile_library({"k.c": text}, folder / "k.so")
    return ctypes.CDLL(str(folder / "k.so"))
