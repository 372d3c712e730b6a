"""Kernels whose C a test writes by hand."""

from __future__ import annotations

from collections.abc import Sequence

from korch.backends.contract import Kernel, Variant
from korch.backends.cpu.c import Code, run_function
from korch.backends.cpu.c.tree import Declaration, free_function, init_function
from korch.ir.cone import Cone


def code(
    run: str,
    *,
    team: bool = False,
    init: str = "",
    free: str = "",
    steals: bool = False,
    before: Sequence[Declaration] = (),
    workspace: int = 0,
    opens: bool = False,
    headers: tuple[str, ...] = (),
    libraries: tuple[str, ...] = (),
) -> Code:
    """The code of a kernel that `run` runs, on one thread or on each of a team; all are statements of C."""
    state = [*([init_function([init])] if init else []), *([free_function([free])] if free else [])]
    functions = (*before, *state, run_function(team, [run], steals))
    return Code(functions, workspace, headers, libraries, opens)


def by_hand(cone: Cone, code: Code, form: str = "", backend: str = "by-hand") -> Kernel:
    """The kernel with that code."""
    return Kernel(cone, backend, Variant(form), code)
