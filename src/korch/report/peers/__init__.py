"""The runtimes that `korch bench` knows, one a file: each a `Peer` value named `PEER`.

In: a `Subject` (the model's files) and a number of threads. Out: a function that runs it. Start with `peer.py`.
"""

from __future__ import annotations

import importlib
import pkgutil

from korch.report.peers.peer import FLOAT32, ModelRun, NotOffered, Peer, Subject

__all__ = ["FLOAT32", "ModelRun", "NotOffered", "Peer", "Subject", "known_peers"]


def known_peers() -> dict[str, Peer]:
    """Every peer of this folder by its name. Imports none of the runtimes."""
    modules = (importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__))
    found = (getattr(module, "PEER", None) for module in modules)
    return {peer.name: peer for peer in found if isinstance(peer, Peer)}
