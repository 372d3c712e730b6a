"""Kernels that have been compiled, in object files of a folder, for whoever makes another library of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from korch.backends.cpu.c import Code
from korch.backends.cpu.c.printing import code_digest
from korch.backends.libraries import find_libraries
from korch.backends.program import (
    Numbered,
    functions_text,
    share_out,
    share_out_functions,
    shared_by,
    table_text,
    unit_text,
)
from korch.backends.toolchain import SourceText, Toolchain
from korch.system.folders import owned_folder, removed_with

MOST_KEPT = 4000
"""Kernels after which a thread's objects are begun anew: 20 KB each in the folder of temporary files."""
_of_thread = threading.local()


def units_here(toolchain: Toolchain) -> Units:
    """Those of this thread, for all of its searches: of a model with other shapes, four of five functions that kernels
    share are equal. (`mobilenet`, the third batch size: 4.7 s of compilers without, 2.4 with.)"""
    key = os.getpid(), toolchain
    units: Units | None = getattr(_of_thread, "units", None)
    if units is None or _of_thread.key != key or units.count > MOST_KEPT or not units.folder.is_dir():
        units = Units(owned_folder("korch-units-"))
        removed_with(units, units.folder)
        _of_thread.units, _of_thread.key = units, key
    return units


@dataclass(frozen=True)
class _Compiled:
    """The number of a kernel, and the object in which it lies."""

    number: int
    unit: Path


class Units:
    """Each kernel is compiled once and keeps its number, and so is each function that kernels share; libraries are
    linked of the objects in which theirs lie, without what else is in there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, _Compiled] = {}
        self._functions: dict[str, Path] = {}
        self._count = 0

    @property
    def count(self) -> int:
        """How many kernels there are."""
        return len(self._known)

    def compile_library(
        self,
        toolchain: Toolchain,
        codes: Sequence[Code | None],
        output: Path,
        size: int,
        jobs: int,
        completed: Callable[[str], SourceText] = str,
        defines: Sequence[str] = (),
        limit: float | None = None,
        beside: Path | None = None,
    ) -> None:
        """Makes the shared library `output` with a table of the kernels' `codes` in their order, and what `completed`
        puts after the table's text. New kernels are compiled in units of about `size`, each within `limit` seconds and
        while nobody else holds the lock `beside`. BackendError where that fails."""
        coded = [(code_digest(code), code) if code else ("", None) for code in codes]
        fresh = {key: code for key, code in coded if code and key not in self._known}
        numbered = [Numbered(n, code) for n, code in enumerate(fresh.values(), len(self._known))]
        keys = dict(zip((n.number for n in numbered), fresh, strict=True))
        texts: dict[str, SourceText] = {}
        functions = dict(self._functions)
        new = {name: text for name, text in shared_by(numbered).items() if name not in functions}
        for i, some in enumerate(share_out_functions(new, jobs), self._count):
            texts[f"functions{i}.c"] = functions_text(some, numbered)
            functions |= dict.fromkeys(some, self.folder / f"functions{i}.o")
        known = dict(self._known)
        for i, unit in enumerate(share_out(numbered, size, jobs), self._count):
            texts[f"unit{i}.c"] = unit_text(unit)
            known |= {keys[n.number]: _Compiled(n.number, self.folder / f"unit{i}.o") for n in unit}
        used = [known[key] for key, code in coded if code]
        objects = [
            p for p in dict.fromkeys((*functions.values(), *(u.unit for u in used))) if f"{p.stem}.c" not in texts
        ]
        texts["table.c"] = completed(
            table_text([Numbered(known[key].number if code else 0, code) for key, code in coded])
        )
        libraries = find_libraries(name for code in codes if code for name in code.libraries)
        toolchain.compile_library(
            texts,
            output,
            libraries,
            jobs=jobs,
            defines=defines,
            objects=objects,
            keep=self.folder,
            limit=limit,
            beside=beside,
        )
        self._known, self._functions, self._count = known, functions, self._count + len(texts) - 1
