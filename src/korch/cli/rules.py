"""`korch rules`: the tables that files are added to."""

from __future__ import annotations

from typing import Any

import typer

from korch.cli.arguments import Json
from korch.cli.printing import print_json, print_table


def rules(json: Json = False) -> None:
    """List the operators that fission knows and the backends, usable here or not."""
    from korch.backends.table import entries
    from korch.fission import all_rules

    operators = [_operator(rule) for rule in all_rules()]
    backends = [{"name": e.name, "version": e.version, "reason": e.reason} for e in entries()]
    if json:
        return print_json({"fission": operators, "backends": backends})
    rows = ([", ".join(r["operators"]), r["domain"], str(r["since"]), r["definition"]] for r in operators)
    print_table(["operators", "domain", ">since", "definition"], rows)
    print_table(["backend", "state"], ([b["name"], b["reason"] or "ready"] for b in backends))
    typer.echo(f"{sum(len(r['operators']) for r in operators)} operators")


def _operator(rule: Any) -> dict[str, Any]:
    """A fission rule as plain data; the definition is the first line of its docstring."""
    definition = (rule.fn.__doc__ or "").strip().split("\n")[0]
    file = rule.fn.__module__.rpartition(".")[2]
    return {"operators": list(rule.ops), "domain": rule.domain, "since": rule.since, "file": file,
            "definition": definition}  # fmt: skip
