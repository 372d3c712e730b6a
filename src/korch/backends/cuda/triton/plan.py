"""Which launches compute a cone: one for all of it where that can be, else what others need is stored first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from korch.backends.contract import Kernel, StageVariant, Variant
from korch.backends.cuda.triton import windows
from korch.backends.cuda.triton.maps import MustStore, mappings, write_map
from korch.backends.cuda.triton.program import TritonModule
from korch.backends.cuda.triton.reductions import forms, write_rows
from korch.backends.cuda.triton.rows import Rows, rows_of
from korch.backends.cuda.triton.split import chunks_of, write_split
from korch.backends.cuda.triton.stages import ReductionStage, is_stage
from korch.ir.cone import Cone
from korch.ir.tensor import Tensor

MOST_COPIES = 100
"""How often a value may be computed again because windows overlap."""
CHOICES = 3
SPLIT = "split {}"
"""The form of launches that split rows into so many chunks."""


def kernels(cone: Cone, backend: str, multiprocessors: int) -> tuple[Kernel, ...]:
    """The kernels worth measuring, all different, the likely best first."""
    found: dict[str, Kernel] = {}
    tries = [_Plan(cone, multiprocessors, choice).kernel(backend) for choice in range(CHOICES)]
    stages = [p.output for p in cone.primitives if is_stage(p) and p.output != cone.root]
    if any(is_stage(p) for p in cone.primitives):
        split = _Plan(cone, multiprocessors, 0, splits=True, cuts=set(stages)).kernel(backend)
        few = max(launch.grid[0] for launch in tries[0].launches) < multiprocessors // 4
        if any(s.variant.form == SPLIT for s in split.variant.stages):
            tries = [split, *tries] if few else [*tries, split]
    for kernel in tries:
        found.setdefault(kernel.source, kernel)
    return tuple(found.values())


@dataclass
class _Plan:
    """One way to cut a cone into launches. `splits`: few long rows are split among blocks."""

    cone: Cone
    multiprocessors: int
    choice: int
    splits: bool = False
    cuts: set[Tensor] = field(default_factory=set[Tensor])

    def kernel(self, backend: str) -> Kernel:
        self.cuts |= _below_windows(self.cone)
        while True:
            try:
                return self._written(backend)
            except MustStore as cut:
                assert cut.tensor not in self.cuts and cut.tensor != self.cone.root, cut
                self.cuts.add(cut.tensor)

    def _written(self, backend: str) -> Kernel:
        program = TritonModule(self.cone)
        launches = list[Variant]()
        for p in self.cone.primitives:
            if p.output in self.cuts and p.output not in program.stored:
                launches.append(self._first(program, p.output))
        launches.append(self._launch(program, [self.cone.root], self.choice))
        return program.kernel(backend, Variant(stages=tuple(map(StageVariant, launches))))

    def _first(self, program: TritonModule, t: Tensor) -> Variant:
        """The launch that stores `t`, and what may be stored with it."""
        together = self._beside(program, t)
        try:
            return self._launch(program, together, 0)
        except MustStore as cut:
            if cut.tensor not in together:
                raise
        return self._launch(program, [t], 0)

    def _launch(self, program: TritonModule, targets: Sequence[Tensor], choice: int) -> Variant:
        if not any(is_stage(p) for p in program.reach(targets)):
            ways = mappings(program, targets[0], self.multiprocessors)
            how = ways[min(choice, len(ways) - 1)]
            write_map(program, targets[0], how)
            return how.variant
        return self._reduce(program, rows_of(program, targets), choice)

    def _reduce(self, program: TritonModule, rows: Rows, choice: int) -> Variant:
        chunks = chunks_of(program, rows, self.multiprocessors) if self.splits else 1
        if chunks > 1:
            write_split(program, rows, chunks)
            return Variant(SPLIT, numbers=(chunks,))
        ways = forms(rows, self.multiprocessors)
        how = ways[min(choice, len(ways) - 1)]
        write_rows(program, rows, how)
        return how.variant

    def _beside(self, program: TritonModule, first: Tensor) -> list[Tensor]:
        """`first`, and what else must be stored that is folded from as many elements in rows of the same shape."""
        made, chosen = self.cone.makers, [first]
        if not is_stage(made[first]):
            return chosen
        for p in self.cone.primitives:
            t = p.output
            if t not in self.cuts or t in program.stored or t == first or not is_stage(p):
                continue
            needs = self.cuts.intersection(q.output for q in program.reach((t,))) - {t}
            alike = t.shape == first.shape and ReductionStage(p).length == ReductionStage(made[first]).length
            if alike and (not needs if self.splits else needs.issubset(chosen)):
                chosen.append(t)
        return chosen


def _below_windows(cone: Cone) -> set[Tensor]:
    """Windows that others read too often to be computed each time."""
    copies: dict[Tensor, int] = {cone.root: 1}
    cuts: set[Tensor] = set()
    for p in reversed(cone.primitives):
        written_out = windows.is_window(p) and not is_stage(p)
        own = copies.get(p.output, 1)
        taps = windows.taps(p) if written_out else p.attr("taps") if p.spec.interpolates else 1
        if own * taps > MOST_COPIES and own > 1:
            cuts.add(p.output)
            own = 1
        for t in p.inputs:
            copies[t] = max(copies.get(t, 1), 1 if is_stage(p) else own * taps)
    return cuts
