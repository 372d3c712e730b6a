"""Attention as one call of torch's fused implementations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from korch.backends.contract import Kernel, Refusal, Variant
from korch.backends.cuda.vendor.heads import Attention, find_attention
from korch.backends.cuda.vendor.kernel import kernel
from korch.backends.cuda.vendor.operands import CallOperand, refusal, whole_axes
from korch.ir import Cone


def attention_kernels(cone: Cone, precisions: Sequence[str]) -> tuple[Kernel, ...] | Refusal:
    """A kernel for each implementation that torch has of such an attention."""
    found = find_attention(cone)
    if isinstance(found, Refusal):
        return found
    if reason := refusal(cone, found.views):
        return Refusal(reason)
    kernels = tuple(_kernel(cone, found, p, name) for p, name in _implementations(found, precisions))
    return kernels or Refusal(
        f"no fused attention for heads of {found.q.shape[-1]} and {found.v.shape[-1]} numbers "
        f"in {', '.join(precisions)}"
    )


def _implementations(a: Attention, precisions: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(precision, implementation). That for float32 multiplies three times in TF32, which is nearly exact."""
    sizes = (a.q.shape[-1], a.v.shape[-1])
    if {"tf32", "tf32x3"} & set(precisions) and not any(n % 4 for n in sizes):
        yield "tf32x3", "efficient"
    for precision in (p for p in precisions if p in ("fp16", "bf16") and not any(n % 8 for n in sizes)):
        yield precision, "efficient"
        if sizes[0] == sizes[1] <= 256 and a.mask is None:
            yield precision, "flash"
        if sizes[0] == sizes[1] <= 128:
            yield precision, "cudnn"


def _kernel(cone: Cone, a: Attention, precision: str, implementation: str) -> Kernel:
    operands = {
        "q": CallOperand(whole_axes(a.q)),
        "k": CallOperand(whole_axes(a.k)),
        "v": CallOperand(whole_axes(a.v)),
        "out": CallOperand(whole_axes(a.out)),
        "mask": CallOperand(a.mask) if a.mask else None,
    }
    return kernel(
        cone,
        Variant(f"attention {implementation}", precision),
        "attention",
        operands,
        implementation=implementation,
        scale=a.scale,
    )
