"""The `triton` backend: cones become TritonBackend functions, blocks of threads work on tiles.

An index of a Take that lies outside of its axis means the nearest element: a device has no way to end a run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from types import ModuleType

from korch.backends.contract import Alias, Kernel, Refusal, Variant
from korch.backends.cuda.triton import refusals
from korch.backends.cuda.triton.plan import kernels
from korch.backends.footprint import footprint
from korch.backends.precision import allowed
from korch.backends.views import is_view
from korch.errors import BackendError
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.ops.table import Category
from korch.machine import Machine

FREE = (Category.LAYOUT, Category.BROADCAST)
LINEAR = "korch.backends.cuda.triton.linear"


@dataclass(frozen=True)
class TritonBackend:
    """Elementwise, broadcast, reduce and layout primitives in any chain; compute-intensive ones by templates.

    `precisions` are what matrix products may be computed in.
    """

    precisions: tuple[str, ...] = allowed("default")
    name: str = "triton"
    fallback: bool = False

    @property
    def version(self) -> str:
        try:
            return f"3 triton {installed('triton')}"
        except PackageNotFoundError:
            raise BackendError("TritonBackend is not installed: pip install 'korch[cuda]'") from None

    def under(self, numerics: str) -> TritonBackend:
        return replace(self, precisions=allowed(numerics))

    def refuses(self, cone: Cone) -> Refusal | None:
        linear = _templates() if _is_linear(cone) else None
        reason = linear.refusal(cone) if linear else refusals.refusal(cone)
        return Refusal(reason) if reason else None

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Bytes and arithmetic that no kernel avoids; nothing at all for a view."""
        if is_view(cone):
            return 0.0
        if _is_linear(cone) and (linear := _templates()):
            return linear.bound(cone, machine, self.precisions)
        moved, computed = footprint(cone)
        work = sum(n for p, n in computed.items() if p.category not in FREE and not p.intensive)
        return machine.roofline(work + 2 * sum(map(multiply_adds, cone.linear)), moved)

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        if is_view(cone):
            return (Kernel(cone, self.name, Variant(), Alias()),)
        if _is_linear(cone) and (linear := _templates()):
            return linear.build(cone, threads, self.precisions)
        return kernels(cone, self.name, threads)


def _is_linear(cone: Cone) -> bool:
    """Whether a template takes the cone, if any does."""
    return bool(cone.linear) and not refusals.heads(cone)


@cache
def _templates() -> ModuleType | None:
    """The templates for compute-intensive primitives."""
    try:
        return import_module(LINEAR)
    except ModuleNotFoundError as e:
        if e.name != LINEAR:
            raise
        return None


BACKEND = TritonBackend()
