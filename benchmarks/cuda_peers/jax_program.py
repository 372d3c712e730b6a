"""A model's primitives as a function of jax.numpy: what XLA compiles.

Only what fission writes before any choice is added: convolutions are channels-first, and each tensor has one producer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from korch.ir.graph import Graph
from korch.ir.ops.reduce import spatial_axes, window_counts
from korch.ir.primitive import Primitive

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "Add": jnp.add,
    "Sub": jnp.subtract,
    "Mul": jnp.multiply,
    "Div": lax.div,
    "Pow": jnp.power,
    "Max": jnp.maximum,
    "Min": jnp.minimum,
    "Neg": jnp.negative,
    "Abs": jnp.abs,
    "Exp": jnp.exp,
    "Log": jnp.log,
    "Sqrt": jnp.sqrt,
    "Reciprocal": jnp.reciprocal,
    "Floor": jnp.floor,
    "Ceil": jnp.ceil,
    "Round": jnp.rint,
    "Sign": jnp.sign,
    "Erf": jax.scipy.special.erf,
    "Tanh": jnp.tanh,
    "Sigmoid": jax.nn.sigmoid,
    "Relu": jax.nn.relu,
    "Softplus": jax.nn.softplus,
    "Sin": jnp.sin,
    "Cos": jnp.cos,
    "Identity": lambda x: x,
    "Not": jnp.logical_not,
    "And": jnp.logical_and,
    "Or": jnp.logical_or,
    "Equal": jnp.equal,
    "Less": jnp.less,
    "Greater": jnp.greater,
    "LessOrEqual": jnp.less_equal,
    "GreaterOrEqual": jnp.greater_equal,
    "Where": jnp.where,
}
FOLDS: dict[str, Callable[..., Any]] = {
    "ReduceSum": jnp.sum,
    "ReduceMean": jnp.mean,
    "ReduceMax": jnp.max,
    "ReduceMin": jnp.min,
    "ReduceProd": jnp.prod,
}


def program(graph: Graph, dtype: Any = np.float32) -> Callable[[Mapping[str, Any]], list[Any]]:
    """A function of the inputs by name, whose floats are of `dtype`; KeyError names a primitive that has no form
    here."""
    plain = graph.plain()
    if missing := {p.op for p in plain.primitives} - set(ELEMENTWISE) - set(FOLDS) - set(SHAPED):
        raise KeyError(f"no form in jax.numpy for {', '.join(sorted(missing))}")
    constants = {
        name: jnp.asarray(value, dtype if value.dtype == np.float32 else value.dtype)
        for name, value in plain.constants.items()
    }

    def run(feeds: Mapping[str, Any]) -> list[Any]:
        known: dict[str, Any] = {**constants, **feeds}
        for p in plain.primitives:
            known[p.output.name] = _value(p, [_operand(t, known, dtype) for t in p.inputs])
        return [known[t.name] for t in plain.outputs]

    return run


def _operand(t: Any, known: Mapping[str, Any], dtype: Any) -> Any:
    return np.asarray(t.value, dtype if t.dtype == "float32" else t.dtype) if t.value is not None else known[t.name]


def _value(p: Primitive, args: list[Any]) -> Any:
    if p.op in FOLDS:
        return FOLDS[p.op](args[0], axis=tuple(p.attr("axes")), keepdims=bool(p.attr("keepdims")))
    if p.op in SHAPED:
        return SHAPED[p.op](p, *args)
    if p.op == "Div":
        args = list(jnp.broadcast_arrays(*args))
    return ELEMENTWISE[p.op](*args)


def _slice(p: Primitive, x: Any) -> Any:
    ranges = zip(p.attr("starts"), p.attr("steps"), p.attr("lengths"), strict=True)
    return x[np.ix_(*(start + step * np.arange(n) for start, step, n in ranges))] if _backwards(p) else x[_cut(p)]


def _backwards(p: Primitive) -> bool:
    return any(step < 0 for step in p.attr("steps"))


def _cut(p: Primitive) -> tuple[slice, ...]:
    ranges = zip(p.attr("starts"), p.attr("steps"), p.attr("lengths"), strict=True)
    return tuple(slice(start, start + step * n, step) for start, step, n in ranges)


def _pad(p: Primitive, x: Any) -> Any:
    pads, mode = p.attr("pads"), p.attr("mode")
    widths = [(pads[a], pads[a + x.ndim]) for a in range(x.ndim)]
    if any(n < 0 for pair in widths for n in pair):
        return lax.pad(x, jnp.asarray(p.attr("value"), x.dtype), [(lo, hi, 0) for lo, hi in widths])
    kind = {"constant": "constant", "reflect": "reflect", "edge": "edge", "wrap": "wrap"}[mode]
    return jnp.pad(x, widths, kind, **({"constant_values": p.attr("value")} if mode == "constant" else {}))


def _convolution(p: Primitive, x: Any, w: Any) -> Any:
    k = x.ndim - 2
    pads = p.attr("pads")
    return lax.conv_general_dilated(
        x,
        w,
        p.attr("strides"),
        [(pads[i], pads[i + k]) for i in range(k)],
        rhs_dilation=p.attr("dilations"),
        feature_group_count=p.attr("group"),
    )


def _transposed(p: Primitive, x: Any, w: Any) -> Any:
    """A convolution of the stretched input with the mirrored window, in one group."""
    if p.attr("group") != 1:
        raise KeyError("no form in jax.numpy for transposed convolutions in groups")
    reach = [d * (n - 1) for n, d in zip(w.shape[2:], p.attr("dilations"), strict=True)]
    spans = [(n - 1) * s + 1 for n, s in zip(x.shape[2:], p.attr("strides"), strict=True)]
    padding = [(r - lo, out - span + lo) for r, lo, out, span in zip(reach, p.attr("pads"), p.output.shape[2:], spans)]
    mirrored = jnp.flip(w, range(2, w.ndim)).swapaxes(0, 1)
    return lax.conv_general_dilated(x, mirrored, (1,) * len(reach), padding, p.attr("strides"), p.attr("dilations"))


def _pool(p: Primitive, x: Any) -> Any:
    k, pads = x.ndim - 2, p.attr("pads")
    window, strides, dilations = ((1, 1, *p.attr(a)) for a in ("kernel_shape", "strides", "dilations"))
    padding = [(0, 0), (0, 0), *((pads[i], pads[i + k]) for i in range(k))]
    if p.op == "MaxPool":
        return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding, window_dilation=dilations)
    total = lax.reduce_window(x, 0.0, lax.add, window, strides, padding, window_dilation=dilations)
    if p.attr("count_include_pad"):
        return total / np.prod(p.attr("kernel_shape"))
    for axis, count in zip(spatial_axes(x.ndim, 0), window_counts(p), strict=True):
        total = total / count.reshape([-1 if a == axis else 1 for a in range(x.ndim)]).astype(np.float32)
    return total


def _interpolate(p: Primitive, x: Any) -> Any:
    axis, taps = p.attr("axis"), p.attr("taps")
    indices = np.asarray(p.attr("indices")).reshape(-1, taps)
    weights = np.asarray(p.attr("weights"), np.float32).reshape(-1, taps)
    shape = [-1 if a == axis else 1 for a in range(x.ndim)]
    return sum(jnp.take(x, indices[:, j], axis) * weights[:, j].reshape(shape) for j in range(taps))


SHAPED: dict[str, Callable[..., Any]] = {
    "MatMul": lambda p, x, w: jnp.matmul(x, w),
    "Conv": _convolution,
    "ConvTranspose": _transposed,
    "MaxPool": _pool,
    "AveragePool": _pool,
    "Interpolate": _interpolate,
    "Reshape": lambda p, x: x.reshape(p.output.shape),
    "Expand": lambda p, x: jnp.broadcast_to(x, p.output.shape),
    "Transpose": lambda p, x: x.transpose(p.attr("perm")),
    "Slice": _slice,
    "Concat": lambda p, *parts: jnp.concatenate(parts, p.attr("axis")),
    "Pad": _pad,
    "Gather": lambda p, x: jnp.take(x, np.asarray(p.attr("indices")), p.attr("axis")),
    "Cast": lambda p, x: x.astype(p.attr("to")),
    "LeakyRelu": lambda p, x: jnp.where(x >= 0, x, x * np.float32(p.attr("alpha"))),
}
