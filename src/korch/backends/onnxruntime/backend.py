"""onnxruntime runs any single primitive: opaque ones, and whatever nothing faster builds."""

from __future__ import annotations

from importlib import import_module

from korch.backends.contract import Host, Kernel, Refusal, Variant
from korch.ir.cone import Cone
from korch.ir.onnx_write import cone_to_onnx
from korch.machine import Machine

CALL = 10e-6  # seconds that a call of a session takes at least


class OnnxRuntime:
    """One primitive as a model of its own, an opaque one at its own opset; the program's buffers are bound to it."""

    name = "onnxruntime"
    version: str = import_module("onnxruntime").__version__
    fallback = True

    def refuses(self, cone: Cone) -> Refusal | None:
        count = len(cone.primitives)
        return None if count == 1 else Refusal(f"has {count} primitives; onnxruntime takes one")

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Every leaf is read and the root written, after a call."""
        moved = cone.root.nbytes + sum(t.nbytes for t in cone.leaves if t.value is None)
        return CALL + moved / machine.bandwidth(moved)

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        return (Kernel(cone, self.name, Variant(), Host(cone_to_onnx(cone).SerializeToString())),)


BACKEND = OnnxRuntime()
