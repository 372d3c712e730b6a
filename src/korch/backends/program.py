"""Kernels become one C program: the runtime, each header once, every kernel under its own prefix, a table.

The library exports `const korch_entry korch_kernels[]` and `const int korch_kernel_count`. Entry i belongs to kernel
i; where nothing native runs (an alias, a host kernel) its `run` is NULL.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from math import ceil

from korch.backends.contract import Kernel
from korch.backends.libraries import HERE
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
Numbered = tuple[int, Kernel]
"""A kernel, and the number in the names of its functions."""
_COMMENT = re.compile(r"^ *//.*\n", re.M)
_NUMBERS = re.compile(r"^( *static const [^=\n]*= )?[\s{]*-?\d[-\d\s,{}]*;?\n", re.M)
_MARK = re.compile(r"\bKERNEL_")
APART = "__attribute__((noinline))"
"""The line before a function that is compiled for itself: within a longer one, compilers keep sums in memory."""
_APART = re.compile(rf"^{re.escape(APART)}\nstatic void (\w+)\(.*?^}}\n", re.M | re.S)


def compose(kernels: Sequence[Kernel]) -> str:
    """The C text of one translation unit that holds all of `kernels` and their table."""
    numbered = list(enumerate(kernels))
    return "\n".join((_head(kernels), *_bodies(numbered), _table(numbered, "")))


def compose_units(kernels: Sequence[Kernel], size: int, jobs: int = 1) -> dict[str, str]:
    """The same program as texts by file name, of about `size` kernels each, so that `jobs` compilers side by side
    have as much to do."""
    numbered = list(enumerate(kernels))
    units = share_out(numbered, size, jobs)
    if len(units) <= 1:
        return {"program.c": compose(kernels)}
    return {**{f"unit{i}.c": unit_text(unit) for i, unit in enumerate(units)}, "table.c": table_text(numbered)}


def share_out(numbered: Sequence[Numbered], size: int, jobs: int) -> list[Sequence[Numbered]]:
    """Neighbours, who have functions in common, in units of about `size` kernels that take equally long."""
    kernels = [kernel for _, kernel in numbered]
    if not kernels:
        return []
    count = min(jobs * ceil(len(kernels) / (jobs * size)), ceil(len(kernels) / FEW))
    ends = list(accumulate(_work(kernels)))
    cuts = [bisect_left(ends, ends[-1] * (i + 1) / count) + 1 for i in range(count - 1)]
    starts = sorted({0, *cuts, len(kernels)})
    return [numbered[a:b] for a, b in pairwise(starts)]


def _work(kernels: Iterable[Kernel]) -> Iterator[int]:
    """What compiling each takes, in characters: numbers in tables take nothing, nor do functions that an earlier one
    has. (Nine tenths of a chain's text may be tables.)"""
    seen: set[str] = set()

    def once(found: re.Match[str]) -> str:
        text = found.group(0).replace(found.group(1), "", 1)
        known = text in seen
        seen.add(text)
        return "" if known else text

    for kernel in kernels:
        yield len(_APART.sub(once, _NUMBERS.sub("", kernel.source))) + HEAD


def code_of(kernel: Kernel) -> str:
    """A digest of what is compiled of the kernel: equal for kernels that differ in what comments call their tensors."""
    return hashlib.sha256("\0".join((_COMMENT.sub("", kernel.source), *kernel.headers)).encode()).hexdigest()


def named_for(kernel: Kernel, cone: Cone) -> Kernel:
    """The kernel for another cone of the same signature, whose tensors comments name then."""
    of, to = ((*c.leaves, *(p.output for p in c.primitives)) for c in (kernel.cone, cone))
    names = {t.name: other.name for t, other in zip(of, to, strict=True)}
    words = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)")
    source = _COMMENT.sub(lambda line: words.sub(lambda m: names[m[0]], line[0]), kernel.source)
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


def _bodies(numbered: Iterable[Numbered]) -> list[str]:
    """The kernels' texts. Equal functions, of strips of several forms or of several kernels, are there once."""
    names: dict[str, str] = {}

    def once(found: re.Match[str]) -> str:
        text, name = found.group(0), found.group(1)
        known = names.setdefault(text.replace(name, "", 1), name)
        return text if known == name else f"#define {name} {known}\n"

    return [_APART.sub(once, renamed(kernel.source, f"k{i}_")) for i, kernel in numbered if kernel.source]


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
    opens = kernel.headers or "#pragma omp parallel" in kernel.source or "korch_out_of_range" in kernel.source
    return "KORCH_OPENS" if opens else "KORCH_SINGLE"


def _row(kernel: Kernel, i: int, prefix: str) -> str:
    if not kernel.source:
        return "  {NULL, NULL, NULL, 0, KORCH_OPENS},"
    run = "team" if has(kernel.source, "team") else "run"
    names = (f"{prefix}k{i}_{f}" if has(kernel.source, f) else "NULL" for f in ("init", run, "free"))
    return f"  {{{', '.join(names)}, {kernel.workspace}, {callers(kernel)}}},"


def _table(numbered: Sequence[Numbered], prefix: str) -> str:
    rows = [_row(kernel, i, prefix) for i, kernel in numbered] or ["  {NULL, NULL, NULL, 0, KORCH_OPENS},"]
    return "\n".join((
        "_Thread_local int korch_out_of_range = 0;",
        "_Thread_local korch_share *korch_shares = NULL;",
        "void korch_join(korch_share *shares) { korch_shares = shares; }",
        "extern const korch_entry korch_kernels[];",
        "extern const int korch_kernel_count;",
        "const korch_entry korch_kernels[] = {",
        *rows,
        "};",
        f"const int korch_kernel_count = {len(numbered)};",
        "",
    ))  # fmt: skip


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
    every = [f"{_declaration(i, f)};" for i, kernel in numbered for f in _SHAPES if has(kernel.source, f)]
    return list(dict.fromkeys(every))


def _forward(i: int, function: str) -> str:
    result, _, arguments = _SHAPES[function]
    call = f"k{i}_{function}({arguments});"
    return f"{_declaration(i, function)} {{ {'' if result == 'void' else 'return '}{call} }}"


def unit_text(numbered: Sequence[Numbered]) -> str:
    """The C text of a translation unit with these kernels, for others to call."""
    forwards = [_forward(i, f) for i, kernel in numbered for f in _SHAPES if has(kernel.source, f)]
    return "\n".join((_head([kernel for _, kernel in numbered]), *_bodies(numbered), *forwards, ""))


def table_text(numbered: Sequence[Numbered]) -> str:
    """The C text with the table of kernels that lie in units."""
    return "\n".join((include(RUNTIME), ENTRY, *_declarations(numbered), _table(numbered, "korch_")))
