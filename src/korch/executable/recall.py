"""Plans and programs of earlier searches: a model that this code has searched on this machine is only opened again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import korch
from korch.backends.table import entries
from korch.executable.archive import LinkedProgram
from korch.executable.link import Linked, library_key
from korch.executable.plan import Plan
from korch.executable.plan_json import plan_from_json, plan_to_json
from korch.ir.graph import Graph
from korch.options import ENOUGH, Options
from korch.profile.database import Database
from korch.profile.setting import Setting
from korch.system.digest import digest


@dataclass(frozen=True)
class Recall:
    """Where the database keeps the plan for one model, one way of asking and one state of this machine and code."""

    database: Database
    key: str

    @staticmethod
    def of(graph: Graph, options: Options, setting: Setting, database: Database) -> Recall:
        """For `graph` before choices were added, and the values of its constants."""
        backends = [f"{e.name} {e.version}" for e in entries()]
        machine = (setting.compiler, setting.processor, setting.threads)
        return Recall(
            database, digest("plan", _code(), graph.fingerprint, _values(graph), options.numerics, *machine, *backends)
        )

    def plan(self, graph: Graph, options: Options, patience: float) -> tuple[Plan, dict[str, Any]] | None:
        """What a search with at least this patience in seconds, or one of all candidates that came to its end, has
        found, and its facts.

        After a search that was broken off there is nothing: it is gone through again as it went, so that it ends
        where it would have ended; only its measurements are not repeated. `graph` has the constants of all choices.
        """
        text = self.database.plan(self.key)
        left: dict[str, Any] = json.loads(text) if text else {}
        ended = left and left["gap"] == 0.0 and left["facts"]["whole"]
        if not left or (left["patience"] < ENOUGH * patience and not ended):
            return None
        constants = {name: graph.constants[name] for name in left["constants"]}
        plan = plan_from_json(left["plan"], constants)
        return replace(plan, options=tuple(options.texts().items())), left["facts"]

    def keep(self, plan: Plan, patience: float, facts: Mapping[str, Any]) -> None:
        """Remembers a finished search."""
        left = {
            "patience": patience,
            "gap": plan.gap,
            "facts": dict(facts),
            "constants": [t.name for t in plan.constants],
            "plan": plan_to_json(plan),
        }
        self.database.record_plan(self.key, json.dumps(left))

    def keep_library(self, plan: Plan, linked: LinkedProgram) -> None:
        """Remembers a finished program of native code: it need not be compiled again."""
        if not isinstance(linked, Linked):
            return
        self.database.record_library(library_key(plan, linked.sources), linked.library.read_bytes())

    def library(self, key: str) -> bytes | None:
        """The library of an earlier program, by its `library_key`."""
        return self.database.library(key)


@cache
def _code() -> str:
    """A digest of this package: another version may find other plans."""
    files = sorted(f for f in Path(korch.__file__).parent.rglob("*") if f.suffix in (".py", ".h", ".c"))
    return digest(*(hashlib.sha256(f.read_bytes()).hexdigest() for f in files))


def _values(graph: Graph) -> str:
    """Rewriting and checking look at the values of constants too."""
    h = hashlib.blake2b()
    for name in sorted(graph.constants):
        x = graph.constants[name]
        h.update(f"{name} {x.dtype} {x.shape}".encode())
        h.update(x.tobytes())
    return h.hexdigest()
