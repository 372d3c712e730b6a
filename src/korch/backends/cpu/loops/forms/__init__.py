"""The kernel forms of the loops: every file here defines one as `FORM`.

In: a cone. Out: the form that builds it. Start with `../form.py` and `loop_nests.py`; a new form is a new file.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module

from korch.backends.cpu.loops.form import KernelForm
from korch.ir.cone import Cone


@cache
def all_forms() -> tuple[KernelForm, ...]:
    """Every form, the highest priority first."""
    forms: list[KernelForm] = [import_module(f"{__name__}.{m.name}").FORM for m in pkgutil.iter_modules(__path__)]
    return tuple(sorted(forms, key=lambda form: -form.priority))


def form_of(cone: Cone) -> KernelForm:
    """The form that builds or refuses `cone`."""
    return next(form for form in all_forms() if form.matches(cone))
