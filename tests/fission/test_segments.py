"""Models cut into islands, host segments and control flow."""

from __future__ import annotations

import onnx
import onnxruntime
import pytest

from korch.errors import ModelError
from korch.fission.importer import ordered
from korch.fission.importer.segments import Segment, SegmentKind, cut

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


ISLAND, HOST, CONTROL = SegmentKind


def segments(text: str) -> list[Segment]:
    """The segments, each of which onnxruntime takes as a model."""
    found = cut(ordered(onnx.parser.parse_model(text))).segments
    for s in found:
        assert len(onnxruntime.InferenceSession(s.model.SerializeToString()).get_outputs()) == len(s.writes)
    return list(found)


@pytest.mark.parametrize(
    "text, expected",
    [
        (NONZERO, [(ISLAND, ["Relu", "Softmax", "Mul"], ("x",), ("r", "y")), (HOST, ["NonZero"], ("r",), ("z",))]),
        (
            LOOP,
            [
                (ISLAND, ["MatMul", "Tanh"], ("x",), ("b",)),
                (CONTROL, ["Loop"], ("n", "b", "x"), ("c",)),
                (ISLAND, ["Relu"], ("c",), ("y",)),
            ],
        ),
        (
            TOP_K,
            [
                (ISLAND, ["Exp", "ReduceMax", "Cast", "Clip", "Reshape"], ("x",), ("e", "k")),
                (ISLAND, ["TopK", "Neg"], ("e", "k"), ("y",)),
            ],
        ),
        (
            SEQUENCE,
            [
                (ISLAND, ["Exp"], ("x",), ("a",)),
                (HOST, ["SequenceConstruct", "ConcatFromSequence"], ("a", "x"), ("c",)),
                (ISLAND, ["Relu"], ("c",), ("y",)),
            ],
        ),
    ],
)
def test_segments_are_models_in_order(text: str, expected: list[tuple[object, ...]]):
    assert [(s.kind, s.operators, s.reads, s.writes) for s in segments(text)] == expected


def test_bodies_are_cut_in_turn():
    (body,) = segments(LOOP)[1].bodies
    assert (body.arguments, body.results) == (("i", "cin", "s"), ("cout", "o"))
    assert [(s.kind, s.operators, s.writes) for s in body.segments] == [
        (ISLAND, ["Identity", "MatMul", "Tanh"], ("cout", "o"))
    ]


def test_loops_of_one_phase_are_segments_of_their_own():
    two = LOOP.replace(
        "y = Relu(c)",
        "d = Loop(n, t, b) <body = other (int64 k, bool kin, float[8,8] r) =>"
        " (bool kout, float[8,8] q) { kout = Identity(kin) q = Add(r, c) }> y = Relu(d)",
    )
    assert [s.operators for s in segments(two)] == [["MatMul", "Tanh"], ["Loop"], ["Loop"], ["Relu"]]


def test_a_static_model_is_one_island():
    (only,) = segments(
        HEAD + "(float[4,8] x) => (float[8] y) { s = Shape(x)  o = Slice(s, a, b)  r = Expand(x, s)"
        "  y = ReduceSum<keepdims=0>(r, z)  a = Constant<value_ints=[0]>()  b = Constant<value_ints=[1]>()"
        "  z = Constant<value_ints=[0]>() }"
    )
    assert only.kind is ISLAND


def test_what_has_no_type_cannot_be_cut():
    text = HEAD + "(float[4] x) => (float[4] y) { a = other.Thing(x)  y = Relu(a) }"
    model = onnx.parser.parse_model(text.replace('["": 17]', '["": 17, "other": 1]'))
    with pytest.raises(ModelError, match="type of 'a'"):
        cut(ordered(model))


def test_outputs_that_are_constants_are_known():
    text = HEAD + "(float[4] x) => (int64[a,b] z, float[2] c) <float[2] c = {1, 2}> { z = NonZero(x) }"
    body = cut(ordered(onnx.parser.parse_model(text)))
    assert body.results == ("z", "c") and body.constants["c"].tolist() == [1, 2]
