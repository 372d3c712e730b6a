"""OpenVINO's CPU plugin, tuned for latency, arithmetic kept in float32."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from korch.report.peers.peer import ModelRun, Peer, Subject, missing


def compiled_run(subject: Subject, threads: int, **more: str) -> ModelRun:
    """A run of the model as OpenVINO compiles it for latency, with `more` settings."""
    openvino: Any = importlib.import_module("openvino")
    settings = {"PERFORMANCE_HINT": "LATENCY", "INFERENCE_NUM_THREADS": threads, **more}
    compiled = openvino.Core().compile_model(str(subject.onnx), "CPU", settings)
    request = compiled.create_infer_request()

    def run(feeds: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        results = request.infer(dict(feeds), share_inputs=True, share_outputs=True)
        return [results[index] for index in range(len(compiled.outputs))]

    return run


def _load(subject: Subject, threads: int) -> ModelRun:
    return compiled_run(subject, threads, INFERENCE_PRECISION_HINT="f32")


PEER = Peer("openvino", lambda: missing("openvino"), _load)
