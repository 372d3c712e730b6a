"""Attention and rotary embedding (opset 23 on), by definition."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from onnx import helper

from korch.fission.indexing import cut, gather, padded
from korch.fission.rule import Opaque, fission
from korch.fission.softmax import softmax
from korch.ir.builder import Builder, Value


@dataclass(frozen=True)
class Mask:
    """What is added to the scores, and which of them count; None where there is nothing of the kind."""

    bias: Value | None
    allowed: Value | None


@fission("Attention", since=23)
def attention(
    b: Builder,
    q: Value,
    k: Value,
    v: Value,
    attn_mask: Value | None = None,
    past_key: Value | None = None,
    past_value: Value | None = None,
    nonpad_kv_seqlen: Value | None = None,
    /,
    *,
    is_causal: int = 0,
    kv_num_heads: int = 0,
    q_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    scale: float | None = None,
    softcap: float = 0.0,
    softmax_precision: int | None = None,
    left_window_size: int = -1,
    right_window_size: int = -1,
    outputs: int = 1,
) -> tuple[Value, ...] | Opaque:
    """softmax(scale q k^T + mask) v for each head; q is [batch, heads, queries, size] or has its heads folded in.

    Gives y, the keys and values with the past before them, and the scores (`qk_matmul_output_mode`: bare,
    capped, masked, or as probabilities).
    """
    folded = q.rank == 3
    q, k, v = _heads(b, q, q_num_heads), _heads(b, k, kv_num_heads), _heads(b, v, kv_num_heads)
    past = 0 if past_key is None else past_key.shape[2]
    if past_key is not None and past_value is not None:
        k, v = b.op("Concat", past_key, k, axis=2), b.op("Concat", past_value, v, axis=2)
    window = (left_window_size, 0 if is_causal else right_window_size)
    scale = 1 / math.sqrt(q.shape[3]) if scale is None else scale
    mask = _mask(b, q.shape[2], k.shape[2], attn_mask, past, nonpad_kv_seqlen, window, q.dtype)
    bare = _grouped_product(b, q * scale, b.op("Transpose", k, perm=(0, 1, 3, 2)))
    capped = b.op("Tanh", bare / softcap) * softcap if softcap else bare
    masked = _masked(b, capped, mask)
    shares = _shares(b, masked, mask, softmax_precision)
    if isinstance(shares, Opaque):
        return shares
    y = _grouped_product(b, shares, v)
    scores = (bare, capped, masked, shares)[qk_matmul_output_mode]
    return (_unheaded(b, y) if folded else y, k, v, scores)[:outputs]


def _heads(b: Builder, x: Value, heads: int) -> Value:
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    if x.rank == 4:
        return x
    n, length, hidden = x.shape
    return b.op("Transpose", b.op("Reshape", x, shape=(n, length, heads, hidden // heads)), perm=(0, 2, 1, 3))


def _unheaded(b: Builder, y: Value) -> Value:
    n, heads, length, size = y.shape
    return b.op("Reshape", b.op("Transpose", y, perm=(0, 2, 1, 3)), shape=(n, length, heads * size))


def _grouped_product(b: Builder, x: Value, y: Value) -> Value:
    """x [n, heads, i, j] @ y [n, fewer heads, j, k]: the heads that share one of y are rows of one product."""
    n, heads, rows, inner = x.shape
    shared = y.shape[1]
    together = b.op("Reshape", x, shape=(n, shared, heads // shared * rows, inner))
    return b.op("Reshape", together @ y, shape=(n, heads, rows, y.shape[3]))


def _mask(
    b: Builder,
    queries: int,
    keys: int,
    given: Value | None,
    past: int,
    valid: Value | None,
    window: tuple[int, int],
    dtype: str,
) -> Mask:
    """The mask of [batch, heads, queries, keys]: `valid` keys a batch, a window (-1: open) around each query. What is
    added to scores of a `dtype` may have another."""
    bias, allowed = None, None
    if given is not None:
        given = given if given.dtype == "bool" else b.op("Cast", given, to=dtype)
        given = padded(
            b,
            given,
            [0] * (2 * given.rank - 1) + [keys - given.shape[-1]],
            value=False if given.dtype == "bool" else -math.inf,
        )
        bias, allowed = (None, given) if given.dtype == "bool" else (given, None)
    b.check_constant((queries, keys))
    behind = np.arange(queries)[:, None] - np.arange(keys) + past  # how far the key lies behind the query
    distance = b.constant(behind)
    if valid is not None:
        lengths = b.op("Reshape", b.op("Cast", valid, to="int64"), shape=(valid.tensor.size, 1, 1, 1))
        allowed = _both(b, allowed, b.op("Less", b.constant(b.positions(keys)), lengths))
        distance = distance + (lengths - queries)
    left, right = window
    if left >= 0:
        allowed = _both(b, allowed, b.op("LessOrEqual", distance, left))
    if right >= 0:
        allowed = _both(b, allowed, b.op("GreaterOrEqual", distance, -right))
    everything = allowed is not None and allowed.array is not None and allowed.array.all()
    return Mask(bias, None if everything else allowed)


def _both(b: Builder, x: Value | None, y: Value) -> Value:
    return y if x is None else b.op("And", x, y)


def _masked(b: Builder, scores: Value, mask: Mask) -> Value:
    scores = scores if mask.bias is None else scores + mask.bias
    return scores if mask.allowed is None else b.op("Where", mask.allowed, scores, -math.inf)


def _shares(b: Builder, scores: Value, mask: Mask, precision: int | None) -> Value | Opaque:
    """softmax(scores) in the dtype `precision`; rows without any key that counts are 0."""
    dtype = np.dtype(scores.dtype) if precision is None else helper.tensor_dtype_to_np_dtype(precision)
    if dtype.kind != "f":
        return Opaque(f"its softmax computes in {dtype.name}")
    wide = b.op("Cast", scores, to=dtype.name)
    shares = _guarded_softmax(b, wide) if _may_be_empty(mask) else softmax(b, wide, axis=-1)
    return b.op("Cast", shares, to=scores.dtype)


def _may_be_empty(mask: Mask) -> bool:
    """Whether a query may have no key: unknown masks may do anything."""
    bias, allowed = (None if v is None else v.array for v in (mask.bias, mask.allowed))
    if (bias is None) != (mask.bias is None) or (allowed is None) != (mask.allowed is None):
        return True
    possible = np.logical_and(True if allowed is None else allowed, True if bias is None else np.isfinite(bias))
    return not np.atleast_1d(possible).any(axis=-1).all()


def _guarded_softmax(b: Builder, x: Value) -> Value:
    """softmax along the last axis, and 0 where all is -inf: the sum is at least exp 0 wherever it is not."""
    axes = (x.rank - 1,)
    top = b.op("Max", b.op("ReduceMax", x, axes=axes, keepdims=1), float(np.finfo(x.dtype).min))
    e = b.op("Exp", x - top)
    return e / b.op("Max", b.op("ReduceSum", e, axes=axes, keepdims=1), 1.0)


@fission("RotaryEmbedding", since=23)
def rotary_embedding(
    b: Builder,
    x: Value,
    cos: Value,
    sin: Value,
    position_ids: Value | None = None,
    /,
    *,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
) -> Value | Opaque:
    """Pairs of elements (halves apart, or neighbours if `interleaved`) turned by an angle of their position."""
    shape = x.shape
    if x.rank == 3:
        x = b.op("Reshape", x, shape=(*shape[:2], num_heads, shape[2] // num_heads))
    turned = rotary_embedding_dim or x.shape[3]
    angles = [_at_positions(b, a, position_ids, len(shape) == 4) for a in (cos, sin)]
    if any(isinstance(a, Opaque) for a in angles):
        return Opaque("its positions are computed by the model")
    c, s = (a for a in angles if isinstance(a, Value))
    half = turned // 2
    first, second = (range(0, turned, 2), range(1, turned, 2)) if interleaved else (range(half), range(half, turned))
    x1, x2 = cut(b, x, {3: first}), cut(b, x, {3: second})
    pair = (c * x1 - s * x2, s * x1 + c * x2)
    rest = [cut(b, x, {3: range(turned, x.shape[3])})] if turned < x.shape[3] else []
    if interleaved:
        columns = [b.op("Reshape", p, shape=(*p.shape, 1)) for p in pair]
        pair = (b.op("Reshape", b.op("Concat", *columns, axis=4), shape=(*x.shape[:3], turned)),)
    return b.op("Reshape", b.op("Concat", *pair, *rest, axis=3), shape=shape)


def _at_positions(b: Builder, angles: Value, positions: Value | None, heads_first: bool) -> Value | Opaque:
    """[batch, length, half] from a table of all positions, with an axis for the heads."""
    if positions is not None:
        picked = gather(b, angles, positions, axis=0)
        if isinstance(picked, Opaque):
            return picked
        angles = picked
    n, length, half = angles.shape
    return b.op("Reshape", angles, shape=(n, 1, length, half) if heads_first else (n, length, 1, half))
