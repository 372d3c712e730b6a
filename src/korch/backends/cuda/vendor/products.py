"""Matrix products as calls of cuBLAS: rows of dense results, batches along one axis, a bias or a residual added."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from korch.backends.contract import Kernel, Prepared, Refusal, Variant
from korch.backends.cuda.vendor.epilogue import CallEpilogue, epilogue_of
from korch.backends.cuda.vendor.kernel import kernel
from korch.backends.cuda.vendor.operands import CallOperand, factor, refusal, whole_axes, zeros
from korch.backends.linear.product import Product, folded, has_dense_axis, merged, steps, transposed
from korch.backends.linear.views import View
from korch.ir import Cone

OFFERED = ("ieee", "tf32", "fp16", "bf16")
"""Of all precisions, those that cuBLAS and cuDNN multiply in."""
LOOPS = 16
"""Products of one batch axis that a call may be made of, where several batch axes do not lie in one stride."""


@dataclass(frozen=True, slots=True)
class Gemm:
    """`product` with dense rows of its result and few axes, and what it ends in."""

    product: Product
    epilogue: CallEpilogue


def product_kernels(cone: Cone, product: Product, precisions: Sequence[str]) -> tuple[Kernel, ...] | Refusal:
    """The kernels of `product`, one a precision, and one for constants in the order that TF32 wants."""
    gemm = _gemm(product)
    if isinstance(gemm, Refusal):
        return gemm
    p = gemm.product
    reason = refusal(cone, (p.a, p.b, p.c, *gemm.epilogue.adds)) or _gemm_refusal(gemm)
    return Refusal(reason) if reason else tuple(_kernels(cone, gemm, precisions))


def _gemm(product: Product) -> Gemm | Refusal:
    p = product if steps(product.c, -1) == 1 else transposed(product)
    p = folded(p) or merged(p) or p
    epilogue = epilogue_of(p.post_ops)
    return epilogue if isinstance(epilogue, Refusal) else Gemm(p, epilogue)


def _gemm_refusal(gemm: Gemm) -> str:
    """Why there is no call for it; empty where there is one."""
    p, e = gemm.product, gemm.epilogue
    if steps(p.c, -1) != 1:
        return "neither rows nor columns of the result are dense"
    if not (has_dense_axis(p.a) and has_dense_axis(p.b)):
        return "an operand has no dense axis among its last two"
    if math.prod(p.batch[:-1]) > LOOPS:
        return f"batches of {list(p.batch)} do not lie in one stride"
    if len(e.adds) > 1:
        return f"adds {len(e.adds)} tensors; a product takes one"
    return "an activation ends one matrix product, not a batch of them" if e.activation and p.batch else ""


def _kernels(cone: Cone, gemm: Gemm, precisions: Sequence[str]) -> Iterator[Kernel]:
    p = gemm.product
    for precision in (name for name in precisions if name in OFFERED):
        a, b = factor(cone, p.a, precision), factor(cone, p.b, precision)
        yield _kernel(cone, gemm, Variant("product", precision), a, b)
        if precision == "tf32" and (turned := _turned(cone, p)):
            yield _kernel(cone, gemm, Variant("turned product", precision), *turned)


def _kernel(cone: Cone, gemm: Gemm, variant: Variant, a: CallOperand, b: CallOperand) -> Kernel:
    p, e = gemm.product, gemm.epilogue
    views = {"a": _seen(a), "b": _seen(b), "out": _seen(CallOperand(p.c)), "add": _added(gemm)}
    return kernel(cone, variant, "product", views, scale=e.scale, activation=e.activation)


def _seen(operand: CallOperand) -> CallOperand:
    return replace(operand, view=whole_axes(operand.view))


def _added(gemm: Gemm) -> CallOperand | None:
    """What is added; one vector for all rows of a matrix is given as such, which cuBLASLt adds for nothing."""
    e, c = gemm.epilogue, gemm.product.c
    if not e.adds:
        return zeros(c.shape[-1]) if e.activation else None
    add = e.adds[0]
    if len(c.shape) == 2 and not add.varies(0) and steps(add, -1) == 1:
        return CallOperand(View(add.leaf, add.shape[1:], (1,), add.offset))
    return CallOperand(add)


def _turned(cone: Cone, p: Product) -> tuple[CallOperand, CallOperand] | None:
    """The factors with the axis that is summed dense in memory, as tensor cores read TF32; None if they are anyway."""
    a = None if steps(p.a, -1) == 1 else _swapped(cone, p.a)
    b = None if steps(p.b, -2) == 1 else _swapped(cone, p.b)
    return (a or CallOperand(p.a), b or CallOperand(p.b)) if a or b else None


def _swapped(cone: Cone, v: View) -> CallOperand | None:
    """A constant matrix prepared with its axes in the other order in memory; None where it is no whole constant."""
    leaf, shape = cone.leaves[v.leaf], v.shape[-2:]
    batched = any(v.varies(axis) for axis in range(len(v.shape) - 2))
    if not leaf.const or leaf.rank != 2 or v.offset or batched or sorted(leaf.shape) != sorted(shape):
        return None
    rows = v.strides[-1] == 1  # then columns become dense
    strides = (1, shape[0]) if rows else (shape[1], 1)
    return CallOperand(
        replace(v, strides=(*v.strides[:-2], *strides)), Prepared("float32", leaf.shape[::-1], v.leaf, (1, 0))
    )
