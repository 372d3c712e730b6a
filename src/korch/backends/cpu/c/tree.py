"""The tree of a kernel's C.

Statements are text. A name of the kernel's own (a function, a table, a type) stands in them as `own(name)`, a field of
`string.Template`; printing fills it with a name that no other kernel of the program has. Comments are not templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from string import Template

from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor


def own(name: str) -> str:
    """The name of something of the kernel's own, as it stands in statements."""
    return f"${{{name}}}"


class Title(str):
    """The title of a tensor in a comment."""


@dataclass(frozen=True)
class Comment:
    """A line for readers: text, and titles of tensors."""

    parts: tuple[str, ...]

    @staticmethod
    def of(*parts: str | Tensor) -> Comment:
        """The comment with the titles of tensors in their places."""
        return Comment(tuple(p if isinstance(p, str) else Title(p.title) for p in parts))


def comments(about: Cone | Primitive) -> Iterator[Comment]:
    """A line for the primitive, or for each of a cone's."""
    for p in (about,) if isinstance(about, Primitive) else about.primitives:
        yield Comment.of(*p.words())


@dataclass(frozen=True)
class Table:
    """Numbers, as C writes them: `static const TYPE NAME DIMENSIONS`. Compilers have no work with them. One outside of
    functions is the kernel's own."""

    ctype: str
    name: str
    rows: tuple[str, ...]
    dimensions: str = "[]"

    @staticmethod
    def of(ctype: str, name: str, numbers: Iterable[int]) -> Table:
        """The table of integers in one row."""
        return Table(ctype, name, tuple(map(str, numbers)))


@dataclass(frozen=True)
class Block:
    """Statements in braces after a head: a loop, a condition; a scope where the head is empty."""

    head: str
    body: tuple[Statement, ...]


Statement = str | Comment | Table | Block


class Linkage(Enum):
    """How a function is compiled.

    `SEPARATE`: not inlined, as compilers would keep sums in memory within a longer function. Equal separate functions
    of different kernels are compiled once, where they need nothing else of their kernels. Such a function uses no
    static variable of a header, as each translation unit has its own.
    """

    STATIC = "static "
    INLINE = "static inline "
    SEPARATE = "__attribute__((noinline))\nstatic "


@dataclass(frozen=True)
class Function:
    """A function of the kernel's own. `steals`: whether its threads take turns of a loop from each other."""

    name: str
    parameters: str
    body: tuple[Statement, ...]
    result: str = "void"
    linkage: Linkage = Linkage.STATIC
    steals: bool = False


@dataclass(frozen=True)
class Struct:
    """The type of a struct of the kernel's own with these fields."""

    name: str
    fields: str


Declaration = Function | Table | Struct | Comment


def references(d: Declaration) -> tuple[str, ...]:
    """The names of the kernel's own that a declaration refers to, one of a function's own body included."""
    match d:
        case Function():
            return tuple(Template("".join((d.parameters, *_texts(d.body)))).get_identifiers())
        case Table():
            return tuple(Template("".join(d.rows)).get_identifiers())
        case _:
            return ()


def _texts(body: Iterable[Statement]) -> Iterator[str]:
    """The templates of statements."""
    for s in body:
        match s:
            case str():
                yield s
            case Block():
                yield s.head
                yield from _texts(s.body)
            case Table():
                yield from s.rows
            case Comment():
                pass


RUN, TEAM, INIT, FREE = "run", "team", "init", "free"
"""The functions of a kernel that others call: one thread runs it, or every thread of a team; its state is made and
freed. A kernel has `run` or `team`."""
ENTRIES = (INIT, RUN, TEAM, FREE)


@dataclass(frozen=True)
class Code:
    """The C of one kernel: declarations in their order, the headers and libraries that they need, and the bytes of
    workspace. Its `in` points to the leaves, then the root; `out` is the root. `opens`: it opens parallel regions of
    its own, as kernels that call a library may."""

    declarations: tuple[Declaration, ...]
    workspace: int = 0
    headers: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    opens: bool = False
    titles: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    """Pairs of a title in the tree and the one that comments show instead."""

    @property
    def names(self) -> list[str]:
        """The names of its own functions, tables and types."""
        return [d.name for d in self.declarations if not isinstance(d, Comment)]

    @property
    def functions(self) -> dict[str, Function]:
        """The functions by name."""
        return {d.name: d for d in self.declarations if isinstance(d, Function)}

    def has(self, function: str) -> bool:
        """Whether it has the function."""
        return any(isinstance(d, Function) and d.name == function for d in self.declarations)

    @property
    def steals(self) -> bool:
        """Whether threads take turns of loops from each other."""
        return any(isinstance(d, Function) and d.steals for d in self.declarations)

    def titled(self, here: Cone, there: Cone) -> Code:
        """The code of `here`, whose comments name the tensors of `there`, a cone of the same signature."""
        old, new = ((*c.leaves, *(p.output for p in c.primitives)) for c in (here, there))
        known = {new: old for old, new in self.titles}
        pairs = ((known.get(o.title, o.title), n.title) for o, n in zip(old, new, strict=True))
        return replace(self, titles=tuple(dict(pairs).items()))


def run_function(team: bool, body: Iterable[Statement], steals: bool = False, out: str = "out") -> Function:
    """The function that runs a kernel on every thread of a team, or on one."""
    parameters = f"void *state, const void *const *in, void *{out}, void *workspace"
    return Function(TEAM if team else RUN, parameters, tuple(body), steals=steals)


def init_function(body: Iterable[Statement]) -> Function:
    """The function that makes a kernel's state, and returns 0 where that works."""
    return Function(INIT, "void **state, const void *const *in", tuple(body), "int")


def free_function(body: Iterable[Statement]) -> Function:
    """The function that frees a kernel's state."""
    return Function(FREE, "void *state", tuple(body))
