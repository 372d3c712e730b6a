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


def _available() -> str | None:
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


def _load(subject: Subject, threads: int) -> ModelRun:
    torch: Any = importlib.import_module("torch")
    inductor: Any = importlib.import_module("torch._inductor.config")
    torch.set_num_threads(threads)
    inductor.freezing = True
    compiled = torch.compile(_definition(subject))

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        with torch.inference_mode():
            results = compiled(*map(torch.from_numpy, feeds.values()))
        return [result.numpy() for result in (results if isinstance(results, tuple) else (results,))]

    return run


PEER = Peer("torch", _available, _load)
