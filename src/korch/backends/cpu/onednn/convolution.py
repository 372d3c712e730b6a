"""Convolutions and transposed convolutions as oneDNN calls."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from korch.backends.cpu.onednn.call import Call, CallWindow, Packing, PostOps, with_bias, with_sum
from korch.backends.linear.activations import Eltwise
from korch.backends.linear.pattern import Binary, Match
from korch.backends.linear.views import Shape, View, inverse

DEPTHWISE_FORM = "conv jit_dw"
"""The form of the second implementation of depthwise convolutions."""

# Implementations that are sometimes faster than oneDNN's first choice (measured on Zen 4: depthwise 5x5, 107 against
# 79 GFLOP/s; narrow pointwise ones, 7%), and the forms of their calls.
_DEPTHWISE, _OTHERS = ("jit_dw:", DEPTHWISE_FORM), ("jit:", "conv jit")


GEMM_LOSES_NAN = frozenset({"logistic"})
"""Post-ops that make a number of NaN in im2col + GEMM only."""


def convolution_refusal(m: Match) -> str:
    """Why oneDNN has no fast convolution for this; empty if it may have one."""
    if not m.x.is_dense or not m.output.is_dense:
        return "the convolution's input or output is a strided view; oneDNN wants both dense and in one layout"
    if not m.w_const and not m.w.is_dense:
        return "the convolution's weights are computed and strided; oneDNN wants them dense"
    if min(m.linear.attr("pads")) < 0:
        return "the convolution has negative pads"
    call = convolution_call(m)
    if _runs_as_gemm(m) and any(isinstance(op, Binary) for op in call.post_ops):
        return "channels-first convolutions take a bias and a residual as operands, in this order, and no other"
    if _runs_as_gemm(m) and any(isinstance(op, Eltwise) and op.alg in GEMM_LOSES_NAN for op in call.post_ops):
        return "oneDNN makes a number of NaN in the sigmoid of a channels-first convolution"
    return ""


def convolution_calls(m: Match) -> Iterator[Call]:
    """oneDNN's own convolution by its first choice of implementation and by the one that may be faster."""
    call = convolution_call(m)
    yield call
    if call.kind == "conv" and not _runs_as_gemm(m):
        name, form = _DEPTHWISE if 1 < m.linear.attr("group") == call.dst.shape[1] else _OTHERS
        yield replace(call, implementation=name, form=form)


def _runs_as_gemm(m: Match) -> bool:
    """Whether oneDNN has im2col + GEMM only, as for channels-first layouts (one position is in both layouts)."""
    last = m.linear.attr("channels_last")
    return m.linear.spec.is_convolution and not last and math.prod(m.output.shape[2:]) > 1


def convolution_call(m: Match) -> Call:
    """oneDNN's own convolution; axes become [N, C, spatial...] whatever lies in memory."""
    order = _memory_order(m)
    transposed = m.linear.spec.is_deconvolution
    weights = (_transposed_weights if transposed else _weights)(m.w, m.linear.attr("group"))
    kind = "deconv" if transposed else "conv"
    call = Call(
        kind,
        _logical(m.x, order),
        weights,
        _logical(m.output, order),
        _logical_ops(m.post_ops, order),
        order,
        _packing(m),
        window=_window(m),
        form=kind,
    )
    return with_sum(with_bias(call)) if _runs_as_gemm(m) else with_bias(call)


def _packing(m: Match) -> Packing:
    """Computed weights are packed in each run: as they lie, oneDNN has im2col + GEMM at best. (3x3 over 64 channels of
    128x128, two threads of Zen 3: 9.4 ms packed, 19 so.)"""
    return "once" if m.w_const else "never" if _runs_as_gemm(m) else "each run"


def _memory_order(m: Match) -> Shape:
    """The logical axes [N, C, spatial...] in the order in which the primitive's tensors have them."""
    rank = len(m.x.shape)
    return (0, *range(2, rank), 1) if m.linear.attr("channels_last") else tuple(range(rank))


def _logical(view: View, order: Shape) -> View:
    return view.transpose(inverse(order))


def _logical_ops(post_ops: PostOps, order: Shape) -> PostOps:
    return tuple(replace(op, operand=_logical(op.operand, order)) if isinstance(op, Binary) else op for op in post_ops)


def _weights(w: View, groups: int) -> View:
    """[O, I/g, k...] as oneDNN has it: [g, O/g, I/g, k...] where there are groups."""
    return w if groups == 1 else _grouped(w, groups)


def _transposed_weights(w: View, groups: int) -> View:
    """ONNX's [I, O/g, k...] as [O, I, k...] or [g, O/g, I/g, k...]."""
    if groups == 1:
        return w.transpose((1, 0, *range(2, len(w.shape))))
    return _grouped(w, groups).transpose((0, 2, 1, *range(3, len(w.shape) + 1)))


def _grouped(w: View, groups: int) -> View:
    """The first axis split into groups, which strides can always say."""
    shape = (groups, w.shape[0] // groups, *w.shape[1:])
    return replace(w, shape=shape, strides=(w.strides[0] * shape[1], *w.strides))


def _window(m: Match) -> CallWindow:
    """The pads behind the data follow from the shapes (transposed convolutions may be told any output length)."""
    p, k = m.linear, len(m.x.shape) - 2
    strides, dilations, begin = p.attr("strides"), p.attr("dilations"), tuple(p.attr("pads")[:k])
    if p.spec.is_convolution:
        return CallWindow(strides, dilations, begin, tuple(p.attr("pads")[k:]))
    order = _memory_order(m)
    ins, outs = (_logical(v, order).shape[2:] for v in (m.x, m.output))
    reach = [(i - 1) * s + (n - 1) * d + 1 for i, s, n, d in zip(ins, strides, m.w.shape[2:], dilations, strict=True)]
    end = tuple(r - b - o for r, b, o in zip(reach, begin, outs, strict=True))
    return CallWindow(strides, dilations, begin, end)
