"""Kernels that have been compiled, in object files of a folder, for whoever makes another library of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from korch.backends.contract import Kernel
from korch.backends.libraries import Library
from korch.backends.program import code_of, share_out, table_text, unit_text
from korch.backends.toolchain import Text, Toolchain


class Units:
    """Each kernel is compiled once and keeps its number; libraries are linked of the objects in which theirs lie, with
    what else is in there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._numbers: dict[str, int] = {}
        self._objects: dict[str, Path] = {}
        self._count = 0

    def compile_library(
        self,
        toolchain: Toolchain,
        kernels: Sequence[Kernel],
        output: Path,
        libraries: Sequence[Library],
        size: int,
        jobs: int,
        completed: Callable[[str], Text] = str,
        defines: Sequence[str] = (),
    ) -> None:
        """Makes the shared library `output` with a table of the `kernels` in their order, and what `completed` puts
        behind the table's text. New kernels are compiled in units of about `size`. BackendError where that fails."""
        codes = [code_of(k) for k in kernels]
        fresh = {c: k for c, k in zip(codes, kernels, strict=True) if k.source and c not in self._numbers}
        numbers = self._numbers | {c: len(self._numbers) + i for i, c in enumerate(fresh)}
        units = share_out([(numbers[c], k) for c, k in fresh.items()], size, jobs)
        names = [f"unit{self._count + i}" for i in range(len(units))]
        texts = {f"{name}.c": unit_text(unit) for name, unit in zip(names, units, strict=True)}
        table = table_text([(numbers.get(c, 0), k) for c, k in zip(codes, kernels, strict=True)])
        known = dict.fromkeys(self._objects[c] for c in codes if c in self._objects)
        toolchain.compile_library({**texts, "table.c": completed(table)}, output, libraries, jobs=jobs,
                                  defines=defines, objects=tuple(known), keep=self.folder)  # fmt: skip
        self._numbers, self._count = numbers, self._count + len(units)
        for name, unit in zip(names, units, strict=True):
            self._objects |= {code_of(k): self.folder / f"{name}.o" for _, k in unit}
