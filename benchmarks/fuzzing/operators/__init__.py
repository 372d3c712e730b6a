"""Templates of nodes: each file registers its own by decorator."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from fuzzing.draft import Draft

Write = Callable[[Draft, str], None]
NEWEST = 26


@dataclass(frozen=True)
class Template:
    """Writes a node of the operator `op` of `domain`, and what it needs, into models of the opsets since .. until."""

    op: str
    domain: str
    since: int
    until: int
    write: Write

    def __str__(self) -> str:
        return f"{self.domain}:{self.op}" if self.domain else self.op


_TEMPLATES: list[Template] = []


def template(*ops: str, domain: str = "", since: int = 9, until: int = NEWEST) -> Callable[[Write], Write]:
    """Enters a function as the template of these operators."""

    def enter(write: Write) -> Write:
        _TEMPLATES.extend(Template(op, domain, since, until, write) for op in ops)
        return write

    return enter


def all_templates() -> tuple[Template, ...]:
    """Every template, by name."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return tuple(sorted(_TEMPLATES, key=lambda t: (t.domain, t.op, t.since)))
