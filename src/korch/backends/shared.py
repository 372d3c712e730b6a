"""Functions that kernels have in common: compiled once, for themselves, whoever calls them.

Strips of several heights and chains that share a link have most of their stages in common, and stages their tiles.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

APART = "__attribute__((noinline))"
"""The line before a function that is compiled for itself: within a longer one, compilers keep sums in memory. It uses
no static variable of a header, which each unit has for itself."""
_HIDDEN = '__attribute__((noinline, visibility("hidden")))'
_APART = re.compile(rf"^{re.escape(APART)}\nstatic (void (\w+)\(.*?^}}\n)", re.M | re.S)
COMMENT = re.compile(r"^ *//.*\n", re.M)
_OWN = re.compile(r"\bKERNEL_\w+")
_SHARED = re.compile(r"\bkorch_f[0-9a-f]{16}\b")


@dataclass(frozen=True)
class Divided:
    """A kernel's text without the functions that it shares with others, and those by name, without storage class; who
    is called comes before who calls."""

    text: str
    functions: Mapping[str, str]


def divided(source: str) -> Divided:
    """The text of a kernel, divided. Functions marked `APART` are shared that refer to nothing of the kernel but to
    such functions; their names tell what they do, whatever comments say."""
    names, functions = dict[str, str](), dict[str, str]()

    def named(text: str) -> str:
        return _OWN.sub(lambda word: names.get(word[0], word[0]), text)

    def taken(found: re.Match[str]) -> str:
        text, own = named(found[1]), found[2]
        if set(_OWN.findall(text)) != {own}:
            return found[0]
        nameless = _OWN.sub("", without_comments(text))
        names[own] = f"korch_f{hashlib.sha256(nameless.encode()).hexdigest()[:16]}"
        functions.setdefault(names[own], named(text))
        return ""

    rest = _APART.sub(taken, source)
    return Divided(named(rest), functions)


def without_comments(text: str) -> str:
    """C without the lines that only comment."""
    return COMMENT.sub("", text)


def own_functions(functions: Iterable[str]) -> list[str]:
    """The functions for a unit that keeps them to itself."""
    return [f"{APART}\nstatic {text}" for text in functions]


def public_functions(functions: Iterable[str]) -> list[str]:
    """The functions for a unit that others call."""
    return [f"{_HIDDEN}\n{text}" for text in functions]


def declarations(texts: Iterable[str], functions: Mapping[str, str]) -> list[str]:
    """Of those of the `functions` that are named in `texts`."""
    names = dict.fromkeys(name for text in texts for name in _SHARED.findall(text))
    return [f"{_HIDDEN} {functions[name].split(' {', 1)[0]};" for name in names]
