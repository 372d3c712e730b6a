"""The runtimes that are compared on a GPU. TF32 is on in all of them.

Each `load` gives a `Loaded`: inputs and outputs stay on the device, `run` starts one inference, `wait` ends it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Feeds = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Loaded:
    """A model with its inputs on the device."""

    run: Callable[[], Any]
    wait: Callable[[], Any]
    outputs: Callable[[], list[np.ndarray]]


def korch(model: Path, archive: Path, feeds: Feeds) -> Loaded:
    """The archive that `tune` made."""
    import torch  # pyright: ignore[reportMissingImports]

    from korch.executable import load

    executable: Any = load(archive)
    executable.run(feeds)
    names = [port.name for port in executable.outputs]
    return Loaded(executable.replay, torch.cuda.synchronize, lambda: [executable.run(feeds)[n] for n in names])


def torch_eager(model: Path, archive: Path, feeds: Feeds) -> Loaded:
    """Torch as it is written, replayed as one CUDA graph."""
    return _captured(_module(model), feeds)


def torch_compile(model: Path, archive: Path, feeds: Feeds) -> Loaded:
    """`torch.compile(mode="max-autotune")`, frozen, its kernels replayed as one CUDA graph."""
    import torch  # pyright: ignore[reportMissingImports]

    importlib.import_module("torch._inductor.config").freezing = True
    return _captured(torch.compile(_module(model), mode="max-autotune-no-cudagraphs"), feeds)


def xla(model: Path, archive: Path, feeds: Feeds) -> Loaded:
    """The model's primitives through jax.jit; XLA makes command buffers, its CUDA graphs, by itself."""
    import jax

    from cuda_peers.jax_program import program
    from korch.fission import fission
    from korch.fission.importer import read

    jax.config.update("jax_default_matmul_precision", "tensorfloat32")
    compiled = jax.jit(program(fission(read(model, {}))))
    placed = {n: jax.device_put(x) for n, x in feeds.items()}
    last: list[Any] = [compiled(placed)]

    def run() -> None:
        last[0] = compiled(placed)

    return Loaded(run, lambda: jax.block_until_ready(last[0]), lambda: [np.asarray(y) for y in compiled(placed)])


def _module(model: Path) -> Any:
    """The torch module of a workload, on the device."""
    import torch  # pyright: ignore[reportMissingImports]

    from models import workloads

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True
    return workloads()[model.stem].build().cuda()


def _captured(module: Any, feeds: Feeds) -> Loaded:
    """`module` on the feeds as one CUDA graph, after runs on a stream of its own that warm it up."""
    import torch  # pyright: ignore[reportMissingImports]

    inputs = [torch.from_numpy(x).cuda() for x in feeds.values()]
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
        return [y.cpu().numpy() for y in results]

    return Loaded(graph.replay, torch.cuda.synchronize, outputs)


RUNTIMES = {"korch": korch, "torch": torch_eager, "torch.compile": torch_compile, "xla": xla}
