"""The table of fission rules: every rule value that a file of this folder defines."""

from __future__ import annotations

import pkgutil
from collections import defaultdict
from functools import lru_cache
from importlib import import_module

import korch.fission as room
from korch.fission.rule import FissionRule
from korch.ir.opsets import own_domain


def all_rules() -> tuple[FissionRule, ...]:
    """Every rule, in the order of files and lines."""
    found: dict[int, FissionRule] = {}
    for module in pkgutil.iter_modules(room.__path__):
        values = vars(import_module(f"{room.__name__}.{module.name}")).values()
        found.update((id(v), v) for v in values if isinstance(v, FissionRule))
    return tuple(found.values())


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, str], dict[int, FissionRule]]:
    table: dict[tuple[str, str], dict[int, FissionRule]] = defaultdict(dict)
    for rule in all_rules():
        for op in rule.ops:
            versions = table[rule.domain, op]
            if rule.since in versions:
                raise ValueError(f"two fission rules for {op} since opset {rule.since}")
            versions[rule.since] = rule
    return table


def rule_for(op: str, domain: str, opset: int) -> FissionRule | None:
    """The newest rule for `op` that is not newer than the model's `opset`; None where there is none."""
    versions = _table().get((own_domain(domain), op), {})
    since = max((s for s in versions if s <= opset), default=None)
    return None if since is None else versions[since]
