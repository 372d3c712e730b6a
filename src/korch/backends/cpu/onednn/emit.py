"""The C text of a call: a `korch_dnnl_call` with every number in it, and the three entry points."""

from __future__ import annotations

import math
from collections.abc import Iterable

from korch.backends.cpu.c import Code, Table, own, run_function
from korch.backends.cpu.c.tree import comments, free_function, init_function
from korch.backends.cpu.onednn.call import Call, Sum
from korch.backends.linear.activations import Eltwise
from korch.backends.linear.pattern import Binary
from korch.backends.linear.views import OUT, Shape, View
from korch.ir import Cone

REFERENCE_MACS = 1 << 14
"""oneDNN's reference loops run at about 1 GFLOP/s: fine for tiny products, hopeless for any other."""

KEEPING_RELU = Eltwise("elu", -0.0)
"""oneDNN's relu makes zero of NaN; its elu is x where x <= 0 does not hold, and -0 (exp(x) - 1) = 0 elsewhere."""


def emit(cone: Cone, call: Call, macs: int) -> Code:
    """C of the kernel (see `contract.py`)."""
    described = Table("korch_dnnl_call", "call", tuple(_fields(call, macs)), "")
    run = run_function(False, ("(void)workspace;", "korch_dnnl_run(state, in, out);"))
    init = init_function((f"return korch_dnnl_init(state, &{own('call')}, in);",))
    free = free_function(("korch_dnnl_free(state);",))
    return Code((*comments(cone), described, init, run, free), headers=("korch_dnnl.h",), libraries=("dnnl",))


def _fields(call: Call, macs: int) -> list[str]:
    matrices = call.window is None
    return [
        f".kind = KORCH_DNNL_{call.kind.upper()}",
        f".packing = KORCH_DNNL_{call.packing.upper().replace(' ', '_')}",
        f".allow_reference = {int(macs <= REFERENCE_MACS)}",
        *([f'.implementation = "{call.implementation}"'] if call.implementation else []),
        f".src = {_view(call.src, _matrix_order(call.src) if matrices else call.order)}",
        f".weights = {_view(call.weights, _matrix_order(call.weights) if matrices else _plain(call.weights))}",
        f".bias = {_view(call.bias, _plain(call.bias)) if call.bias else '{.leaf = KORCH_DNNL_ABSENT}'}",
        f".dst = {_view(call.dst, call.order)}",
        *_window(call),
        f".post_op_count = {len(call.post_ops)}",
        *(f".post_ops[{i}] = {_post_op(op, call.order)}" for i, op in enumerate(call.post_ops)),
    ]


def _window(call: Call) -> list[str]:
    if call.window is None:
        return []
    w = call.window
    return [
        f".strides = {_list(w.strides)}",
        f".dilates = {_list(d - 1 for d in w.dilations)}",
        f".pads_begin = {_list(w.pads_begin)}",
        f".pads_end = {_list(w.pads_end)}",
    ]


def _post_op(op: Eltwise | Binary | Sum, order: Shape) -> str:
    match op:
        case Eltwise("relu", 0.0):
            return _post_op(KEEPING_RELU, order)
        case Eltwise(alg, alpha, beta):
            numbers = f".alpha = {_number(alpha)}, .beta = {_number(beta)}"
            return f"{{.kind = KORCH_DNNL_ELTWISE, .alg = dnnl_eltwise_{alg}, {numbers}}}"
        case Binary(alg, operand):
            return f"{{.kind = KORCH_DNNL_BINARY, .alg = dnnl_binary_{alg}, .arg = {_view(operand, order)}}}"
        case Sum(operand):
            return f"{{.kind = KORCH_DNNL_SUM, .arg = {_view(operand, order)}}}"


def _view(v: View, order: Shape) -> str:
    """Broadcast axes have size 1; unit axes get the stride of a dense buffer, by which oneDNN knows layouts."""
    dims = tuple(n if s else 1 for n, s in zip(v.shape, v.strides, strict=True))
    strides, step = list(v.strides), 1
    for axis in reversed(order):
        strides[axis] = step if dims[axis] == 1 else strides[axis]
        step = strides[axis] * dims[axis]
    leaf = "KORCH_DNNL_OUT" if v.leaf == OUT else v.leaf
    return (
        f"{{.leaf = {leaf}, .ndims = {len(dims)}, .offset = {v.offset}, "
        f".dims = {_list(dims)}, .strides = {_list(strides)}}}"
    )


def _plain(v: View) -> Shape:
    return tuple(range(len(v.shape)))


def _matrix_order(v: View) -> Shape:
    """The last two axes swapped where the matrix lies transposed."""
    order = _plain(v)
    return order if v.strides[-1] == 1 or v.shape[-1] == 1 else (*order[:-2], order[-1], order[-2])


def _list(numbers: Iterable[int]) -> str:
    return "{" + ", ".join(map(str, numbers)) + "}"


def _number(x: float) -> str:
    """A float literal that C reads back as the same float32."""
    if math.isinf(x):
        return "INFINITY" if x > 0 else "-INFINITY"
    return f"{float(x)!r}f"
