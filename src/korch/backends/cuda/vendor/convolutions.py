"""Convolutions as calls of cuDNN: activations in one memory format, weights prepared in it, bias, residual and Relu."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from korch.backends.contract import Kernel, Prepared, Refusal, Variant
from korch.backends.cuda.vendor.epilogue import CallEpilogue, epilogue_of
from korch.backends.cuda.vendor.kernel import kernel
from korch.backends.cuda.vendor.operands import CallOperand, factor, refusal, whole_axes, zeros
from korch.backends.cuda.vendor.products import OFFERED
from korch.backends.linear.pattern import Binary, Match, PostOp
from korch.backends.linear.views import Shape, View, row_major
from korch.backends.precision import HALVES
from korch.ir import Cone, Primitive
from korch.ir.ops.axes import last_to_first

LAST = (0, 2, 3, 1)
"""The axes of [N, C, H, W] from slowest to fastest where channels are last in memory."""


@dataclass(frozen=True, slots=True)
class ConvolutionCall:
    """`x`, `out` and what is added as [N, C, H, W] (H is 1 where there is one spatial axis), `w` as torch has weights.

    `last`: channels are last in memory. `window`: strides, pads, dilations and what is missing at the output's end.
    """

    linear: Primitive
    x: View
    w: View
    out: View
    bias: View | None
    residual: View | None
    relu: bool
    last: bool
    window: tuple[Shape, Shape, Shape, Shape]

    @property
    def views(self) -> tuple[View, ...]:
        return (self.x, self.w, self.out, *(v for v in (self.bias, self.residual) if v))


def convolution_kernels(cone: Cone, m: Match, precisions: Sequence[str]) -> tuple[Kernel, ...] | Refusal:
    """One kernel a precision, and torch's own of a depthwise convolution."""
    c = _convolution(m)
    if isinstance(c, Refusal):
        return c
    reason = refusal(cone, c.views)
    return Refusal(reason) if reason else tuple(_kernels(cone, c, [p for p in precisions if p in OFFERED]))


# From a match to a convolution ------------------------------------------------------------------------------------


def _convolution(m: Match) -> ConvolutionCall | Refusal:
    p, epilogue = m.linear, epilogue_of(tuple(_planar_op(op, m) for op in m.post_ops))
    if isinstance(epilogue, Refusal):
        return epilogue
    if len(m.x.shape) > 4:
        return Refusal(f"convolves {len(m.x.shape) - 2} axes; at most 2 are supported")
    x, out = _planar(m.x, m), _planar(m.output, m)
    formats = _formats(x) & _formats(out)
    if not formats:
        return Refusal("input and output of the convolution are not dense in one memory format")
    window, ends = _window(p), _ends(epilogue)
    if isinstance(window, Refusal):
        return window
    if isinstance(ends, Refusal):
        return ends
    if p.spec.is_deconvolution and (ends[1] or epilogue.activation):
        return Refusal("a transposed convolution ends in a bias only")
    last = bool(p.attr("channels_last")) if len(formats) > 1 else True in formats
    x, out = _formatted(x, last), _formatted(out, last)
    return ConvolutionCall(p, x, _with_height(m.w), out, *ends, bool(epilogue.activation), last, window)


def _planar(view: View, m: Match) -> View:
    """The view as [N, C, H, W]."""
    view = view.transpose(last_to_first(len(view.shape))) if m.linear.attr("channels_last") else view
    return _with_height(view)


def _with_height(view: View) -> View:
    if len(view.shape) != 3:
        return view
    shape, strides = ((*t[:2], one, *t[2:]) for t, one in ((view.shape, 1), (view.strides, 0)))
    return replace(view, shape=shape, strides=strides)


def _planar_op(op: PostOp, m: Match) -> PostOp:
    return replace(op, operand=_planar(op.operand, m)) if isinstance(op, Binary) else op


def _strides(shape: Shape, last: bool) -> Shape:
    """Of a dense [N, C, H, W] with channels last in memory, or first."""
    if not last:
        return row_major(shape)
    _, c, h, w = shape
    return h * w * c, 1, w * c, c


def _formats(view: View) -> set[bool]:
    """In which formats the view is dense: channels last (True), first (False), both where one of them is short."""

    def fits(last: bool) -> bool:
        wanted = _strides(view.shape, last)
        return all(n == 1 or s == t for n, s, t in zip(view.shape, view.strides, wanted, strict=True))

    return {last for last in (True, False) if fits(last)}


def _formatted(view: View, last: bool) -> View:
    """With the strides that say so where axes have length 1, too."""
    return replace(view, strides=_strides(view.shape, last))


def _window(p: Primitive) -> tuple[Shape, Shape, Shape, Shape] | Refusal:
    """Strides, pads, dilations, and how much longer than the shortest the output of a transposed convolution is."""
    k = p.inputs[0].rank - 2
    strides, dilations, pads = p.attr("strides"), p.attr("dilations"), p.attr("pads")
    extra = (0,) * k
    if min(pads) < 0:
        return Refusal("the convolution has negative pads")
    if p.spec.is_deconvolution:
        extra = _extra(p, k)
        if any(not 0 <= e < max(s, d) for e, s, d in zip(extra, strides, dilations, strict=True)):
            return Refusal(f"an output padding of {list(extra)} with strides of {list(strides)} is not supported")
    elif pads[:k] != pads[k:]:
        return Refusal(f"cuDNN pads both ends alike, not by {list(pads)}")
    if k == 1:
        return (1, *strides), (0, *pads[:k]), (1, *dilations), (0, *extra)
    return strides, pads[:k], dilations, extra


def _extra(p: Primitive, k: int) -> Shape:
    """How far the output reaches beyond what equal pads at both ends leave of it."""
    x, w, out = p.inputs[0], p.inputs[1], p.output
    first = 1 if p.attr("channels_last") else 2
    reach = (
        (x.shape[first + i] - 1) * p.attr("strides")[i] + (w.shape[2 + i] - 1) * p.attr("dilations")[i] + 1
        for i in range(k)
    )
    return tuple(out.shape[first + i] - r + 2 * p.attr("pads")[i] for i, r in enumerate(reach))


def _ends(e: CallEpilogue) -> tuple[View | None, View | None] | Refusal:
    """The bias and the residual."""
    bias = [v for v in e.adds if _is_bias(v)]
    residual = [v for v in e.adds if not _is_bias(v)]
    if e.scale != 1.0 or e.activation == "gelu":
        return Refusal(f"no convolution ends in {e.activation or 'a scale'}")
    if len(bias) > 1 or len(residual) > 1:
        return Refusal(f"adds {len(e.adds)} tensors; a convolution takes a bias and a residual")
    if residual and not e.activation:
        return Refusal("adds a residual without a Relu after it")
    if residual and any(n > 1 and not s for n, s in zip(residual[0].shape, residual[0].strides, strict=True)):
        return Refusal("adds a tensor that is neither a bias nor as large as the output")
    vector = View(bias[0].leaf, bias[0].shape[1:2], (1,), bias[0].offset) if bias else None
    return vector, residual[0] if residual else None


def _is_bias(v: View) -> bool:
    """Whether `v` is a dense vector along the channels, the same everywhere else."""
    return (v.shape[1] == 1 or v.strides[1] == 1) and not any(v.varies(axis) for axis in (0, 2, 3))


# From a convolution to kernels ------------------------------------------------------------------------------------


def _kernels(cone: Cone, c: ConvolutionCall, precisions: Sequence[str]) -> Iterator[Kernel]:
    name = "convolution" if c.linear.spec.is_convolution else "transposed convolution"
    for precision in precisions:
        yield _kernel(cone, c, Variant(name, precision), _weights(cone, c, precision), direct=False)
    floats = [p for p in precisions if p not in HALVES]
    if floats and _is_depthwise(c):
        yield _kernel(cone, c, Variant("depthwise", floats[0]), CallOperand(c.w), direct=True)


def _kernel(cone: Cone, c: ConvolutionCall, variant: Variant, w: CallOperand, direct: bool) -> Kernel:
    strides, pads, dilations, extra = c.window
    without = zeros(c.out.shape[1]) if c.relu else None  # cuDNN's kernel that ends in Relu always adds one
    operands = {
        "x": CallOperand(c.x),
        "w": w,
        "out": CallOperand(c.out),
        "bias": CallOperand(c.bias) if c.bias else without,
        "residual": CallOperand(c.residual) if c.residual else None,
    }
    return kernel(
        cone,
        variant,
        _function(c, direct),
        operands,
        strides=strides,
        pads=pads,
        dilations=dilations,
        extra=extra,
        group=c.linear.attr("group"),
        relu=c.relu,
    )


def _function(c: ConvolutionCall, direct: bool) -> str:
    if direct:
        return "depthwise"
    return "transposed_convolution" if c.linear.spec.is_deconvolution else "convolution"


def _is_depthwise(c: ConvolutionCall) -> bool:
    """Whether torch has a kernel of its own for it: one filter or several a channel, channels first, a bias at most."""
    group = c.linear.attr("group")
    return c.linear.spec.is_convolution and 1 < group == c.x.shape[1] and not c.last and not c.relu


def _weights(cone: Cone, c: ConvolutionCall, precision: str) -> CallOperand:
    """Constants in the memory format of the activations and rounded; anything else as it is."""
    leaf, taps = cone.leaves[c.w.leaf], c.w.shape[2] * c.w.shape[3]
    if not (c.last and leaf.const and taps > 1 and _is_whole(c.w, leaf.shape)):
        return factor(cone, whole_axes(c.w), precision)
    o, i, h, w = c.w.shape
    perm = LAST if leaf.rank == 4 else (0, 2, 1)
    prepared = Prepared(HALVES.get(precision, "float32"), (o, h, w, i), c.w.leaf, perm)
    return CallOperand(replace(c.w, strides=_strides(c.w.shape, last=True)), prepared)


def _is_whole(w: View, shape: Shape) -> bool:
    """Whether the view is all of a leaf that is laid out as weights are, but for the axis that was put in."""
    return w.is_dense and shape in (w.shape, (*w.shape[:2], *w.shape[3:]))
