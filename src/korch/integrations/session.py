"""onnxruntime's `InferenceSession`, run by Korch."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from korch.errors import CacheError, InputError, line_of
from korch.executable import Executable
from korch.integrations.archives import Source, keep, place_of, recall
from korch.options import PATIENCE, Options
from korch.profile import Database
from korch.system.locks import locked

log = logging.getLogger(__name__)

LONGEST, BESIDES = 2.0, 120.0
"""How many times its budget another process may take for the same program, and how many seconds besides, in which it
gets to know the machine and ends what has begun, before one goes on without it."""
_ONNX_NAMES = {"float32": "float", "float64": "double"}


@dataclass(frozen=True)
class NodeArg:
    """An input or output as onnxruntime describes it: `type` is like `tensor(float)`."""

    name: str
    shape: list[int]
    type: str


class InferenceSession:
    """Optimises the model when it is made, or finds the program that it made before.

    `threads` is taken from `sess_options.intra_op_num_threads` where it is not given; `providers` and further
    arguments of onnxruntime's are accepted and mean nothing here. With `cache` the program is kept in Korch's cache
    folder, and the next session for the same model and options starts at once; without it nothing is kept, neither the
    program nor what kernels were measured to cost. Runs of one session take turns: who
    wants several at a time makes a session for each.
    """

    def __init__(
        self,
        path_or_bytes: Source,
        sess_options: Any = None,
        providers: Sequence[Any] | None = None,
        provider_options: Sequence[Any] | None = None,
        *,
        threads: int | None = None,
        time_budget: float | None = None,
        numerics: str = "default",
        shapes: Mapping[str, Sequence[int]] | None = None,
        cache: bool = True,
        **kwargs: Any,
    ) -> None:
        wanted = int(getattr(sess_options, "intra_op_num_threads", 0)) if threads is None else threads
        self.executable = _program(path_or_bytes, Options(wanted, time_budget, numerics, dict(shapes or {})), cache)

    def run(
        self, output_names: Sequence[str] | None, input_feed: Mapping[str, np.ndarray], run_options: Any = None
    ) -> list[np.ndarray]:
        """The outputs named, in that order; all of them where none is named. InputError names what does not fit."""
        known = [port.name for port in self.executable.outputs]
        names = output_names or known
        if unknown := [name for name in names if name not in known]:
            raise InputError(f"the model has no output {unknown[0]!r}; it has {', '.join(known)}")
        results = self.executable.run({name: self._array(name, x) for name, x in input_feed.items()})
        return [results[name] for name in names]

    def _array(self, name: str, x: Any) -> Any:
        """Numbers and lists of them as an array of the input's type, as onnxruntime takes them."""
        if not isinstance(x, list | tuple | int | float):
            return x
        port = next((port for port in self.executable.inputs if port.name == name), None)
        if port is None:
            return x
        try:
            return np.asarray(x, port.dtype)
        except (ValueError, TypeError, OverflowError) as e:
            raise InputError(f"input {name!r} is no array of {port.dtype}: {line_of(e)}") from None

    def get_inputs(self) -> list[NodeArg]:
        """Name, shape and type of each input."""
        return [_described(port) for port in self.executable.inputs]

    def get_outputs(self) -> list[NodeArg]:
        """Name, shape and type of each output."""
        return [_described(port) for port in self.executable.outputs]

    def get_providers(self) -> list[str]:
        """What runs the model."""
        return ["KorchExecutionProvider"]


def _program(model: Source, options: Options, cache: bool) -> Executable:
    """The program that was kept, or a new one; of several processes that want it, one makes it."""
    place = _place(model, options) if cache else None
    if place and (kept := recall(place)):
        return kept
    if place is None or not _can_keep(place):  # nor are measurements
        with TemporaryDirectory(prefix="korch-cache-") as folder:
            return _searched(model, options, Path(folder))
    with locked(_lock(place), patience=LONGEST * (options.time_budget or PATIENCE) + BESIDES):
        if kept := recall(place):
            return kept
        executable = _searched(model, options)
        keep(executable, place)
        return executable


def _place(model: Source, options: Options) -> Path | None:
    """Where the program is kept, if there is a cache."""
    try:
        return place_of(model, options)
    except CacheError as e:
        log.warning("%s; nothing is kept", e)
        return None


def _can_keep(place: Path) -> bool:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        _lock(place).open("a").close()
        Database().close()
        return True
    except (CacheError, OSError) as e:
        log.warning("%s; nothing is kept", e)
        return False


def _lock(place: Path) -> Path:
    """What whoever makes the program holds."""
    return place.with_suffix(".lock")


def _searched(model: Source, options: Options, folder: Path | None = None) -> Executable:
    from korch.optimize import optimized

    log.info("optimising the model for about %g s", options.time_budget or PATIENCE)
    return optimized(model, options, lambda state: None, folder)[0]


def _described(port: Any) -> NodeArg:
    return NodeArg(port.name, list(port.shape), f"tensor({_ONNX_NAMES.get(port.dtype, port.dtype)})")
