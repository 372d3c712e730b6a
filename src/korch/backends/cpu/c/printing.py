"""The text of a kernel's C, made to be read. Its own names get a prefix; equal separate functions of all kernels have
one name, which tells what they do."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from string import Template

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
    references,
)
from korch.ir.tensor import printable


@dataclass(frozen=True)
class Shared:
    """A function that kernels have in common: its name, the head of its definition without storage class, its body, and
    what compiling it takes, in characters. `calls`: other such functions."""

    name: str
    head: str
    body: str
    effort: int
    calls: tuple[str, ...]

    @property
    def text(self) -> str:
        """The definition without storage class."""
        return f"{self.head} {{\n{self.body}}}\n"


@dataclass(frozen=True)
class Split:
    """The text of a kernel without the functions that it shares with others; these by name, callees first; what else of
    the shared functions it calls itself; and what compiling the text takes, in characters."""

    text: str
    functions: Mapping[str, Shared]
    calls: tuple[str, ...]
    effort: int


def printed(code: Code, prefix: str) -> str:
    """The text of the whole kernel, its own names beginning with `prefix`; empty without code."""
    names = {name: prefix + name for name in code.names}
    return "".join(_declaration(d, names, dict(code.titles)) for d in code.declarations)


def split(code: Code, prefix: str) -> Split:
    """The kernel with its own names beginning with `prefix`, separate functions apart that refer to nothing of the
    kernel but to such functions."""
    names = {name: prefix + name for name in code.names}
    functions, rest, calls, titles = dict[str, Shared](), list[Declaration](), dict[str, None](), dict(code.titles)
    known = dict[str, str]()  # own names of shared functions
    for d in code.declarations:
        if isinstance(d, Function) and d.linkage is Linkage.SEPARATE and {*known, d.name}.issuperset(references(d)):
            shared = _shared(d, known, titles)
            known[d.name] = names[d.name] = shared.name
            functions.setdefault(shared.name, shared)
        else:
            rest.append(d)
            calls |= dict.fromkeys(known[name] for name in references(d) if name in known)
    text = "".join(_declaration(d, names, titles) for d in rest)
    return Split(text, functions, tuple(calls), sum(map(_effort, rest)))


def code_digest(code: Code) -> str:
    """A digest of what is compiled: equal for kernels that differ in comments alone."""
    names = {name: "_" + name for name in code.names}
    text = "".join(_declaration(d, names, None) for d in code.declarations)
    return hashlib.sha256("\0".join((text, *code.headers)).encode()).hexdigest()


def _shared(f: Function, known: Mapping[str, str], titles: Mapping[str, str]) -> Shared:
    """The function, which may call those `known`, by a name that tells what it does."""
    blank = {**known, f.name: ""}
    nameless = _head(f, blank) + _filled(_lines(f.body, None), blank)
    name = f"korch_f{hashlib.sha256(nameless.encode()).hexdigest()[:16]}"
    names = {**known, f.name: name}
    calls = tuple(known[n] for n in references(f) if n in known)
    return Shared(name, _head(f, names), _filled(_lines(f.body, titles), names), _effort(f), calls)


def _declaration(d: Declaration, names: Mapping[str, str], titles: Mapping[str, str] | None) -> str:
    match d:
        case Comment():
            return _filled(_lines((d,), titles, 0), {})
        case Table():
            return _filled(_table(d, names[d.name], ""), names)
        case Struct():
            return f"typedef struct {{ {d.fields} }} {names[d.name]};\n"
        case Function():
            head = f"{d.linkage.value}{_head(d, names)}"
            return f"{head} {{\n{_filled(_lines(d.body, titles), names)}}}\n"


def _head(f: Function, names: Mapping[str, str]) -> str:
    """The head of a definition without storage class."""
    return f"{f.result} {names[f.name]}({Template(f.parameters).substitute(names)})"


def _filled(lines: Iterable[str], names: Mapping[str, str]) -> str:
    return Template("".join(lines)).substitute(names)


def _lines(body: Iterable[Statement], titles: Mapping[str, str] | None, depth: int = 1) -> Iterator[str]:
    """The lines of statements; of comments too, where there are `titles` for tensors."""
    indent = "  " * depth
    for s in body:
        match s:
            case str():
                yield f"{indent}{s}\n"
            case Block():
                deeper = (len(s.head) - len(s.head.lstrip())) // 2  # the head of a loop in one without braces
                yield f"{indent}{s.head} {{\n" if s.head else f"{indent}{{\n"
                yield from _lines(s.body, titles, depth + 1 + deeper)
                yield f"{'  ' * (depth + deeper)}}}\n"
            case Table():
                yield from _table(s, s.name, indent)
            case Comment() if titles is not None:
                yield f"{indent}// {_comment(s, titles)}\n"
            case Comment():
                pass


def _comment(c: Comment, titles: Mapping[str, str]) -> str:
    """Its text in one line, which does not go on in the next, and is no template."""
    text = "".join(titles.get(p, p) if isinstance(p, Title) else p for p in c.parts)
    return printable(text).replace("$", "$$")


def _table(t: Table, name: str, indent: str) -> Iterator[str]:
    head = f"{indent}static const {t.ctype} {name}{t.dimensions} = {{"
    if len(t.dimensions) > 2 and len(t.rows) > 1:
        yield f"{head}\n"
        yield from (f"{indent}  {row},\n" for row in t.rows)
        yield f"{indent}}};\n"
    else:
        yield f"{head}{', '.join(t.rows)}}};\n"


def _effort(d: Declaration) -> int:
    """Characters that a compiler has work with."""
    match d:
        case Function():
            return len(d.parameters) + sum(map(len, _lines(_without_tables(d.body), None)))
        case Struct():
            return len(d.fields)
        case _:
            return 0


def _without_tables(body: Iterable[Statement]) -> Iterator[Statement]:
    for s in body:
        if isinstance(s, Block):
            yield Block(s.head, tuple(_without_tables(s.body)))
        elif not isinstance(s, Table):
            yield s
