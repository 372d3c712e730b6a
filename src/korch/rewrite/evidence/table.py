"""The sample graphs: each file of `rewrite/samples` registers, by decorator, graphs on which a rewrite fires."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from korch.ir.graph import Graph
from korch.rewrite.rule import Rule
from korch.rewrite.saturate import all_algebra
from korch.rewrite.table import Rewrite, all_rewrites

GraphMaker = Callable[[Random], Graph]
Transformation = Rewrite | Rule
"""What samples are for: a rewrite, or a single algebraic rule."""


@dataclass(frozen=True)
class Sample:
    """Makes graphs of random shapes on which `subject` must fire. Their weights are small whole numbers, so that
    what a rewrite folds out of them is exact or the rounding of a simple fraction.

    `beyond` says why the finite field cannot tell (empty: it can, and must agree).
    """

    subject: Transformation
    name: str
    make: GraphMaker
    beyond: str = ""


_TABLE: dict[tuple[str, str], Sample] = {}


def sample(*subjects: Transformation, beyond: str = "") -> Callable[[GraphMaker], GraphMaker]:
    """Enters a maker of graphs into the table, for every one of `subjects`."""

    def enter(make: GraphMaker) -> GraphMaker:
        for subject in subjects:
            _TABLE[subject.name, make.__name__] = Sample(subject, make.__name__, make, beyond)
        return make

    return enter


def all_samples(subject: Transformation | None = None) -> tuple[Sample, ...]:
    """The samples of one subject, or of all."""
    package = importlib.import_module("korch.rewrite.samples")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    found = sorted(_TABLE.values(), key=lambda s: (s.subject.name, s.name))
    return tuple(s for s in found if subject is None or s.subject.name == subject.name)


def all_subjects() -> tuple[Transformation, ...]:
    """All rewrites and all algebraic rules."""
    return (*all_rewrites(), *all_algebra())
