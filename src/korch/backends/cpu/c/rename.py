"""Code as a part of other code: its own names get a prefix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from string import Template

from korch.backends.cpu.c.tree import Block, Code, Comment, Declaration, Function, Statement, Struct, Table, own


def prefixed(code: Code, prefix: str) -> tuple[Declaration, ...]:
    """The declarations of `code`, their names and all references to them beginning with `prefix`."""
    names = {name: own(prefix + name) for name in code.names}
    return tuple(_declaration(d, prefix, names) for d in code.declarations)


def _declaration(d: Declaration, prefix: str, names: Mapping[str, str]) -> Declaration:
    match d:
        case Comment():
            return d
        case Function():
            body = tuple(_statement(s, names) for s in d.body)
            return replace(d, name=prefix + d.name, parameters=_filled(d.parameters, names), body=body)
        case Table():
            return replace(d, name=prefix + d.name, rows=tuple(_filled(row, names) for row in d.rows))
        case Struct():
            return replace(d, name=prefix + d.name)


def _statement(s: Statement, names: Mapping[str, str]) -> Statement:
    match s:
        case str():
            return _filled(s, names)
        case Block(head, body):
            return Block(_filled(head, names), tuple(_statement(inner, names) for inner in body))
        case Table():
            return replace(s, rows=tuple(_filled(row, names) for row in s.rows))
        case Comment():
            return s


def _filled(text: str, names: Mapping[str, str]) -> str:
    return Template(text).substitute(names) if "$" in text else text
