"""Kernels become one C program: the runtime, each header once, every kernel under its own prefix, a table.

The library exports `const korch_entry korch_kernels[]` and `const int korch_kernel_count`. Entry i belongs to kernel
i; where nothing native runs (an alias, a host kernel) its `run` is NULL.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

from korch.backends.contract import Kernel
from korch.backends.libraries import HERE
from korch.errors import BackendError

RUNTIME = "korch_rt.h"

ENTRY = """\
typedef struct {
  int (*init)(void **state, const void *const *in);  // NULL: no state
  void (*run)(void *state, const void *const *in, void *out, void *workspace);
  void (*free)(void *state);
  size_t workspace;  // bytes
} korch_entry;
"""

_MARK = re.compile(r"\bKERNEL_")
APART = "__attribute__((noinline))"
"""The line before a function that is compiled for itself: within a longer one, compilers keep sums in memory."""
_APART = re.compile(rf"^{re.escape(APART)}\nstatic void (\w+)\(.*?^}}\n", re.M | re.S)


def compose(kernels: Sequence[Kernel]) -> str:
    """The C text of one translation unit that holds all of `kernels` and their table."""
    return "\n".join((_head(kernels), *_bodies(enumerate(kernels)), _table(kernels, "")))


def compose_units(kernels: Sequence[Kernel], size: int) -> dict[str, str]:
    """The same program as texts by file name, at most `size` kernels in each, to be compiled side by side."""
    if len(kernels) <= size:
        return {"program.c": compose(kernels)}
    numbered = list(enumerate(kernels))
    units = {f"unit{at // size}.c": _unit(numbered[at : at + size]) for at in range(0, len(numbered), size)}
    table = "\n".join((include(RUNTIME), ENTRY, *_declarations(numbered), _table(kernels, "korch_")))
    return {**units, "table.c": table}


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


def _bodies(numbered: Iterable[tuple[int, Kernel]]) -> list[str]:
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
    """Whether the text of a kernel has its own "init", "run" or "free"."""
    return bool(re.search(rf"\bKERNEL_{function}\b", source))


def _row(kernel: Kernel, i: int, prefix: str) -> str:
    if not kernel.source:
        return "  {NULL, NULL, NULL, 0},"
    names = (f"{prefix}k{i}_{f}" if has(kernel.source, f) else "NULL" for f in ("init", "run", "free"))
    return f"  {{{', '.join(names)}, {kernel.workspace}}},"


def _table(kernels: Sequence[Kernel], prefix: str) -> str:
    rows = [_row(kernel, i, prefix) for i, kernel in enumerate(kernels)] or ["  {NULL, NULL, NULL, 0},"]
    return "\n".join((
        "_Thread_local int korch_out_of_range = 0;",
        "extern const korch_entry korch_kernels[];",
        "extern const int korch_kernel_count;",
        "const korch_entry korch_kernels[] = {",
        *rows,
        "};",
        f"const int korch_kernel_count = {len(kernels)};",
        "",
    ))  # fmt: skip


# Several units: their kernels stay static, so hidden functions with program-wide names lead to them.

_SHAPES = {
    "init": ("int", "void **state, const void *const *in", "state, in"),
    "run": ("void", "void *state, const void *const *in, void *out, void *workspace", "state, in, out, workspace"),
    "free": ("void", "void *state", "state"),
}


def _declaration(i: int, function: str) -> str:
    result, parameters, _ = _SHAPES[function]
    return f'__attribute__((visibility("hidden"))) {result} korch_k{i}_{function}({parameters})'


def _declarations(numbered: Iterable[tuple[int, Kernel]]) -> list[str]:
    return [f"{_declaration(i, f)};" for i, kernel in numbered for f in _SHAPES if has(kernel.source, f)]


def _forward(i: int, function: str) -> str:
    result, _, arguments = _SHAPES[function]
    call = f"k{i}_{function}({arguments});"
    return f"{_declaration(i, function)} {{ {'' if result == 'void' else 'return '}{call} }}"


def _unit(numbered: Sequence[tuple[int, Kernel]]) -> str:
    forwards = [_forward(i, f) for i, kernel in numbered for f in _SHAPES if has(kernel.source, f)]
    return "\n".join((_head([kernel for _, kernel in numbered]), *_bodies(numbered), *forwards, ""))
