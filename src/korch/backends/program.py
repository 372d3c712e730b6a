"""Kernels become one C program: the runtime, each header once, every kernel under its own prefix, a table.

The library exports `const korch_entry korch_kernels[]` and `const int korch_kernel_count`. Entry i belongs to kernel
i; where nothing native runs (an alias, a host kernel) its `run` is NULL.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, pairwise
from math import ceil
from typing import TypeVar

from korch.backends.cpu.c.printing import Shared, Split, split
from korch.backends.cpu.c.tree import ENTRIES, TEAM, Code
from korch.backends.libraries import HERE
from korch.errors import BackendError

RUNTIME = "korch_rt.h"

ENTRY = """\
// Who calls `run`: one thread outside of parallel regions, as the kernel opens its own; every thread of a team; or one.
typedef enum { KORCH_OPENS, KORCH_TEAM, KORCH_SINGLE } korch_callers;
typedef struct {
  int (*init)(void **state, const void *const *in);  // NULL: no state
  void (*run)(void *state, const void *const *in, void *out, void *workspace);
  void (*free)(void *state);
  size_t workspace;  // bytes
  korch_callers callers;
} korch_entry;
"""

HEAD = 500
"""Characters that compiling a kernel takes however short it is."""
FEW = 4
"""Kernels that are not worth another compiler."""
LONG = 100_000
"""Characters of functions for which two compilers are worth their start, or as many more as there are processors."""
_HIDDEN = '__attribute__((visibility("hidden")))'
_T = TypeVar("_T")


@dataclass(frozen=True)
class Numbered:
    """A kernel's code, None where nothing native runs, and the number in the names of its functions."""

    number: int
    code: Code | None

    @cached_property
    def split(self) -> Split:
        """Its text, its own names beginning with `k` and its number, and the functions that it shares with others."""
        return split(self.code or Code(()), f"k{self.number}_")

    @property
    def entries(self) -> list[str]:
        """Which of "init", "run", "team" and "free" it has."""
        return [name for name in ENTRIES if self.code and self.code.has(name)]


def compose(codes: Sequence[Code | None]) -> str:
    """The C text of one translation unit that holds all of the kernels and their table."""
    numbered = _numbered(codes)
    functions = [f"__attribute__((noinline))\nstatic {f.text}" for f in shared_by(numbered).values()]
    return "\n".join((_head(numbered), *functions, *_texts(numbered), _table(numbered, "")))


def compose_units(codes: Sequence[Code | None], size: int, jobs: int = 1) -> dict[str, str]:
    """The same program as texts by file name, of about `size` kernels each, so that `jobs` compilers side by side
    have as much to do."""
    numbered = _numbered(codes)
    units = share_out(numbered, size, jobs)
    if len(units) <= 1:
        return {"program.c": compose(codes)}
    functions = share_out_functions(shared_by(numbered), jobs)
    return {
        **{f"functions{i}.c": functions_text(some, numbered) for i, some in enumerate(functions)},
        **{f"unit{i}.c": unit_text(unit) for i, unit in enumerate(units)},
        "table.c": table_text(numbered),
    }


def _numbered(codes: Sequence[Code | None]) -> list[Numbered]:
    return [Numbered(i, code) for i, code in enumerate(codes)]


def shared_by(numbered: Iterable[Numbered]) -> dict[str, Shared]:
    """The functions that the kernels share with others or might, by name; callees come first."""
    return {name: f for n in numbered for name, f in n.split.functions.items()}


def share_out(numbered: Sequence[Numbered], size: int, jobs: int) -> list[Sequence[Numbered]]:
    """Neighbours in units of about `size` kernels that take equally long to compile."""
    count = min(jobs * ceil(len(numbered) / (jobs * size)), ceil(len(numbered) / FEW))
    return _equal(numbered, [n.split.effort + HEAD for n in numbered], count)


def share_out_functions(functions: Mapping[str, Shared], jobs: int) -> list[Mapping[str, Shared]]:
    """Some of the functions for each of the units that hold nothing else."""
    efforts = [f.effort for f in functions.values()]
    count = min(jobs * ceil(sum(efforts) / (jobs * LONG)), ceil(len(functions) / FEW))
    return [dict(some) for some in _equal(list(functions.items()), efforts, count)]


def _equal(items: Sequence[_T], efforts: Sequence[int], count: int) -> list[Sequence[_T]]:
    """Neighbours in `count` parts of as much effort."""
    if not items:
        return []
    ends = list(accumulate(efforts))
    cuts = [bisect_left(ends, ends[-1] * (i + 1) / count) + 1 for i in range(count - 1)]
    starts = sorted({0, *cuts, len(items)})
    return [items[a:b] for a, b in pairwise(starts)]


def include(name: str) -> str:
    """The text of the header `name`, searched beside the backends; BackendError where there is none."""
    return _header_text(name)


@cache
def _header_text(name: str) -> str:
    for path in sorted(HERE.rglob(name)):
        return path.read_text()
    raise BackendError(f"no backend has the header {name}")


def _head(numbered: Iterable[Numbered]) -> str:
    headers = dict.fromkeys((RUNTIME, *(h for n in numbered if n.code for h in n.code.headers)))
    return "\n".join((*(include(name) for name in headers), ENTRY))


def _texts(numbered: Iterable[Numbered]) -> list[str]:
    """Of the kernels, without their shared functions."""
    return [n.split.text for n in numbered if n.code]


def callers(code: Code) -> str:
    """The caller of the kernel (see `ENTRY`): libraries may open parallel regions."""
    if code.has(TEAM):
        return "KORCH_TEAM"
    return "KORCH_OPENS" if code.opens or code.libraries else "KORCH_SINGLE"


def _row(n: Numbered, prefix: str) -> str:
    if not n.code:
        return "  {NULL, NULL, NULL, 0, KORCH_OPENS},"
    run = "team" if "team" in n.entries else "run"
    names = (f"{prefix}k{n.number}_{f}" if f in n.entries else "NULL" for f in ("init", run, "free"))
    return f"  {{{', '.join(names)}, {n.code.workspace}, {callers(n.code)}}},"


def _table(numbered: Sequence[Numbered], prefix: str) -> str:
    rows = [_row(n, prefix) for n in numbered] or ["  {NULL, NULL, NULL, 0, KORCH_OPENS},"]
    return "\n".join(
        (
            "_Thread_local int korch_out_of_range = 0;",
            "_Thread_local int korch_failure = 0;",
            "_Thread_local korch_share *korch_shares = NULL;",
            "void korch_join(korch_share *shares) { korch_shares = shares; }",
            "#ifndef KORCH_POOLED  // kernels that are only measured share nothing",
            "int korch_pack(void **packed, size_t bytes) { return (void)packed, (void)bytes, 0; }",
            "void korch_unpack(void *packed) { free(packed); }",
            "#endif",
            "extern const korch_entry korch_kernels[];",
            "extern const int korch_kernel_count;",
            "const korch_entry korch_kernels[] = {",
            *rows,
            "};",
            f"const int korch_kernel_count = {len(numbered)};",
            "",
        )
    )


# Several units: their kernels stay static, so hidden functions with program-wide names lead to them.

_RUN = "void *state, const void *const *in, void *out, void *workspace"
_SHAPES = {
    "init": ("int", "void **state, const void *const *in", "state, in"),
    "run": ("void", _RUN, "state, in, out, workspace"),
    "team": ("void", _RUN, "state, in, out, workspace"),
    "free": ("void", "void *state", "state"),
}


def _declaration(i: int, function: str) -> str:
    result, parameters, _ = _SHAPES[function]
    return f"{_HIDDEN} {result} korch_k{i}_{function}({parameters})"


def _forward(i: int, function: str) -> str:
    result, _, arguments = _SHAPES[function]
    call = f"k{i}_{function}({arguments});"
    return f"{_declaration(i, function)} {{ {'' if result == 'void' else 'return '}{call} }}"


def _declared(names: Iterable[str], functions: Mapping[str, Shared]) -> list[str]:
    """Declarations of shared functions that other units hold."""
    return [f"__attribute__((noinline)) {_HIDDEN} {functions[name].head};" for name in dict.fromkeys(names)]


def unit_text(numbered: Sequence[Numbered]) -> str:
    """The C text of a translation unit with these kernels, for others to call, but for the functions that they share
    with others."""
    declared = _declared((name for n in numbered for name in n.split.calls), shared_by(numbered))
    forwards = [_forward(n.number, f) for n in numbered for f in n.entries]
    return "\n".join((_head(numbered), *declared, *_texts(numbered), *forwards, ""))


def functions_text(functions: Mapping[str, Shared], numbered: Sequence[Numbered]) -> str:
    """The C text of a translation unit with some of the functions that the kernels share with others."""
    names = (*(name for f in functions.values() for name in f.calls), *functions)
    declared = _declared(names, shared_by(numbered))
    users = [n for n in numbered if any(name in functions for name in n.split.functions)]
    texts = [f"__attribute__((noinline)) {_HIDDEN}\n{f.text}" for f in functions.values()]
    return "\n".join((_head(users), *declared, *texts))


def table_text(numbered: Sequence[Numbered]) -> str:
    """The C text with the table of kernels that lie in units."""
    declared = dict.fromkeys(f"{_declaration(n.number, f)};" for n in numbered for f in n.entries)
    return "\n".join((include(RUNTIME), ENTRY, *declared, _table(numbered, "korch_")))
