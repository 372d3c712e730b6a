"""Every rewrite there is: each file of this folder registers its own by decorator."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass

from korch.ir.graph import Graph
from korch.ir.primitive import APPROXIMATE, EXACT

RewriteFunction = Callable[..., Graph]


@dataclass(frozen=True)
class Welcome:
    """What may be added: choices that only approximate, and such as hold only on values that nobody has proved."""

    approximate: bool = True
    unproved: bool = True

    def takes(self, error: str, proved: bool = True) -> bool:
        return (self.approximate or error != APPROXIMATE) and (self.unproved or proved)


EVERYTHING = Welcome()


@dataclass(frozen=True)
class Rewrite:
    """Adds producers to a graph. `stage` orders rewrites: later ones see what earlier ones added.

    `error` is the worst class among the producers it adds, where those it reads are exact. `laws` are those it
    applies, as `korch rules discover` writes them: `A @ B + A @ C = A @ (B + C)`.
    """

    name: str
    stage: int
    fn: RewriteFunction
    error: str = EXACT
    laws: tuple[str, ...] = ()
    selects: bool = False
    """Whether `fn` takes a Welcome and leaves out by itself what is not; others are left out as a whole."""

    def __call__(self, graph: Graph, welcome: Welcome = EVERYTHING) -> Graph:
        if self.selects:
            return self.fn(graph, welcome)
        return self.fn(graph) if welcome.takes(self.error) else graph


_TABLE: dict[str, Rewrite] = {}


def rewrite(
    stage: int, *, error: str = EXACT, laws: tuple[str, ...] = (), selects: bool = False
) -> Callable[[RewriteFunction], Rewrite]:
    """Enters a function from graph to graph into the table."""

    def enter(fn: RewriteFunction) -> Rewrite:
        _TABLE[fn.__name__] = Rewrite(fn.__name__, stage, fn, error, laws, selects)
        return _TABLE[fn.__name__]

    return enter


def all_rewrites() -> tuple[Rewrite, ...]:
    """All rewrites in the order in which they apply."""
    package = importlib.import_module(__package__ or "korch.rewrite")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return tuple(sorted(_TABLE.values(), key=lambda r: (r.stage, r.name)))


def add_choices(graph: Graph, approximate: bool = True, unproved: bool = False) -> Graph:
    """`graph` with every producer that the rewrites know; those that only approximate, and those that need values to
    be within ordinary ranges without a proof that they are, where they are welcome."""
    for step in all_rewrites():
        graph = step(graph, Welcome(approximate, unproved))
    return graph
