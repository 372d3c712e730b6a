"""The three questions about a cone with one matrix product or convolution."""

from __future__ import annotations

from korch.backends.contract import Kernel
from korch.backends.cuda.triton.elementwise import TYPES, has_form
from korch.backends.cuda.triton.linear.emit import kernel
from korch.backends.cuda.triton.linear.epilogue import epilogue_of
from korch.backends.cuda.triton.linear.mainloop import variables
from korch.backends.cuda.triton.linear.operands import weights_of, widths_of
from korch.backends.cuda.triton.linear.product import Size, product_of
from korch.backends.cuda.triton.linear.tiles import chosen
from korch.backends.cuda.triton.windows import has_channel_groups
from korch.backends.footprint import footprint
from korch.backends.precision import HALVES, peak
from korch.ir.cone import Cone
from korch.ir.macs import multiply_adds
from korch.ir.ops.table import Category
from korch.ir.primitive import Primitive
from korch.machine import Machine

LARGEST = 2**31 - 1
MOST_LEAVES = 24
MOVED = (Category.ELEMENTWISE, Category.LAYOUT, Category.BROADCAST)


def refusal(cone: Cone) -> str:
    """Why the cone is not built; empty if it is."""
    if len(cone.linear) != 1 or not cone.linear[0].spec.contracts:
        return "not one matrix product or convolution"
    if len(cone.leaves) > MOST_LEAVES:
        return f"more than {MOST_LEAVES} leaves"
    product = cone.linear[0]
    for p in cone.primitives:
        if reason := _product_refusal(p) if p == product else _operand_refusal(p):
            return f"{p.output.name}: {reason}"
    parts = product_of(product)
    epilogue = epilogue_of(cone, product, parts.result(*variables(Size.of(parts))))
    return epilogue if isinstance(epilogue, str) else ""


def bound(cone: Cone, machine: Machine, precisions: tuple[str, ...]) -> float:
    """Seconds that no tiles beat: the multiply-adds at the fastest rate, or every byte that is needed moved once."""
    moved, _ = footprint(cone)
    if halved := [p for p in precisions if p in HALVES]:
        moved -= sum(w.tensor.nbytes / 2 for w in weights_of(cone, product_of(cone.linear[0]), halved[0]))
    return max(2 * multiply_adds(cone.linear[0]) / peak(machine, precisions), machine.moving(max(moved, 0.0)))


def build(cone: Cone, multiprocessors: int, precisions: tuple[str, ...]) -> tuple[Kernel, ...]:
    """The tiles worth trying in each precision."""
    product = product_of(cone.linear[0])
    sizes = {p: Size.of(product, widths_of(cone, product, p)) for p in precisions}
    return tuple(
        kernel(cone, tile, precision)
        for precision in precisions
        for tile in chosen(sizes[precision], multiprocessors, precision)
    )


def _product_refusal(p: Primitive) -> str:
    """Why the product `p` is not computed in tiles."""
    if any(t.dtype != "float32" for t in (*p.inputs, p.output)):
        return f"{p.op} of {p.output.dtype}"
    if reason := _size_refusal(p):
        return reason
    if p.spec.is_convolution:
        return _convolution_refusal(p)
    return ""


def _convolution_refusal(p: Primitive) -> str:
    if has_channel_groups(p):
        return "a depthwise convolution"
    x, w, out = p.inputs[0].shape, p.inputs[1].shape, p.output.shape
    first = 1 if p.attr("channels_last") else 2
    for a, taps in enumerate(w[2:]):
        if taps == out[first + a] == 1 and not 0 <= -p.attr("pads")[a] < x[first + a]:
            return "a convolution that reads padding alone"
    return ""


def _operand_refusal(p: Primitive) -> str:
    """Why `p` is not computed around a product."""
    if p.category not in MOVED and not p.spec.interpolates:
        return f"{p.op} in a kernel with a product"
    if p.spec.takes:
        return "Take in a kernel with a product"
    if any(t.dtype not in TYPES for t in (*p.inputs, p.output)):
        return f"{p.op} on dtype {p.output.dtype}"
    if p.category is Category.ELEMENTWISE and not has_form(p):
        return f"{p.op} on {p.inputs[0].dtype}"
    return _size_refusal(p)


def _size_refusal(p: Primitive) -> str:
    if any(t.size > LARGEST for t in (*p.inputs, p.output)):
        return "more than 2^31 elements"
    return "a tensor without elements" if any(t.size == 0 for t in (*p.inputs, p.output)) else ""
