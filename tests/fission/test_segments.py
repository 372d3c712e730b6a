"""Models cut into islands and host segments."""

from __future__ import annotations

import onnx
import onnxruntime
import pytest

from korch.errors import ModelError
from korch.fission.importer import ordered
from korch.fission.importer.segments import segments_of

HEAD = '<ir_version: 8, opset_import: ["": 17]> g '
NONZERO = (
    HEAD
    + """(float[4,8] x) => (float[4,8] y, int64[a,b] z)
{ r = Relu(x)  s = Softmax<axis=1>(r)  z = NonZero(r)  y = Mul(s, s) }"""
)
LOOP = (
    HEAD
    + """(float[8,8] x, int64 n) => (float[8,8] y) <bool t = {1}> {
  a = MatMul(x, x)  b = Tanh(a)
  c = Loop(n, t, b) <body = body (int64 i, bool cin, float[8,8] s) => (bool cout, float[8,8] o)
    { cout = Identity(cin)  m = MatMul(s, x)  o = Tanh(m) }>
  y = Relu(c) }"""
)
TOP_K = (
    HEAD
    + """(float[4,8] x) => (float[a,b] y) <int64 l = {1}, int64 h = {8}, int64[1] one = {1}> {
  e = Exp(x)  s = ReduceMax<axes=[0,1],keepdims=0>(x)  i = Cast<to=7>(s)  j = Clip(i, l, h)  k = Reshape(j, one)
  v, w = TopK(e, k)  y = Neg(v) }"""
)
SEQUENCE = (
    HEAD
    + """(float[4,8] x) => (float[8,8] y)
{ a = Exp(x)  s = SequenceConstruct(a, x)  c = ConcatFromSequence<axis=0>(s)  y = Relu(c) }"""
)


def cut(text: str) -> list[tuple[bool, list[str], tuple[str, ...], tuple[str, ...]]]:
    found = segments_of(ordered(onnx.parser.parse_model(text)))
    for s in found:
        assert len(onnxruntime.InferenceSession(s.model.SerializeToString()).get_outputs()) == len(s.writes)
    return [(s.host, s.operators, s.reads, s.writes) for s in found]


@pytest.mark.parametrize("text, expected", [
    (NONZERO, [(False, ["Relu", "Softmax", "Mul"], ("x",), ("r", "y")), (True, ["NonZero"], ("r",), ("z",))]),
    (LOOP, [(False, ["MatMul", "Tanh"], ("x",), ("b",)), (True, ["Loop"], ("n", "b", "x"), ("c",)),
            (False, ["Relu"], ("c",), ("y",))]),
    (TOP_K, [(False, ["Exp", "ReduceMax", "Cast", "Clip", "Reshape"], ("x",), ("e", "k")),
             (False, ["TopK", "Neg"], ("e", "k"), ("y",))]),
    (SEQUENCE, [(False, ["Exp"], ("x",), ("a",)),
                (True, ["SequenceConstruct", "ConcatFromSequence"], ("a", "x"), ("c",)),
                (False, ["Relu"], ("c",), ("y",))]),
])  # fmt: skip
def test_segments_are_models_in_order(text: str, expected: list[tuple[object, ...]]):
    found = cut(text)
    assert [(h, o, r, w) for h, o, r, w in found] == expected


def test_a_static_model_is_one_island():
    (only,) = cut(HEAD + "(float[4,8] x) => (float[8] y) { s = Shape(x)  o = Slice(s, a, b)  r = Expand(x, s)"
                  "  y = ReduceSum<keepdims=0>(r, z)  a = Constant<value_ints=[0]>()  b = Constant<value_ints=[1]>()"
                  "  z = Constant<value_ints=[0]>() }")  # fmt: skip
    assert not only[0]


def test_what_has_no_type_cannot_be_cut():
    text = HEAD + "(float[4] x) => (float[4] y) { a = other.Thing(x)  y = Relu(a) }"
    model = onnx.parser.parse_model(text.replace('["": 17]', '["": 17, "other": 1]'))
    with pytest.raises(ModelError, match="type of 'a'"):
        segments_of(ordered(model))


def test_a_constant_is_written_by_no_segment():
    text = HEAD + "(float[4] x) => (int64[a,b] z, float[2] c) <float[2] c = {1, 2}> { z = NonZero(x) }"
    with pytest.raises(ModelError, match="output 'c' is a constant"):
        segments_of(ordered(onnx.parser.parse_model(text)))
