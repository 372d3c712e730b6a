"""The oneDNN backend: linear cones with post-ops (paper section 5.2, vendor libraries)."""

from __future__ import annotations

from collections.abc import Iterator

from korch.backends.contract import Kernel, Refusal, Variant
from korch.backends.cpu.onednn.call import Call
from korch.backends.cpu.onednn.convolution import convolution_calls, convolution_refusal
from korch.backends.cpu.onednn.emit import emit
from korch.backends.cpu.onednn.install import absence, find
from korch.backends.cpu.onednn.matmul import product_calls
from korch.backends.linear.pattern import Binary, Match, match
from korch.backends.linear.product import matmul_product, pointwise_product
from korch.ir import Cone
from korch.ir.macs import multiply_adds
from korch.ir.ops.linear import seen_by_windows
from korch.machine import Machine

LOSES_NAN = frozenset({"clip", "exp", "hardsigmoid", "max", "min"})
"""Post-ops by oneDNN's names; of relu see `emit.py`."""


class OneDnn:
    """One linear primitive, its operands and result seen through strides, and a chain of post-ops.

    The library is optional: where it is not installed every cone is refused, and `table.py` says why.
    Whether oneDNN has a fast implementation is known only to oneDNN: the function that makes the state returns a status
    other than 0 where it has none (KORCH_DNNL_REFERENCE, or dnnl_unimplemented), and such a kernel is no candidate.
    """

    name = "onednn"
    fallback = False

    @property
    def version(self) -> str:
        return "" if absence() else find().version

    def refuses(self, cone: Cone) -> Refusal | None:
        return Refusal(reason) if (reason := absence()) else self.call_refusal(cone)

    def call_refusal(self, cone: Cone) -> Refusal | None:
        """Why oneDNN has no call for the cone, whether it is installed or not."""
        m = match(cone)
        if isinstance(m, Refusal):
            return m
        if lost := next((op.alg for op in m.post_ops if op.alg in LOSES_NAN), None):
            return Refusal(f"oneDNN makes a number of NaN in its post-op {lost}")
        return None if any(True for _ in _calls(m)) else Refusal(_refusal(m))

    def bound(self, cone: Cone, machine: Machine) -> float:
        """Arithmetic at peak, or every element that is seen moved once at the best bandwidth."""
        m = _matched(cone)
        return machine.roofline(2 * multiply_adds(m.linear), 4 * (_elements_read(m) + cone.root.size))

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        """One kernel a form of the call; the threads are those that OpenMP has when the kernel is initialised."""
        m = _matched(cone)
        macs = multiply_adds(m.linear)
        return tuple(_kernel(cone, call, macs) for call in _calls(m))


BACKEND = OneDnn()


def _matched(cone: Cone) -> Match:
    m = match(cone)
    assert not isinstance(m, Refusal), f"refused: {m.reason}"
    return m


def _elements_read(m: Match) -> float:
    """Elements of leaves that the call sees, each buffer counted once."""
    share = seen_by_windows(m.linear) if m.linear.spec.is_convolution else 1.0
    views = [(m.x, share), (m.w, 1.0), *((op.operand, 1.0) for op in m.post_ops if isinstance(op, Binary))]
    seen: dict[int, float] = {}
    for v, part in views:
        seen[v.leaf] = max(seen.get(v.leaf, 0.0), part * v.distinct)
    return sum(seen.values())


def _calls(m: Match) -> Iterator[Call]:
    """Every form of the match that oneDNN may have a fast implementation for."""
    if m.linear.spec.is_product:
        yield from product_calls(matmul_product(m), "matmul")
        return
    convolves = not convolution_refusal(m)
    if convolves:
        yield from convolution_calls(m)
    product = pointwise_product(m)
    if product and not (convolves and m.linear.attr("channels_last")):  # there the same code runs: 3% apart at most
        yield from product_calls(product, "matmul")


def _refusal(m: Match) -> str:
    """Why `m` has no call."""
    strided = (
        "an operand has no dense axis among its last two, the result's last axis is not dense, or a row is "
        "added to each of matrices that lie inside one another"
    )
    return strided if m.linear.spec.is_product else convolution_refusal(m) or strided


def _kernel(cone: Cone, call: Call, macs: int) -> Kernel:
    return Kernel(cone, OneDnn.name, Variant(call.form), emit(cone, call, macs))
