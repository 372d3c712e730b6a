"""onnxruntime, all optimisations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from korch.report.peers.peer import ModelRun, Peer, Subject, missing
from korch.system.sessions import inference_session


def session_run(subject: Subject, threads: int, *, optimised: bool) -> ModelRun:
    """A run on the CPU provider with `threads` intra-op threads."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimised else levels.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = inference_session()(str(subject.onnx), options, providers=["CPUExecutionProvider"])

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        return [np.asarray(value) for value in session.run(list(subject.outputs), dict(feeds))]

    return run


def _load(subject: Subject, threads: int) -> ModelRun:
    return session_run(subject, threads, optimised=True)


PEER = Peer("onnxruntime", lambda: missing("onnxruntime"), _load)
