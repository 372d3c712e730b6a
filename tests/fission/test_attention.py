"""Attention and RotaryEmbedding against ONNX's reference implementation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from korch.fission import fission

from .oracle import check, node_model, values

N, QUERIES, KEYS, SIZE = 2, 3, 5, 4


def attention(*inputs, opset=23, **more):
    return check("Attention", *inputs, opset=opset, oracle="onnx", **more)


def qkv(heads=2, kv_heads=2, keys=KEYS, v_size=6):
    return (values(N, heads, QUERIES, SIZE), values(N, kv_heads, keys, SIZE, seed=1), values(N, kv_heads, keys, v_size))


@settings(max_examples=12, deadline=None)
@given(
    kv_heads=st.sampled_from([1, 2, 4]),
    causal=st.integers(0, 1),
    mode=st.integers(0, 3),
    more=st.fixed_dictionaries({}, optional={"scale": st.floats(0.25, 1), "softcap": st.floats(1, 4)}),
    mask=st.sampled_from([None, "bool", "float"]),
)
def test_attention(kv_heads, causal, mode, more, mask):
    given_mask = values(QUERIES, KEYS, seed=3)
    given_mask = None if mask is None else given_mask > -1 if mask == "bool" else given_mask
    mode = 1 if mode == 0 and "softcap" in more else mode  # the reference caps the bare scores too, against the text
    attention(*qkv(4, kv_heads), given_mask, is_causal=causal, outputs=4, qk_matmul_output_mode=mode, **more)


@pytest.mark.parametrize("shape", [(QUERIES, KEYS), (1, 1, QUERIES, KEYS), (N, 2, QUERIES, KEYS), (N, 1, 1, KEYS)])
def test_masks(shape):
    mask = values(*shape, seed=5)
    for m in (mask, mask > 0):
        attention(*qkv(), m)
        attention(*qkv(), m, constants=[3])


def test_short_masks_are_padded():
    attention(*qkv(), values(QUERIES, KEYS - 2))
    attention(*qkv(), values(QUERIES, KEYS - 2) > -1)


def test_a_mask_of_another_type():
    halves = [x.astype(np.float16) for x in qkv()]
    graph = fission(node_model("Attention", [*halves, values(QUERIES, KEYS - 2)], opset=23))
    assert all(len({t.dtype for t in p.inputs}) == 1 for p in graph.primitives if p.op == "Add")


def test_rows_without_keys_are_zero():
    mask = np.ones((QUERIES, KEYS), bool)
    mask[1] = False
    attention(*qkv(), mask)
    attention(*qkv(), mask, constants=[3])


@pytest.mark.parametrize("kv_heads", [1, 2])
def test_folded_heads(kv_heads):
    q, k, v = values(N, QUERIES, 2 * SIZE), values(N, KEYS, kv_heads * SIZE), values(N, KEYS, kv_heads * 6)
    attention(q, k, v, q_num_heads=2, kv_num_heads=kv_heads, outputs=3)


@pytest.mark.parametrize("causal", [0, 1])
def test_past(causal):
    past = values(N, 2, 4, SIZE, seed=7), values(N, 2, 4, 6, seed=8)
    attention(*qkv(keys=QUERIES), None, *past, is_causal=causal, outputs=3)
    attention(*qkv(keys=QUERIES), values(QUERIES, QUERIES + 4), *past, is_causal=causal, outputs=3)


@pytest.mark.parametrize("causal", [0, 1])
def test_valid_lengths(causal):
    attention(*qkv(), None, None, None, np.asarray([4, 5]), opset=24, is_causal=causal)
    attention(*qkv(), None, None, None, np.asarray([2, 5]), opset=24, is_causal=causal, constants=[6])


@pytest.mark.parametrize("window", [(1, 1), (0, -1), (-1, 0), (2, 0)])
def test_windows(window):
    left, right = window
    attention(*qkv(), opset=25, left_window_size=left, right_window_size=right)


def test_plain_attention_is_a_softmax_between_two_products():
    ops = [p.op for p in attention(*qkv()).primitives]
    assert ops == ["Mul", "Transpose", "MatMul", "ReduceMax", "Sub", "Exp", "ReduceSum", "Div", "MatMul"]


@pytest.mark.parametrize("interleaved", [0, 1])
@pytest.mark.parametrize("turned", [0, 2, 4])
@pytest.mark.parametrize("positions", [False, True])
def test_rotary_embedding(interleaved, turned, positions):
    half = (turned or 6) // 2
    where = np.asarray([[0, 2, 1], [3, 3, 5]]) if positions else None
    tables = [values(*((7, half) if positions else (2, 3, half)), seed=i) for i in range(2)]
    attrs = {"interleaved": interleaved, "rotary_embedding_dim": turned, "opset": 23, "oracle": "onnx"}
    check("RotaryEmbedding", values(2, 4, 3, 6), *tables, where, constants=[3], **attrs)
    check("RotaryEmbedding", values(2, 3, 24), *tables, where, constants=[3], num_heads=4, **attrs)
