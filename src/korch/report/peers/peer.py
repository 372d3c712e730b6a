"""What a runtime has to offer to be compared."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ModelRun = Callable[[Mapping[str, np.ndarray]], list[np.ndarray]]
"""Runs the model once: arrays by input name, to the outputs in the model's order."""


class NotOffered(Exception):
    """This runtime cannot take this model; the text says why. Not an error: the runtime is left out."""


@dataclass(frozen=True)
class Subject:
    """The model in every form there is of it.

    `korch` is the compiled archive; `torch_models` a folder where `NAME.py`, NAME being the stem of the ONNX
    file, defines `build()`, the same model as a torch module in eval mode.
    """

    onnx: Path
    outputs: tuple[str, ...]
    korch: Path | None = None
    torch_models: Path | None = None


FLOAT32 = "float32"


def in_float32() -> str:
    """The precision of a runtime that rounds no further than its models do."""
    return FLOAT32


@dataclass(frozen=True)
class Peer:
    """One runtime. `available` gives the reason why it cannot run here, or None; `load` may raise NotOffered.
    `precision`, asked after `load`: in what it computes where a model has float32."""

    name: str
    available: Callable[[], str | None]
    load: Callable[[Subject, int], ModelRun]
    precision: Callable[[], str] = in_float32


def missing(package: str) -> str | None:
    """The reason why `package` cannot be imported, or None; does not import it."""
    return None if importlib.util.find_spec(package) else f"{package} is not installed"
