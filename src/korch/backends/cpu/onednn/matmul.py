"""Matrix products as oneDNN calls: batch axes folded into rows or merged, transposed results by swapping operands."""

from __future__ import annotations

from dataclasses import replace

from korch.backends.cpu.onednn.call import Call, with_bias
from korch.backends.linear.pattern import Binary
from korch.backends.linear.product import Product, folded, has_dense_axis, merged, steps, transposed
from korch.backends.linear.views import View


def product_calls(product: Product, form: str) -> tuple[Call, ...]:
    """The calls that compute `product`, as it stands and as its transpose."""
    sides = ((_compact(product), form), (_compact(transposed(product)), f"{form} transposed"))
    return tuple(_call(p, text) for p, text in sides if _is_runnable(p))


def _call(p: Product, form: str) -> Call:
    order = tuple(range(len(p.c.shape)))
    return with_bias(Call("matmul", p.a, p.b, p.c, p.post_ops, order, "once" if p.b_const else "never", form=form))


def _compact(p: Product) -> Product:
    """The product with the fewest axes: batches as rows where b is one matrix, else batches as one axis."""
    compact = folded(p) or merged(p) or p
    return _with_unit_batch(compact) if _has_row_operand(compact) else compact


def _has_row_operand(p: Product) -> bool:
    """Whether a post-op's operand is one number a row, which oneDNN knows only as "per channel" of three axes."""
    operands = (op.operand for op in p.post_ops if isinstance(op, Binary))
    return len(p.c.shape) == 2 and any(v.varies(0) and not v.varies(1) for v in operands)


def _with_unit_batch(p: Product) -> Product:
    def unit(v: View) -> View:
        return replace(v, shape=(1, *v.shape), strides=(0, *v.strides))

    batched = p.seen(unit, unit, unit)
    assert batched is not None
    return batched


def _is_runnable(p: Product) -> bool:
    """oneDNN takes matrices with one dense axis (packing takes any) and results with a dense last axis."""
    dense = has_dense_axis(p.a) and (p.b_const or has_dense_axis(p.b)) and (steps(p.c, -1) == 1)
    return dense and not _reads_beyond(p)


def _reads_beyond(p: Product) -> bool:
    """Whether a post-op's operand is one row for each matrix while the matrices of the result lie inside one another:
    oneDNN looks for it by where the result lies, beyond the operand's end (and crashes)."""
    interleaved = len(p.c.shape) > 2 and steps(p.c, -3) < steps(p.c, -2)
    operands = (op.operand for op in p.post_ops if isinstance(op, Binary))
    return interleaved and any(v.varies(-3) and not v.varies(-2) for v in operands)
