"""OpenVINO's CPU plugin as it comes: in bfloat16 where the processor has units for it."""

from __future__ import annotations

import importlib
from typing import Any

from korch.report.peers.openvino import compiled_run
from korch.report.peers.peer import FLOAT32, Peer, missing

NAMES = {"f32": FLOAT32, "bf16": "bfloat16", "f16": "float16"}


def _available() -> str | None:
    if reason := missing("openvino"):
        return reason
    return "computes in float32 on this processor, as openvino does" if _precision() == FLOAT32 else None


def _precision() -> str:
    openvino: Any = importlib.import_module("openvino")
    name: str = openvino.Core().get_property("CPU", "INFERENCE_PRECISION_HINT").get_type_name()
    return NAMES.get(name, name)


PEER = Peer("openvino-default", _available, compiled_run, _precision)
