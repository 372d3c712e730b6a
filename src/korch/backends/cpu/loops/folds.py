"""Folds and their accumulators: where a reduction starts, how it takes a value, and its result."""

from __future__ import annotations

import math
from dataclasses import dataclass

from korch.backends.cpu.loops.binding import Stage
from korch.backends.cpu.loops.ctypes import C_TYPES, extreme, wrapping
from korch.backends.cpu.loops.pools import averaged
from korch.ir.ops.table import Aggregate

OPENMP = {Aggregate.LARGEST: "max", Aggregate.SMALLEST: "min", Aggregate.PRODUCT: "*"}
"""Reductions as OpenMP names them; of all else, sums of products too, it is +."""


@dataclass(frozen=True)
class Fold:
    """The fold of a stage, which has accumulators of its own: `values`, C names, in each turn of the innermost loop."""

    s: Stage
    values: list[str]
    suffix: str = ""

    @property
    def acc(self) -> str:
        return f"acc{self.suffix}"

    @property
    def part(self) -> str:
        """The name of the partial accumulator."""
        return f"part{self.suffix}"

    @property
    def nan(self) -> str:
        """The name of the flag that a value was NaN."""
        return f"nan{self.suffix}"

    @property
    def floating(self) -> bool:
        return C_TYPES[self.s.tensor.dtype] in ("float", "double")

    @property
    def ctype(self) -> str:
        """Of the accumulators."""
        wraps = not self.floating and self.omp in ("+", "*")
        return wrapping(self.s.tensor.dtype) if wraps else C_TYPES[self.s.tensor.dtype]

    @property
    def loses_nan(self) -> bool:
        """Whether the reduction of OpenMP by that name forgets NaN."""
        return self.floating and self.omp in ("max", "min")

    @property
    def start(self) -> str:
        """The C of the accumulator's first value."""
        match self.s.maker.spec.aggregate:
            case Aggregate.LARGEST:
                return "-INFINITY" if self.floating else _least_or_greatest(self.s.tensor.dtype, low=True)
            case Aggregate.SMALLEST:
                return "INFINITY" if self.floating else _least_or_greatest(self.s.tensor.dtype, low=False)
            case Aggregate.PRODUCT:
                return "1"
            case _:
                return "0"

    @property
    def omp(self) -> str:
        """The reduction as OpenMP names it."""
        return OPENMP.get(self.s.maker.spec.aggregate or Aggregate.SUM, "+")

    def step(self, into: str, value: str) -> str:
        """The statement that folds a value into an accumulator."""
        if self.omp in ("max", "min"):
            return f"{into} = {extreme(self.omp == 'max', self.floating, into, value)};"
        return f"{into} {self.omp}= {value};"

    def steps(self, into: str) -> list[str]:
        """The statements that fold all values of a turn."""
        if self.loses_nan and len(self.values) > 1:
            return self._several(into)
        return [self.step(into, v) for v in self.values]

    def _several(self, into: str) -> list[str]:
        """Folds all values at once: one comparison tells of two whether either is NaN. (Windows of 3x3 in 64 planes of
        28x28: 56 us, and 145 where each step keeps NaN.)"""
        ctype, name = self.ctype, f"most{self.suffix}_"
        all_of = [into, *self.values]
        pairs = [all_of[i : i + 2] for i in range(0, len(all_of), 2)]
        unordered = " | ".join(f"__builtin_isunordered({pair[0]}, {pair[-1]})" for pair in pairs)
        lines, most = list[str](), into
        for i, v in enumerate(self.values):
            lines.append(f"const {ctype} {name}{i} = {extreme(self.omp == 'max', False, most, v)};")
            most = f"{name}{i}"
        return [*lines, f"{into} = {unordered} ? NAN : {most};"]

    def part_steps(self) -> list[str]:
        """The statements that fold into the partial accumulator; a NaN, into a flag. (The maximum of 1024 floats in the
        first-level cache takes 81 ns where NaN is lost, 92 with a flag, 202 where each step keeps NaN.)"""
        if not self.loses_nan:
            return self.steps(self.part)
        folded = [f"{self.part} = {extreme(self.omp == 'max', False, self.part, v)};" for v in self.values]
        return [*folded, *(f"{self.nan} |= {v} != {v};" for v in self.values)]

    def part_opened(self) -> tuple[list[str], str]:
        """The declarations of the partial accumulator and its flag, and their reductions as OpenMP names them."""
        ctype = self.ctype
        lines, clause = [f"{ctype} {self.part} = {self.start};"], f"reduction({self.omp}:{self.part})"
        if not self.loses_nan:
            return lines, clause
        flag = "int64_t" if ctype == "double" else "int32_t"  # as wide as the values: vectors have as many lanes
        return [*lines, f"{flag} {self.nan} = 0;"], f"{clause} reduction(|:{self.nan})"

    def part_closed(self) -> str:
        """The statement that folds the partial accumulator into the accumulator."""
        return self.step(self.acc, f"({self.nan} ? NAN : {self.part})" if self.loses_nan else self.part)

    def end(self, acc: str) -> str:
        """The C of the result from an accumulator."""
        p, ctype = self.s.maker, C_TYPES[self.s.tensor.dtype]
        if ctype != self.ctype:
            acc = f"({ctype}){acc}"
        if p.spec.averages and p.spec.folds:
            axes: tuple[int, ...] = p.attr("axes")
            return f"{acc} / {math.prod(p.inputs[0].shape[a] for a in axes)}"
        if p.spec.averages and p.spec.is_pool:
            return f"{acc} / {averaged(self.s)}"
        return acc


def _least_or_greatest(dtype: str, low: bool) -> str:
    if dtype == "bool":
        return "0" if low else "1"
    bits = "".join(c for c in dtype if c.isdigit())
    if dtype.startswith("u"):
        return "0" if low else f"UINT{bits}_MAX"
    return f"INT{bits}_{'MIN' if low else 'MAX'}"
