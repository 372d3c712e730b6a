"""What a long search is doing: a bar on a terminal, a few plain lines elsewhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from korch.search.tuning import Report, SearchState

log = logging.getLogger(__name__)
LINE_EVERY = 10.0
"""Seconds between plain lines about the same phase."""


@contextmanager
def progress(quiet: bool = False) -> Generator[Report]:
    """Something to report states to. On a terminal a bar; else plain lines, or with `quiet` nothing."""
    if sys.stderr.isatty():
        yield from _bar()
    elif quiet:
        yield lambda state: None
    else:
        yield _Lines(_say)


def standing(state: SearchState) -> str:
    """`best 1.234 ms, gap 2.0%`, as far as it is known."""
    parts: list[str] = []
    if isfinite(state.incumbent):
        parts.append(f"best {state.incumbent * 1e3:.3f} ms")
        if state.bound:
            parts.append(f"gap {max(0.0, 1 - state.bound / state.incumbent):.1%}")
    elif state.bound:
        parts.append(f"at least {state.bound * 1e3:.3f} ms")
    return ", ".join(parts)


def line(state: SearchState) -> str:
    """One state as text."""
    counts = f" {state.done} of {state.total} kernels" if state.total and state.phase == "measuring" else ""
    round_ = f"round {state.rounds}: " if state.rounds else ""
    return ", ".join(filter(None, (f"{round_}{state.phase}{counts}", standing(state))))


def _say(text: str) -> None:
    """Through logging, shown even where only warnings are."""
    if not log.isEnabledFor(logging.INFO):
        log.setLevel(logging.INFO)
    log.info(text)


@dataclass
class _Lines:
    """Says a line when something new starts, and from time to time."""

    say: Callable[[str], None]
    said: tuple[str, int] = ("", -1)
    at: float = field(default=-inf)

    def __call__(self, state: SearchState) -> None:
        new = (state.phase, state.rounds)
        now = time.monotonic()
        first = state.phase != self.said[0] and not state.rounds
        if new != self.said and (first or now - self.at > LINE_EVERY):
            self.say(line(state))
            self.said, self.at = new, now


def _bar() -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[standing]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None, standing="")

        def report(state: SearchState) -> None:
            name = f"round {state.rounds} {state.phase}" if state.rounds else state.phase
            bar.update(
                task, description=name, completed=state.done, total=state.total or None, standing=standing(state)
            )

        yield report
