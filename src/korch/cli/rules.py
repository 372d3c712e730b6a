"""`korch rules`: the tables that files are added to, and laws that no file has yet."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from korch.cli.arguments import JsonOption
from korch.cli.printing import count, print_json, print_table

rules = typer.Typer(help="List fission rules, rewrites and backends, or discover laws.")

SizeOption = Annotated[int, typer.Option(help="The most primitives on a side of a law; 4 takes hours.", min=1, max=4)]


@rules.callback(invoke_without_command=True)
def _list_by_default(context: typer.Context, json: JsonOption = False) -> None:
    if context.invoked_subcommand is None:
        list_(json)


@rules.command("list")
def list_(json: JsonOption = False) -> None:
    """List the operators that fission knows, the rewrites with their evidence, and the backends."""
    from korch.backends.table import entries
    from korch.fission import all_rules
    from korch.rewrite import all_rewrites
    from korch.rewrite.saturate import all_algebra

    operators = [_operator(rule) for rule in all_rules()]
    rewrites: list[dict[str, Any]] = [{"stage": r.stage, **_proved(r)} for r in all_rewrites()]
    algebra = [_proved(r) for r in all_algebra()]
    backends = [{"name": e.name, "version": e.version, "reason": e.reason} for e in entries()]
    if json:
        return print_json({"fission": operators, "rewrites": rewrites, "algebra": algebra, "backends": backends})
    rows = ([", ".join(r["operators"]), r["domain"], str(r["since"]), r["definition"]] for r in operators)
    print_table(["operators", "domain", ">since", "definition"], rows)
    shown = ([r["name"], str(r["stage"]), r["error"], r["shown"], r["definition"]] for r in rewrites)
    print_table(["rewrite", ">stage", "error", "evidence", "definition"], shown)
    print_table(
        ["algebraic rule", "error", "evidence", "definition"],
        ([r["name"], r["error"], r["shown"], r["definition"]] for r in algebra),
    )
    print_table(["backend", "state"], ([b["name"], b["reason"] or "ready"] for b in backends))
    typer.echo(
        f"{sum(len(r['operators']) for r in operators)} operators, {count(len(rewrites), 'rewrite')}, "
        f"{count(len(algebra), 'algebraic rule')}"
    )


@rules.command()
def discover(size: SizeOption = 3, json: JsonOption = False) -> None:
    """Discover laws of the primitives: all terms up to a size, compared exactly over a finite field."""
    from korch.rewrite.discover import discover as laws_of

    laws = laws_of(size)
    if json:
        return print_json({"size": size, "laws": [str(law) for law in laws]})
    for law in laws:
        typer.echo(str(law))
    typer.echo(f"{count(len(laws), 'law')}: A, B, C, D matrices, v, w columns, s a number, ones a column of ones")


def _operator(rule: Any) -> dict[str, Any]:
    """A fission rule as plain data."""
    return {"operators": list(rule.ops), "domain": rule.domain, "since": rule.since, **_written(rule.fn)}


def _proved(rule: Any) -> dict[str, Any]:
    """A rewrite or an algebraic rule as plain data, with what its samples show."""
    from korch.rewrite.evidence import evidence_of

    evidence = evidence_of(rule)
    return {
        "name": rule.name,
        "error": rule.error,
        "evidence": asdict(evidence),
        "shown": str(evidence),
        **_written(rule.fn),
    }


def _written(fn: Any) -> dict[str, str]:
    """Where a function is, and the first line of its docstring."""
    file = fn.__module__.rpartition(".")[2]
    return {"file": file, "definition": (fn.__doc__ or "").strip().split("\n")[0]}
