"""Korch itself: the compiled archive."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from korch.backends.precision import HALVES
from korch.report.peers.peer import FLOAT32, ModelRun, NotOffered, Peer, Subject

_halves = list[str]()
"""The dtypes to which programs that this process has loaded round factors of products."""


def _load(subject: Subject, threads: int) -> ModelRun:
    if subject.korch is None:
        raise NotOffered("no compiled archive was given")
    korch: Any = importlib.import_module("korch")
    executable = korch.load(subject.korch, threads)
    if executable.plan.threads < threads:  # its kernels have no parts for more
        raise NotOffered(f"{subject.korch} was made for {executable.plan.threads} threads, not {threads}")
    used = {s.kernel.variant.precision for s in executable.plan.steps}
    _halves.extend(dtype for precision, dtype in HALVES.items() if precision in used)

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        results = executable.run(dict(feeds))
        return [results[name] for name in subject.outputs]

    return run


PEER = Peer("korch", lambda: None, _load, lambda: _halves[-1] if _halves else FLOAT32)
