"""Builds one oneDNN kernel into a library of its own and runs it: what the tests of the backend stand on."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import korch.backends.cpu
from korch.backends.contract import Kernel
from korch.backends.cpu.c.printing import printed
from korch.backends.cpu.onednn.install import find
from korch.ir import Cone, Value

HERE = Path(korch.backends.cpu.__path__[0])
UNIMPLEMENTED, LAST_IMPLEMENTATION, REFERENCE = 3, 4, 64
GUARD = 64
"""Floats behind every output that a kernel must leave alone."""


def cone_of(value: Value) -> Cone:
    return Cone.of(value.builder.graph([("y", value)]).primitives)


def random_leaves(cone: Cone, constants: dict[str, np.ndarray], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [constants[t.name] if t.const else rng.uniform(-2, 2, t.shape).astype(t.dtype) for t in cone.leaves]


def run_kernel(kernel: Kernel, leaves: Sequence[np.ndarray], folder: Path, runs: int = 2) -> np.ndarray | None:
    """The output of the last of `runs` runs, full of NaN before each; None where oneDNN has no fast implementation."""
    library = _compile(kernel, folder)
    inputs = [_aligned(x) for x in leaves]
    state = ctypes.c_void_p()
    constants = _pointers(x if t.const else None for t, x in zip(kernel.cone.leaves, inputs, strict=True))
    status = library.init(ctypes.byref(state), constants)
    assert status in (0, UNIMPLEMENTED, LAST_IMPLEMENTATION, REFERENCE), f"status {status}"
    if status:
        return None
    other = ctypes.c_void_p()  # shares packed weights with the first, which must outlive it
    assert library.init(ctypes.byref(other), constants) == 0
    library.free(other)
    size = kernel.cone.root.size
    for _ in range(runs):
        out = _aligned(np.full(size + GUARD, np.nan, np.float32))
        library.run(state, _pointers(inputs), ctypes.c_void_p(out.ctypes.data), None)
        assert np.isnan(out[size:]).all(), "wrote behind its output"
    library.free(state)
    return out[:size].reshape(kernel.cone.root.shape)


def tolerance(cone: Cone, expected: np.ndarray) -> float:
    """Float32 rounding of a sum of K products, each at most the largest output; post-ops a few units more."""
    w = cone.linear[0].inputs[1]
    length = w.shape[-2] if cone.linear[0].op == "MatMul" else w.size // min(w.shape[:2])
    return float(np.finfo(np.float32).eps * (length + 32) * max(1.0, np.abs(expected).max()))


def _compile(kernel: Kernel, folder: Path) -> ctypes.CDLL:
    """A library under a name of its own: the loader returns what it has already loaded under a name."""
    number = len(list(folder.iterdir()))
    source, library = folder / f"kernel{number}.c", folder / f"kernel{number}.so"
    entry = (
        "int init(void **s, const void *const *in) { return K_init(s, in); }\n"
        "void run(void *s, const void *const *in, void *o, void *w) { K_run(s, in, o, w); }\n"
        "void free_state(void *s) { K_free(s); }\n"
    )
    assert kernel.code
    body = printed(kernel.code, "K_")
    flag = "_Thread_local int korch_failure = 0;"
    source.write_text(f'#include "korch_rt.h"\n{flag}\n#include "korch_dnnl.h"\n{body}\n{entry}')
    install = find()
    flags = ["-O1", "-std=gnu11", "-fopenmp", "-shared", "-fPIC", "-Wall", "-Werror", "-Wno-unused-function"]
    headers = [f"-I{folder}" for folder in (HERE / "runtime", HERE / "onednn", install.include)]
    code = [str(install.library), f"-Wl,-rpath,{install.library.parent}"]
    command = ["gcc", *flags, *headers, str(source), "-o", str(library), *code]
    subprocess.run(command, check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.free = loaded.free_state
    return loaded


def _aligned(x: np.ndarray) -> np.ndarray:
    raw = np.empty(x.nbytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    y = raw[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    y[...] = x
    return y


def _pointers(arrays) -> ctypes.Array:
    values = [None if x is None else x.ctypes.data for x in arrays]
    return (ctypes.c_void_p * max(len(values), 1))(*values)
