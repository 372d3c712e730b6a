"""torch.compile with freezing in bfloat16's autocast, as its users switch that on by hand."""

from __future__ import annotations

from korch.report.peers.peer import ModelRun, Peer, Subject
from korch.report.peers.torch import available, compiled_run
from korch.system.processor import cpu_flags

UNITS = {"avx512_bf16", "amx_bf16"}


def _available() -> str | None:
    if reason := available():
        return reason
    return None if UNITS.intersection(cpu_flags()) else "this processor has no units for bfloat16"


def _load(subject: Subject, threads: int) -> ModelRun:
    return compiled_run(subject, threads, narrow=True)


PEER = Peer("torch-bf16", _available, _load, lambda: "bfloat16")
