"""The `recurrent` backend: one Recurrence whose weights are constant."""

from __future__ import annotations

import math
from pathlib import Path

import korch.backends.cpu
from korch.backends.contract import Kernel, Refusal, Variant
from korch.backends.cpu.loops.refusals import LARGEST
from korch.backends.cpu.recurrent.emit import emit
from korch.backends.libraries import backend_digest
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.machine import Machine


class Recurrent:
    """Weights are packed once, in the order in which steps read them."""

    name = "recurrent"
    fallback = False

    @property
    def version(self) -> str:
        return f"1 {backend_digest(Path(korch.backends.cpu.__path__[0]) / 'loops')}"

    def refuses(self, cone: Cone) -> Refusal | None:
        (first, *others), tensors = cone.primitives, (*cone.leaves, cone.root)
        if others or not first.spec.recurs:
            return Refusal("is not one recurrence")
        if not first.inputs[1].const:
            return Refusal("has computed weights")
        if any(t.dtype != "float32" or not 1 < t.size <= LARGEST for t in tensors):
            return Refusal("has tensors of one number, of none, of more than 2^31, or not of float32")
        return None

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Arithmetic at peak, or every leaf read and every state written once."""
        return machine.roofline(2 * multiply_adds(cone.primitives[0]), sum(t.nbytes for t in (*cone.leaves, cone.root)))

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        """Threads that share the units of each step, and meet behind it; or that never meet."""
        _, directions, batch, _ = cone.root.shape
        parts = min(batch, math.ceil(threads / directions))
        codes = {"apart": emit(cone, threads, together=False, parts=parts)}
        if threads > 1:
            codes["together"] = emit(cone, threads, together=True, parts=1)
        return tuple(Kernel(cone, self.name, Variant(way), code) for way, code in codes.items())


BACKEND = Recurrent()
