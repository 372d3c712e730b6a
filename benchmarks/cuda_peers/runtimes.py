"""The runtimes that are compared on a GPU, each in every precision and layout that its users would choose.

Each `load` gives a `Loaded`: inputs and outputs stay on the device, `run` starts one inference, `wait` ends it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

Feeds = Mapping[str, np.ndarray]
PRECISIONS, LAYOUTS = ("tf32", "fp16", "float32"), ("planar", "channels-last")
COMPILED = ("torch.compile", "xla")
"""Peers that compile when they load."""


@dataclass(frozen=True)
class Loaded:
    """A model with its inputs on the device."""

    run: Callable[[], Any]
    wait: Callable[[], Any]
    outputs: Callable[[], list[np.ndarray]]


Load = Callable[[Path, Path, Feeds], Loaded]


def korch(model: Path, archive: Path, feeds: Feeds) -> Loaded:
    """The archive that `tune` made."""
    import torch  # pyright: ignore[reportMissingImports]

    from korch.executable import load

    executable: Any = load(archive)
    executable.run(feeds)
    names = [port.name for port in executable.outputs]
    return Loaded(executable.replay, torch.cuda.synchronize, lambda: [executable.run(feeds)[n] for n in names])


def torch_eager(model: Path, archive: Path, feeds: Feeds, precision: str, layout: str) -> Loaded:
    """Torch as it is written, replayed as one CUDA graph."""
    return _captured(_module(model, precision, layout), feeds, precision, layout)


def torch_compile(model: Path, archive: Path, feeds: Feeds, precision: str, layout: str) -> Loaded:
    """`torch.compile(mode="max-autotune")`, frozen, its kernels replayed as one CUDA graph."""
    import torch  # pyright: ignore[reportMissingImports]

    importlib.import_module("torch._inductor.config").freezing = True
    compiled = torch.compile(_module(model, precision, layout), mode="max-autotune-no-cudagraphs")
    return _captured(compiled, feeds, precision, layout)


def xla(model: Path, archive: Path, feeds: Feeds, precision: str) -> Loaded:
    """The model's primitives through jax.jit; XLA makes command buffers, its CUDA graphs, and chooses the layouts of
    convolutions by itself."""
    import jax

    from cuda_peers.jax_program import program
    from korch.fission import fission
    from korch.fission.importer import read

    jax.config.update("jax_default_matmul_precision", "tensorfloat32" if precision == "tf32" else "highest")
    dtype = np.float16 if precision == "fp16" else np.float32
    compiled = jax.jit(program(fission(read(model, {})), dtype))
    placed = {n: jax.device_put(x.astype(dtype) if x.dtype == np.float32 else x) for n, x in feeds.items()}
    last: list[Any] = [compiled(placed)]

    def run() -> None:
        last[0] = compiled(placed)

    return Loaded(run, lambda: jax.block_until_ready(last[0]), lambda: [_float32(y) for y in compiled(placed)])


def _module(model: Path, precision: str, layout: str) -> Any:
    """The torch module of a workload, on the device."""
    import torch  # pyright: ignore[reportMissingImports]

    from models import workloads

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    module = workloads()[model.stem].build().cuda()
    module = module.half() if precision == "fp16" else module
    return module.to(memory_format=torch.channels_last) if layout == "channels-last" else module


def _captured(module: Any, feeds: Feeds, precision: str, layout: str) -> Loaded:
    """`module` on the feeds as one CUDA graph, after runs on a stream of its own that warm it up."""
    import torch  # pyright: ignore[reportMissingImports]

    inputs = [torch.from_numpy(x).cuda() for x in feeds.values()]
    inputs = [x.half() if precision == "fp16" and x.is_floating_point() else x for x in inputs]
    if layout == "channels-last":
        inputs = [x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x for x in inputs]
    graph, side = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.inference_mode():
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                module(*inputs)
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph):
            results = module(*inputs)
    results = results if isinstance(results, tuple) else (results,)

    def outputs() -> list[np.ndarray]:
        graph.replay()
        return [_float32(y.cpu().numpy()) for y in results]

    return Loaded(graph.replay, torch.cuda.synchronize, outputs)


def _float32(y: Any) -> np.ndarray:
    """Outputs of every precision have the model's dtype."""
    found = np.asarray(y)
    return found.astype(np.float32) if found.dtype == np.float16 else found


def _table() -> dict[str, Load]:
    found: dict[str, Load] = {"korch": korch}
    for precision in PRECISIONS:
        for layout in LAYOUTS:
            found[f"torch {precision} {layout}"] = partial(torch_eager, precision=precision, layout=layout)
            found[f"torch.compile {precision} {layout}"] = partial(torch_compile, precision=precision, layout=layout)
        found[f"xla {precision}"] = partial(xla, precision=precision)
    return found


RUNTIMES = _table()


def peers(*precisions: str) -> dict[str, list[str]]:
    """The command of each peer in these precisions; `cuda_peers` must be importable there."""
    names = [name for name in RUNTIMES if any(p in name.split() for p in precisions)]
    return {name: [sys.executable, "-m", "cuda_peers.serving", name] for name in names}
