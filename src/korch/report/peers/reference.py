"""onnxruntime without optimisations: what every other runtime's outputs are compared with. Not meant to be timed."""

from __future__ import annotations

from korch.report.peers.onnxruntime import session_run
from korch.report.peers.peer import ModelRun, Peer, Subject, missing


def _load(subject: Subject, threads: int) -> ModelRun:
    return session_run(subject, threads, optimised=False)


PEER = Peer("reference", lambda: missing("onnxruntime"), _load)
