"""A kernel's C as JSON and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from korch.backends.cpu.c.tree import (
    Block,
    Code,
    Comment,
    Declaration,
    Function,
    Linkage,
    Statement,
    Struct,
    Table,
    Title,
)


def to_json(code: Code) -> dict[str, Any]:
    """The code as dictionaries, lists and text."""
    return {
        "declarations": [_written(d) for d in code.declarations],
        "workspace": code.workspace,
        "headers": list(code.headers),
        "libraries": list(code.libraries),
        "opens": code.opens,
        "titles": [list(pair) for pair in code.titles],
    }


def from_json(found: dict[str, Any]) -> Code:
    """The code back. KeyError, TypeError or ValueError where the document is damaged."""
    return Code(
        tuple(_declaration(d) for d in found["declarations"]),
        found["workspace"],
        tuple(found["headers"]),
        tuple(found["libraries"]),
        found["opens"],
        tuple((old, new) for old, new in found["titles"]),
    )


def _written(d: Declaration | Statement) -> Any:
    match d:
        case str():
            return d
        case Comment(parts):
            return {"comment": [{"title": p} if isinstance(p, Title) else p for p in parts]}
        case Table(ctype, name, rows, dimensions):
            return {"table": name, "ctype": ctype, "rows": list(rows), "dimensions": dimensions}
        case Block(head, body):
            return {"block": head, "body": [_written(s) for s in body]}
        case Struct(name, fields):
            return {"struct": name, "fields": fields}
        case Function():
            return {
                "function": d.name,
                "parameters": d.parameters,
                "body": [_written(s) for s in d.body],
                "result": d.result,
                "linkage": d.linkage.name,
                "steals": d.steals,
            }


def _declaration(found: dict[str, Any]) -> Declaration:
    if "function" in found:
        linkage = Linkage[found["linkage"]]
        body = _body(found["body"])
        return Function(found["function"], found["parameters"], body, found["result"], linkage, found["steals"])
    if "struct" in found:
        return Struct(found["struct"], found["fields"])
    read = _statement(found)
    if not isinstance(read, Table | Comment):
        raise ValueError("a statement outside of functions")
    return read


def _body(found: Iterable[Any]) -> tuple[Statement, ...]:
    return tuple(_statement(s) for s in found)


def _statement(found: Any) -> Statement:
    if isinstance(found, str):
        return found
    if "block" in found:
        return Block(found["block"], _body(found["body"]))
    if "table" in found:
        return Table(found["ctype"], found["table"], tuple(found["rows"]), found["dimensions"])
    return Comment(tuple(p if isinstance(p, str) else Title(p["title"]) for p in found["comment"]))
