"""onnxruntime, all optimisations."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

import numpy as np

from korch.report.peers.peer import ModelRun, Peer, Subject, missing
from korch.system.sessions import ERRORS, inference_session, session_options


def session_run(subject: Subject, threads: int, *, optimised: bool) -> ModelRun:
    """A run on the CPU provider with `threads` intra-op threads."""
    options = session_options(threads, ERRORS)
    levels = import_module("onnxruntime").GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    session = inference_session()(str(subject.onnx), options, providers=["CPUExecutionProvider"])

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        return [np.asarray(value) for value in session.run(list(subject.outputs), dict(feeds))]

    return run


def _load(subject: Subject, threads: int) -> ModelRun:
    return session_run(subject, threads, optimised=True)


PEER = Peer("onnxruntime", lambda: missing("onnxruntime"), _load)
