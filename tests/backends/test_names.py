"""Names in models are a stranger's text: no name of a tensor changes the code of a kernel."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace

import pytest

from korch.backends.contract import Kernel
from korch.backends.cpu.c.printing import code_digest
from korch.ir import Cone

from .kernels import CASES

HOSTILE = (
    "KERNEL_init(",
    "KERNEL_free(void *state) { abort(); }",
    "KERNEL_team(",
    "korch_share_out(",
    "*/ #error escaped /*",
    "line\n#error after a line end",
    "line\r\u2028\u0085#error after others",
    "joined \\",
    "joined ??/",
    'quotes " and \' and """',
    "$name ${run} $$ %s %n {0} {x}",
    "nul \0 after",
    '_Pragma("GCC error") #pragma omp',
    "x" * 10_000,
    "run",
    "in0",
)


def renamed(cone: Cone, names: tuple[str, ...]) -> Cone:
    """The cone with other names of its tensors, which stay different."""
    tensors = dict.fromkeys(t for p in cone.primitives for t in (*p.inputs, p.output))
    new = {
        t: replace(t, name=f"{i}{names[i % len(names)]}" if i >= len(names) else names[i])
        for i, t in enumerate(tensors)
    }
    return Cone.of([replace(p, inputs=tuple(new[t] for t in p.inputs), output=new[p.output]) for p in cone.primitives])


def turned(k: int) -> tuple[str, ...]:
    return (*HOSTILE[k:], *HOSTILE[:k])


def lines_without_comments(text: str, mark: str) -> Iterator[str]:
    yield from (line.partition(mark)[0].rstrip() for line in text.split("\n"))


def same_code(plain: list[Kernel], hostile: list[Kernel]) -> None:
    assert [k.variant for k in plain] == [k.variant for k in hostile]
    for a, b in zip(plain, hostile, strict=True):
        mark = "//" if a.code else "#"
        assert list(lines_without_comments(a.source, mark)) == list(lines_without_comments(b.source, mark))
        assert a.host == b.host
        if a.code and b.code:
            assert code_digest(a.code) == code_digest(b.code)


@pytest.mark.parametrize("file", CASES)
def test_names_change_no_code_of_processors(file: str):
    case = CASES[file]
    if reason := case.backend.refuses(case.cone):
        pytest.skip(reason)
    k = list(CASES).index(file) % len(HOSTILE)
    hostile = renamed(case.cone, turned(k))
    assert case.backend.refuses(hostile) is None
    same_code(case.backend.build(case.cone, case.threads)[:2], case.backend.build(hostile, case.threads)[:2])


@pytest.mark.skipif(not importlib.util.find_spec("triton"), reason="triton is not installed")
def test_names_change_no_code_of_devices():
    from korch.backends.cuda.triton.backend import BACKEND

    from .cones import CONES

    for k, name in enumerate(("gelu", "where", "concat last", "pad reflect")):
        plain, hostile = CONES[name], renamed(CONES[name], turned(k))
        same_code(BACKEND.build(plain, 4), BACKEND.build(hostile, 4))
