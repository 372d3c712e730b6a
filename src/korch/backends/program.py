"""Kernels become one C program: the runtime, each header once, every kernel under its own prefix, a table.

The library exports `const korch_entry korch_kernels[]` and `const int korch_kernel_count`. Entry i belongs to kernel
i; where nothing native runs (an alias, a host kernel) its `run` is NULL.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import accumulate, pairwise
from math import ceil
from typing import TypeVar

from korch.backends.contract import Kernel
from korch.backends.libraries import HERE
from korch.backends.shared import (
    COMMENT,
    Divided,
    declarations,
    divided,
    own_functions,
    public_functions,
    without_comments,
)
from korch.errors import BackendError
from korch.ir.cone import Cone

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

FEW = 4
"""Kernels that are not worth another compiler."""
HEAD = 500
"""Characters for what a kernel takes however short it is."""
LONG = 100_000
"""Characters of functions for which two compilers are worth their start, or as many more as there are processors."""
_NUMBERS = re.compile(r"^( *static const [^=\n]*= )?[\s{]*-?\d[-\d\s,{}]*;?\n", re.M)
_SHARES = re.compile(r"#pragma omp (?!simd)")
"""What only threads of a region of the kernel's own may meet."""
_MARK = re.compile(r"\bKERNEL_")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Numbered:
    """A kernel, and the number in the names of its functions."""

    number: int
    kernel: Kernel

    @cached_property
    def _divided(self) -> Divided:
        return divided(self.kernel.source)

    @cached_property
    def text(self) -> str:
        """Its text, but for the functions that it shares with others, its own names beginning with `k` and its
        number."""
        return renamed(self._divided.text, f"k{self.number}_")

    @property
    def functions(self) -> Mapping[str, str]:
        """Those functions by name, without storage class; who is called comes before who calls."""
        return self._divided.functions

    def has(self, function: str) -> bool:
        """Whether it has its own "init", "run", "team" or "free"."""
        return has(self.kernel.source, function)


def compose(kernels: Sequence[Kernel]) -> str:
    """The C text of one translation unit that holds all of `kernels` and their table."""
    numbered = _numbered(kernels)
    functions = own_functions(shared_by(numbered).values())
    return "\n".join((_head(kernels), *functions, *_texts(numbered), _table(numbered, "")))


def compose_units(kernels: Sequence[Kernel], size: int, jobs: int = 1) -> dict[str, str]:
    """The same program as texts by file name, of about `size` kernels each, so that `jobs` compilers side by side
    have as much to do."""
    numbered = _numbered(kernels)
    units = share_out(numbered, size, jobs)
    if len(units) <= 1:
        return {"program.c": compose(kernels)}
    functions = share_out_functions(shared_by(numbered), jobs)
    return {
        **{f"functions{i}.c": functions_text(some, numbered) for i, some in enumerate(functions)},
        **{f"unit{i}.c": unit_text(unit) for i, unit in enumerate(units)},
        "table.c": table_text(numbered),
    }


def _numbered(kernels: Sequence[Kernel]) -> list[Numbered]:
    return [Numbered(i, kernel) for i, kernel in enumerate(kernels)]


def shared_by(numbered: Iterable[Numbered]) -> dict[str, str]:
    """The functions that the kernels share with others or might, by name; who is called comes before who calls."""
    return {name: text for n in numbered for name, text in n.functions.items()}


def share_out(numbered: Sequence[Numbered], size: int, jobs: int) -> list[Sequence[Numbered]]:
    """Neighbours in units of about `size` kernels that take equally long to compile."""
    count = min(jobs * ceil(len(numbered) / (jobs * size)), ceil(len(numbered) / FEW))
    return _equal(numbered, [_work(n.text) + HEAD for n in numbered], count)


def share_out_functions(functions: Mapping[str, str], jobs: int) -> list[Mapping[str, str]]:
    """Some of the functions for each of the units that hold nothing else."""
    work = [_work(text) for text in functions.values()]
    count = min(jobs * ceil(sum(work) / (jobs * LONG)), ceil(len(functions) / FEW))
    return [dict(some) for some in _equal(list(functions.items()), work, count)]


def _equal(items: Sequence[_T], work: Sequence[int], count: int) -> list[Sequence[_T]]:
    """Neighbours in `count` parts of as much work."""
    if not items:
        return []
    ends = list(accumulate(work))
    cuts = [bisect_left(ends, ends[-1] * (i + 1) / count) + 1 for i in range(count - 1)]
    starts = sorted({0, *cuts, len(items)})
    return [items[a:b] for a, b in pairwise(starts)]


def _work(text: str) -> int:
    """What compiling a text takes, in characters: numbers in tables take nothing. (Nine tenths of a chain's text may be
    tables.)"""
    return len(_NUMBERS.sub("", text))


def code_of(kernel: Kernel) -> str:
    """A digest of what is compiled of the kernel: equal for kernels that differ in what comments call their tensors."""
    return hashlib.sha256("\0".join((without_comments(kernel.source), *kernel.headers)).encode()).hexdigest()


def named_for(kernel: Kernel, cone: Cone) -> Kernel:
    """The kernel for another cone of the same signature, whose tensors comments name then."""
    of, to = ((*c.leaves, *(p.output for p in c.primitives)) for c in (kernel.cone, cone))
    names = {t.title: other.title for t, other in zip(of, to, strict=True)}
    words = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)")
    source = COMMENT.sub(lambda line: words.sub(lambda m: names[m[0]], line[0]), kernel.source)
    return replace(kernel, cone=cone, source=source)


def include(name: str) -> str:
    """The text of the header `name`, searched beside the backends; BackendError where there is none."""
    return _header_text(name)


@cache
def _header_text(name: str) -> str:
    for path in sorted(HERE.rglob(name)):
        return path.read_text()
    raise BackendError(f"no backend has the header {name}")


def _head(kernels: Iterable[Kernel]) -> str:
    headers = dict.fromkeys((RUNTIME, *(h for k in kernels for h in k.headers)))
    return "\n".join((*(include(name) for name in headers), ENTRY))


def _texts(numbered: Iterable[Numbered]) -> list[str]:
    """Of the kernels, without their shared functions."""
    return [n.text for n in numbered if n.kernel.source]


def renamed(source: str, prefix: str) -> str:
    """The text of a kernel, its global names beginning with `prefix`."""
    return _MARK.sub(prefix, source)


def has(source: str, function: str) -> bool:
    """Whether the text of a kernel has its own "init", "run", "team" or "free"."""
    return f"KERNEL_{function}(" in source


def run_head(team: bool, out: str = "out") -> str:
    """The head of the function that runs a kernel: on every thread of a team, or on one."""
    parameters = f"void *state, const void *const *in, void *{out}, void *workspace"
    return f"static void KERNEL_{'team' if team else 'run'}({parameters})"


def callers(kernel: Kernel) -> str:
    """Who calls the kernel (see `ENTRY`). What libraries do is not known."""
    if has(kernel.source, "team"):
        return "KORCH_TEAM"
    opens = kernel.libraries or _SHARES.search(kernel.source)
    return "KORCH_OPENS" if opens else "KORCH_SINGLE"


def is_helped(kernel: Kernel) -> bool:
    """Whether threads take turns from each other."""
    return "korch_share_out(" in kernel.source


def _row(n: Numbered, prefix: str) -> str:
    if not n.kernel.source:
        return "  {NULL, NULL, NULL, 0, KORCH_OPENS},"
    run = "team" if n.has("team") else "run"
    names = (f"{prefix}k{n.number}_{f}" if n.has(f) else "NULL" for f in ("init", run, "free"))
    return f"  {{{', '.join(names)}, {n.kernel.workspace}, {callers(n.kernel)}}},"


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
    return f'__attribute__((visibility("hidden"))) {result} korch_k{i}_{function}({parameters})'


def _declarations(numbered: Iterable[Numbered]) -> list[str]:
    every = [f"{_declaration(n.number, f)};" for n in numbered for f in _SHAPES if n.has(f)]
    return list(dict.fromkeys(every))


def _forward(i: int, function: str) -> str:
    result, _, arguments = _SHAPES[function]
    call = f"k{i}_{function}({arguments});"
    return f"{_declaration(i, function)} {{ {'' if result == 'void' else 'return '}{call} }}"


def unit_text(numbered: Sequence[Numbered]) -> str:
    """The C text of a translation unit with these kernels, for others to call, but for the functions that they share
    with others."""
    texts = _texts(numbered)
    declared = declarations(texts, shared_by(numbered))
    forwards = [_forward(n.number, f) for n in numbered for f in _SHAPES if n.has(f)]
    return "\n".join((_head(n.kernel for n in numbered), *declared, *texts, *forwards, ""))


def functions_text(functions: Mapping[str, str], numbered: Sequence[Numbered]) -> str:
    """The C text of a translation unit with some of the functions that the kernels share with others."""
    declared = declarations(functions.values(), shared_by(numbered))
    users = (n.kernel for n in numbered if any(name in functions for name in n.functions))
    return "\n".join((_head(users), *declared, *public_functions(functions.values())))


def table_text(numbered: Sequence[Numbered]) -> str:
    """The C text with the table of kernels that lie in units."""
    return "\n".join((include(RUNTIME), ENTRY, *_declarations(numbered), _table(numbered, "korch_")))
