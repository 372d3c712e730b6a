"""torch.compile with freezing, for models that are given as torch modules too."""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from korch.report.peers.peer import ModelRun, NotOffered, Peer, Subject, missing


def available() -> str | None:
    """Why torch.compile cannot run here, or None."""
    compilers = filter(None, (os.environ.get("CXX"), "g++", "clang++"))
    if not any(map(shutil.which, compilers)):
        return "torch.compile needs a C++ compiler; neither $CXX nor g++ nor clang++ is there"
    return missing("torch")


def _definition(subject: Subject) -> Any:
    """The torch module of the model, from `torch_models`/NAME.py, which may import its neighbours."""
    folder, name = subject.torch_models, subject.onnx.stem
    if folder is None:
        raise NotOffered("no folder of torch definitions was given")
    folder = folder.resolve()
    if not (folder / f"{name}.py").is_file():
        raise NotOffered(f"{folder} has no {name}.py that defines the model in torch")
    sys.path.insert(0, str(folder.parent))
    return importlib.import_module(f"{folder.name}.{name}").build()


def compiled_run(subject: Subject, threads: int, *, narrow: bool) -> ModelRun:
    """A run of the model as torch.compile makes it, `narrow`: in bfloat16's autocast."""
    torch: Any = importlib.import_module("torch")
    inductor: Any = importlib.import_module("torch._inductor.config")
    torch.set_num_threads(threads)
    inductor.freezing = True
    compiled = torch.compile(_definition(subject))

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=narrow):
            results = compiled(*map(torch.from_numpy, feeds.values()))
        return [_array(torch, r) for r in ((results,) if isinstance(results, torch.Tensor) else results)]

    return run


def _array(torch: Any, result: Any) -> np.ndarray:
    """A result, of which numpy has no bfloat16."""
    return (result.float() if result.dtype == torch.bfloat16 else result).numpy()


def _load(subject: Subject, threads: int) -> ModelRun:
    return compiled_run(subject, threads, narrow=False)


PEER = Peer("torch", available, _load)
