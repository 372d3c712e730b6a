"""The `scatter` backend: one Scatter, what computes its operands, and elementwise primitives behind it."""

from __future__ import annotations

from pathlib import Path

import korch.backends.cpu
from korch.backends.contract import Kernel, Refusal
from korch.backends.cpu.loops.refusals import MOST_LEAVES, primitive_refusal, tensor_refusal
from korch.backends.cpu.loops.work import operations
from korch.backends.cpu.scatter.emit import emit
from korch.backends.cpu.scatter.shares import shares
from korch.backends.footprint import footprint
from korch.backends.libraries import backend_digest
from korch.ir.cone import Cone
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.machine import Machine


class Scatters:
    """Every element of the result is computed by one thread, which takes the updates in their order."""

    name = "scatter"
    fallback = False

    @property
    def version(self) -> str:
        return f"1 {backend_digest(Path(korch.backends.cpu.__path__[0]) / 'loops')}"

    def refuses(self, cone: Cone) -> Refusal | None:
        found = [p for p in cone.primitives if p.spec.scatters]
        if len(found) != 1:
            return Refusal(f"has {len(found)} Scatters; one is taken")
        reasons = (_refusal(p, found[0]) for p in cone.primitives)
        if reason := next(filter(None, reasons), "") or _epilogue_refusal(cone, found[0]):
            return Refusal(reason)
        if len(cone.leaves) > MOST_LEAVES:
            return Refusal(f"has more than {MOST_LEAVES} leaves")
        return None

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Bytes and arithmetic that no order of the updates avoids."""
        moved, computed = footprint(cone)
        work = operations(cone, computed)
        heavy = sum(machine.element(op) * count for op, count in work.items())
        return machine.roofline(sum(work.values()), moved, heavy)

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        """One for each way in which threads may share out the result."""
        return tuple(Kernel(cone, self.name, share.variant, emit(cone, share)) for share in shares(cone, threads))


def _refusal(p: Primitive, scatter: Primitive) -> str:
    if reason := primitive_refusal(p) if p != scatter else tensor_refusal(p):
        return f"{p.output.name}: {reason}"
    if p != scatter and p.category in (Category.REDUCE, Category.LINEAR):
        return f"{p.output.name}: {p.op} beside a Scatter"
    return ""


def _epilogue_refusal(cone: Cone, scatter: Primitive) -> str:
    """Why what follows the Scatter cannot be computed where its result lies; empty if it can."""
    after, y = {scatter.output}, scatter.output
    for p in cone.primitives:
        if not after.isdisjoint(p.inputs):
            if p.category is not Category.ELEMENTWISE or p.output.shape != y.shape:
                return f"{p.output.name}: {p.op} behind a Scatter"
            after.add(p.output)
    if cone.root not in after or cone.root.dtype != y.dtype:
        return f"{cone.root.name}: does not take the place of the Scatter's result"
    return ""


BACKEND = Scatters()
