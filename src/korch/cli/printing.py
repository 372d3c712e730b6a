"""How results reach stdout: JSON that any parser reads, and tables for people."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import typer

_LINE = 1000
"""Columns of a table where nobody says how wide the page is: enough that no row is folded."""


def print_json(value: Any) -> None:
    """One JSON value; numbers that are not finite become null."""
    typer.echo(json.dumps(finite(value), indent=2, allow_nan=False))


def finite(value: Any) -> Any:
    """`value` with None for every infinity and NaN in it."""
    if isinstance(value, Mapping):
        return {k: finite(v) for k, v in cast("Mapping[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [finite(v) for v in cast("Sequence[Any]", value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], title: str | None = None) -> None:
    """A table; columns whose header starts with `>` are numbers."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(
            column.removeprefix(">"), justify="right" if column.startswith(">") else "left", overflow="fold"
        )
    for row in rows:
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    Console(soft_wrap=False, width=None if sys.stdout.isatty() else _LINE).print(table)


def count(number: int, noun: str) -> str:
    """`1 kernel`, `2 kernels`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
