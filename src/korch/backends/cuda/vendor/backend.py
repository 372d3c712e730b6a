"""The backend of NVIDIA's libraries (paper section 5.2, vendor libraries): what torch can ask cuBLAS and cuDNN for."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from korch.backends.contract import Kernel, Refusal
from korch.backends.cuda.vendor.attention import attention_kernels
from korch.backends.cuda.vendor.convolutions import convolution_kernels
from korch.backends.cuda.vendor.products import product_kernels
from korch.backends.footprint import footprint
from korch.backends.linear.pattern import match
from korch.backends.linear.product import matmul_product, pointwise_product
from korch.backends.precision import HALVES, allowed, peak
from korch.ir import Cone
from korch.ir.macs import total
from korch.machine import Machine

NOTHING = Refusal("has no linear primitive")
SEVERAL = Refusal("has several linear primitives and is no attention")
ATTENTION = ("MatMul", "MatMul")
TAKEN = frozenset(
    (
        "MatMul",
        "Conv",
        "ConvTranspose",
        "Transpose",
        "Reshape",
        "Slice",
        "Expand",
        "Identity",
        "Add",
        "Mul",
        "Div",
        "Neg",
        "Relu",
        "Max",
        "Tanh",
        "Pow",
    )
)
"""What a cone around one linear primitive may be made of: more is refused at a glance."""


@dataclass(frozen=True)
class Vendor:
    """One product or convolution with a scale, a bias, a residual and a Relu as far as one call has them; attention.

    It offers the `precisions` that the numerics allow. Plans can be made without torch; running them takes it.
    """

    precisions: tuple[str, ...] = allowed("default")

    name = "vendor"
    fallback = False

    @property
    def version(self) -> str:
        try:
            return f"3 torch {version('torch')}"
        except PackageNotFoundError:
            return "without torch"

    def under(self, numerics: str) -> Vendor:
        return Vendor(allowed(numerics))

    def refuses(self, cone: Cone) -> Refusal | None:
        if not cone.linear:
            return NOTHING
        kernels = self._kernels(cone)
        return kernels if isinstance(kernels, Refusal) else None

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Arithmetic at the peak of the fastest precision, or every element that is needed moved once."""
        moved, _ = footprint(cone)
        if any(p in HALVES for p in self.precisions):  # constants are prepared then
            moved -= sum(t.nbytes / 2 for t in cone.leaves if t.const)
        seconds = 2 * total(cone.primitives) / peak(machine, self.precisions)
        return machine.roofline(0.0, max(moved, 0.0), seconds)

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        """Every way to ask, in every precision that is allowed."""
        kernels = self._kernels(cone)
        assert not isinstance(kernels, Refusal), f"refused: {kernels.reason}"
        return kernels

    def _kernels(self, cone: Cone) -> tuple[Kernel, ...] | Refusal:
        if len(cone.linear) > 1:
            is_attention = tuple(p.op for p in cone.linear) == ATTENTION
            return attention_kernels(cone, self.precisions) if is_attention else SEVERAL
        other = next((p.op for p in cone.primitives if p.op not in TAKEN), None)
        m = Refusal(f"no call of cuBLAS or cuDNN has {other}") if other else match(cone)
        if isinstance(m, Refusal):
            return m
        if m.linear.spec.is_product:
            return product_kernels(cone, matmul_product(m), self.precisions)
        convolutions, product = convolution_kernels(cone, m, self.precisions), pointwise_product(m)
        return _either(convolutions, product_kernels(cone, product, self.precisions) if product else None)


BACKEND = Vendor()


def _either(
    first: tuple[Kernel, ...] | Refusal, second: tuple[Kernel, ...] | Refusal | None
) -> tuple[Kernel, ...] | Refusal:
    """All kernels there are; where there are none, the first reason."""
    found = [k for some in (first, second) if isinstance(some, tuple) for k in some]
    return tuple(found) if found else first
