"""The sample graphs: each file of `rewrite/samples` registers, by decorator, graphs on which a rewrite fires."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from korch.ir.graph import Graph
from korch.rewrite.table import Rewrite

Make = Callable[[Random], Graph]


@dataclass(frozen=True)
class Sample:
    """Makes graphs of random shapes on which `rewrite` must fire. Their weights are small whole numbers, so that
    what a rewrite folds out of them is exact or the rounding of a simple fraction.

    `beyond` says why the finite field cannot tell (empty: it can, and must agree).
    """

    rewrite: Rewrite
    name: str
    make: Make
    beyond: str = ""


_TABLE: dict[tuple[str, str], Sample] = {}


def sample(rewrite: Rewrite, *, beyond: str = "") -> Callable[[Make], Sample]:
    """Enters a maker of graphs into the table."""

    def enter(make: Make) -> Sample:
        made = Sample(rewrite, make.__name__, make, beyond)
        return _TABLE.setdefault((rewrite.name, made.name), made)

    return enter


def all_samples(rewrite: Rewrite | None = None) -> tuple[Sample, ...]:
    """The samples of one rewrite, or of all."""
    package = importlib.import_module("korch.rewrite.samples")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    found = sorted(_TABLE.values(), key=lambda s: (s.rewrite.stage, s.rewrite.name, s.name))
    return tuple(s for s in found if rewrite is None or s.rewrite.name == rewrite.name)
