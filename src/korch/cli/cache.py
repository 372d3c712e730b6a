"""`korch cache`: what is kept between runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from korch.cli.arguments import JsonOption
from korch.cli.files import writable
from korch.cli.printing import count, print_json
from korch.errors import Error
from korch.limits import size_text


class Action(StrEnum):
    SHOW = "show"
    FAILURES = "failures"
    PATH = "path"
    CLEAR = "clear"
    EXPORT = "export"
    IMPORT = "import"
    PRUNE = "prune"


def cache(
    action: Annotated[Action, typer.Argument()] = Action.SHOW,
    file: Annotated[Path | None, typer.Argument(help="To export to, or to import.")] = None,
    limit: Annotated[str | None, typer.Option(help="For prune: 500MB, 2GB; else $KORCH_CACHE_LIMIT.")] = None,
    json: JsonOption = False,
) -> None:
    """Show, locate, prune or clear what is kept between runs, or list the kernels that failed and why; take
    measurements and plans to another machine of the kind."""
    from korch.system.folders import default_folder

    folder = default_folder()
    if (file is None) == (action in (Action.EXPORT, Action.IMPORT)):
        raise Error(f"korch cache {action.value} takes {'a file' if file is None else 'no file'}")
    if limit and action is not Action.PRUNE:
        raise Error(f"korch cache {action.value} takes no --limit")
    if file:
        rows = _carried(folder, action, file)
        print_json({"file": str(file), "rows": rows}) if json else typer.echo(f"{file}: {count(rows, 'row')}")
    elif action is Action.PATH:
        print_json({"path": str(folder)}) if json else typer.echo(str(folder))
    elif action is Action.CLEAR:
        removed = _clear(folder)
        print_json({"path": str(folder), "removed": removed}) if json else typer.echo(
            f"removed {count(removed, 'file')}"
        )
    elif action is Action.PRUNE:
        left = _prune(folder, limit)
        print_json({"path": str(folder), "bytes": left}) if json else typer.echo(f"{size_text(left)} are left")
    elif action is Action.FAILURES:
        failures = _failures(folder)
        print_json({"failures": failures}) if json else typer.echo(_listed(failures))
    else:
        facts = _facts(folder)
        print_json(facts) if json else typer.echo(_text(facts))


def _carried(folder: Path, action: Action, file: Path) -> int:
    """How many rows went to the file, or came from it and were not known."""
    from korch.profile import Database

    with Database(folder) as database:
        if action is Action.EXPORT:
            return database.export(writable(file))
        if not file.is_file():
            raise Error(f"cannot read {file}: there is no such file")
        return database.take_in(file)


def _clear(folder: Path) -> int:
    from korch.profile import clear
    from korch.session.archives import clear_archives

    return clear(folder) + clear_archives(folder)


def _prune(folder: Path, text: str | None) -> int:
    """The bytes that are left; pruning makes no files."""
    from korch.profile import Database, retention
    from korch.profile.database import database_file

    most = retention.bytes_of(text) if text else retention.limit()
    if database_file(folder).is_file():
        with Database(folder) as database:
            retention.trim(database, most, spared=0.0)
    return retention.folder_bytes(folder)


def _failures(folder: Path) -> list[dict[str, str]]:
    """The kernels that failed, by backend, variant and key of the cone; asking makes no files."""
    from korch.profile import Database
    from korch.profile.database import database_file

    if not database_file(folder).is_file():
        return []
    with Database(folder) as database:
        return [{"kernel": label, "reason": reason} for label, reason in database.failures()]


def _listed(failures: list[dict[str, str]]) -> str:
    """Kernels by reason, what stopped most of them first."""
    by_reason: dict[str, list[str]] = {}
    for failure in failures:
        by_reason.setdefault(failure["reason"], []).append(failure["kernel"])
    most_first = sorted(by_reason.items(), key=lambda item: -len(item[1]))
    lines = [
        line for reason, kernels in most_first for line in (f"{len(kernels):>5}  {reason}", f"       {kernels[0]}")
    ]
    return "\n".join(lines or ["no kernel has failed"])


def _facts(folder: Path) -> dict[str, Any]:
    """Sizes and counts; asking makes no files."""
    from korch.profile import Database, retention
    from korch.profile.database import database_file
    from korch.session.archives import kept_archives

    file, archives = database_file(folder), kept_archives(folder)
    counts, sizes = dict[str, int](), {"plans": 0, "libraries": 0}
    if file.is_file():
        with Database(folder) as database:
            counts = database.counts()
            for table, _, size, _ in database.contents():
                sizes[table] += size
    return {
        "path": str(folder),
        "database_bytes": file.stat().st_size if file.is_file() else 0,
        **counts,
        "archives": len(archives),
        "archive_bytes": sum(a.stat().st_size for a in archives),
        "plan_bytes": sizes["plans"],
        "library_bytes": sizes["libraries"],
        "bytes": retention.folder_bytes(folder),
        "limit_bytes": retention.limit(),
    }


def _text(facts: dict[str, Any]) -> str:
    tables = [name for name in ("costs", "failures", "in_place", "machines", "plans", "libraries") if name in facts]
    rows = ", ".join(f"{facts[name]} {name.replace('_', ' ')}" for name in tables)
    programs = f"{count(facts['archives'], 'archive')}, {size_text(facts['archive_bytes'])}"
    inside = f"plans {size_text(facts['plan_bytes'])}, libraries {size_text(facts['library_bytes'])}"
    return (
        f"{facts['path']}\nmeasurements: {rows or 'none'}, {size_text(facts['database_bytes'])} ({inside})\n"
        f"programs: {programs}\nin all: {size_text(facts['bytes'])}, at most {size_text(facts['limit_bytes'])}"
    )
