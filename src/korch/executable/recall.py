"""Plans and programs of earlier searches: a model that this code has searched on this machine is only opened again."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from korch.backends.table import entries
from korch.errors import Error, words_of
from korch.executable.archive import LinkedProgram
from korch.executable.link import Linked, library_key
from korch.executable.plan import Plan, check
from korch.executable.plan_json import plan_from_json, plan_to_json
from korch.ir.graph import Graph
from korch.options import ENOUGH, Options
from korch.profile.database import Database
from korch.profile.setting import Setting
from korch.system.digest import digest, package_digest

log = logging.getLogger(__name__)


class RecalledPlan(NamedTuple):
    """The plan and the facts of an earlier search, and the digest of the program that was judged then."""

    plan: Plan
    facts: dict[str, Any]
    program: str


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
            database,
            digest("plan", package_digest(), graph.fingerprint, _values(graph), options.numerics, *machine, *backends),
        )

    def plan(self, graph: Graph, options: Options, patience: float) -> RecalledPlan | None:
        """What a search with at least this patience in seconds, or one of all candidates that came to its end, has
        found.

        After a search that was broken off there is nothing: it is gone through again as it went, so that it ends
        where it would have ended; only its measurements are not repeated. `graph` has the constants of all choices.
        There is nothing either where what was kept is damaged.
        """
        text = self.database.plan(self.key)
        try:
            return (text and self._read(json.loads(text), graph, options, patience)) or None
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, Error) as e:
            log.warning("the plan of an earlier search is damaged (%s): the search starts anew", words_of(e))
            return None

    @staticmethod
    def _read(left: dict[str, Any], graph: Graph, options: Options, patience: float) -> RecalledPlan | None:
        ended = left["gap"] == 0.0 and left["facts"]["whole"]
        if left["patience"] < ENOUGH * patience and not ended:
            return None
        constants = {name: graph.constants[name] for name in left["constants"]}
        plan = plan_from_json(left["plan"], constants)
        check(plan)
        return RecalledPlan(replace(plan, options=tuple(options.texts().items())), left["facts"], left["program"])

    def keep(self, plan: Plan, patience: float, facts: Mapping[str, Any], program: str = "") -> None:
        """Remembers a finished search; `program`: the digest of the program that was judged."""
        left = {
            "patience": patience,
            "gap": plan.gap,
            "facts": dict(facts),
            "constants": [t.name for t in plan.constants],
            "plan": plan_to_json(plan),
            "program": program,
        }
        self.database.record_plan(self.key, json.dumps(left))

    def keep_library(self, plan: Plan, linked: LinkedProgram) -> None:
        """Remembers a finished program of native code: it need not be compiled again."""
        if not isinstance(linked, Linked):
            return
        self.database.record_library(library_key(plan, linked.sources), linked.code)

    def library(self, key: str) -> bytes | None:
        """The library of an earlier program, by its `library_key`."""
        return self.database.library(key)


def program_digest(linked: LinkedProgram) -> str:
    """Of the code that runs: a verdict on a program holds for those of equal digest, plan and machine."""
    if isinstance(linked, Linked):
        return hashlib.sha256(linked.code).hexdigest()
    return digest(*(hashlib.sha256(data).hexdigest() for _, data in sorted(linked.members.items())))


def _values(graph: Graph) -> str:
    """Rewriting and checking look at the values of constants too."""
    h = hashlib.blake2b()
    for name in sorted(graph.constants):
        x = graph.constants[name]
        h.update(f"{name} {x.dtype} {x.shape}".encode())
        h.update(x.tobytes())
    return h.hexdigest()
