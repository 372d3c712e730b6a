"""Korch itself: the compiled archive."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from korch.report.peers.peer import ModelRun, NotOffered, Peer, Subject


def _load(subject: Subject, threads: int) -> ModelRun:
    if subject.korch is None:
        raise NotOffered("no compiled archive was given")
    korch: Any = importlib.import_module("korch")
    executable = korch.load(subject.korch, threads)
    if executable.plan.threads < threads:  # its kernels have no parts for more
        raise NotOffered(f"{subject.korch} was made for {executable.plan.threads} threads, not {threads}")

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        results = executable.run(dict(feeds))
        return [results[name] for name in subject.outputs]

    return run


PEER = Peer("korch", lambda: None, _load)
