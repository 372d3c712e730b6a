"""Inputs that do not fit their operator are refused where they meet it, in one line."""

import pytest
from onnx import parser

from korch.errors import ModelError
from korch.fission import fission
from korch.fission.importer import read


def refusal(text: str, opset: int = 17) -> str:
    """The complaint about a model in ONNX's text form."""
    with pytest.raises(ModelError) as caught:
        fission(read(parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]>\ng {text}')))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(float[2] x, double[2] w) => (float[2] y) { y = Add(x, w) }", "Add of y has inputs of float32 and float64"),
        ("(float[2,3] x, int64[3,2] w) => (float[2,2] y) { y = MatMul(x, w) }", "float32 and int64"),
        ("(float[2] x) => (float[2] y) { y = Where(x, x, x) }", "does not take float32 as its input 'condition'"),
        ("(int32[2] x) => (int32[2] y) { y = Cos(x) }", "does not take int32"),
        ("(float[2] x) => (double[2] y) { y = Relu(x) }", "declared as float64 but computed as float32"),
    ],
)
def test_dtypes(text: str, words: str):
    assert words in refusal(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(float[2,3] x, float[4,5] w) => (float[2,5] y) { y = MatMul(x, w) }", "shapes [2, 3], [4, 5]: Incompatible"),
        ("(float[2,3] x, float[4,5] w) => (float[6,3] y) { y = Concat<axis=0>(x, w) }", "[2, 3], [4, 5]"),
        ("(float[2,3] x) => (float[2,3] y) { y = Softmax<axis=9>(x) }", "axis"),
        ("(float[2,3] x) => (float y) { y = ReduceMean<axes=[7]>(x) }", "axis"),
        ("(float[2,3] x) => (float[3,2] y) { y = Transpose<perm=[1,1]>(x) }", "repeated value"),
        (
            "(float[2,3] x) => (float[3] y) { s = Constant<value_ints=[0]>() y = Squeeze(x, s) }",
            "must be 1 instead of 2",
        ),
        (
            "(float[2,3] x) => (float[4,5] y) { s = Constant<value_ints=[4,5]>() y = Reshape(x, s) }",
            "6 elements of shape [2, 3] do not fill [4, 5]",
        ),
        ("(float[2,3] x) => (float[3] y) { i = Constant<value_int=7>() y = Gather(x, i) }", "outside of its axis"),
        ("(float[2,3] x) => (float[1] y) { i = Constant<value=int64[1,2] {5,5}>() y = GatherND(x, i) }", "outside"),
        (
            "(float[1,3,8,8] x, float[4,2,3,3] w) => (float[1,4,6,6] y) { y = Conv(x, w) }",
            "weights of shape [4, 2, 3, 3] do not fit an input of shape [1, 3, 8, 8]",
        ),
        ("(float[1,3,8,8] x, float[4,1,3,3] w) => (float[1,4,6,6] y) { y = Conv<group=3>(x, w) }", "in 3 groups"),
        ("(float[1,3,8,8] x, float[4,2,3,3] w) => (float[1,2,10,10] y) { y = ConvTranspose(x, w) }", "do not fit"),
        ("(float[1,3,2,2] x, float[4,3,5,5] w) => (float[1,4,1,1] y) { y = Conv(x, w) }", "a window of shape [5, 5]"),
        (
            "(float[1,3,2,2] x) => (float[1,3,1,1] y) { y = MaxPool<kernel_shape=[5,5]>(x) }",
            "does not fit into an input",
        ),
        ("(float[1,3,8,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv<strides=[0,1]>(x, w) }", "strides"),
    ],
)
def test_shapes(text: str, words: str):
    assert words in refusal(text)


def test_rules_may_take_more_than_the_inference():
    text = (
        '(float[2,1,3,4] x, float[5,4,2] z) => (float[2,5,3,2] y) { y = Einsum<equation="...ij,...jk->...ik">(x, z) }'
    )
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["": 17]>\ng {text}')
    assert fission(read(model)).outputs[0].shape == (2, 5, 3, 2)
