"""Models from strangers that ask for more than there is: refused by name before anything is allocated."""

from __future__ import annotations

import tracemalloc

import pytest
from onnx import parser

from korch import limits
from korch.errors import ModelError
from korch.fission import fission
from korch.fission.importer import read
from korch.ir.builder import Builder

N = 1 << 40
SIDE = 1 << 20
ADDED = "f = Cast<to=1>(e) r = ReduceSum<keepdims=0>(f) y = Add(x, r)"
HUGE = {
    "Expand": f"(float x) => (float y) <int64[1] s = {{{N}}}, float[1] c = {{2}}> {{ e = Expand(c, s) {ADDED} }}",
    "Pad": f"(float x) => (float y) <int64[2] s = {{0, {N}}}, float[1] c = {{2}}> {{ e = Pad(c, s) {ADDED} }}",
    "Tile": f"(float x) => (float y) <int64[1] s = {{{N}}}, float[1] c = {{2}}> {{ e = Tile(c, s) {ADDED} }}",
    "Range": f"(float x) => (float y) <int64 a = {{0}}, int64 b = {{{N}}}, int64 d = {{1}}> "
    f"{{ e = Range(a, b, d) {ADDED} }}",
    "ConstantOfShape": f"(float x) => (float y) <int64[1] s = {{{N}}}> {{ e = ConstantOfShape(s) {ADDED} }}",
    "HannWindow": f"(float x) => (float y) <int64 s = {{{N}}}> {{ e = HannWindow(s) {ADDED} }}",
    "OneHot": f"(int64[1] x) => (float[1, {N}] y) <int64 s = {{{N}}}, float[2] v = {{0, 1}}> {{ y = OneHot(x, s, v) }}",
    "Resize": f"(float x) => (float y) <int64[4] s = {{1, 1, 4, {N}}}, float[1,1,1,1] c = {{1}}> "
    f"{{ e = Resize(c, , , s) {ADDED} }}",
    "Resize of data": f"(float[1,1,4,4] x) => (float y) <int64[4] s = {{1, 1, 4, {N}}}> "
    '{ e = Resize<mode="linear">(x, , , s) y = ReduceSum<keepdims=0>(e) }',
    "MatMul": f"(float x) => (float y) <int64[2] s = {{{SIDE}, 1}}, int64[2] t = {{1, {SIDE}}}, float c = {{1}}> "
    f"{{ a = Expand(c, s) b = Expand(c, t) e = MatMul(a, b) {ADDED} }}",
    "Add": f"(float[{SIDE}, 1] x, float[1, {SIDE}] z) => (float[{SIDE}, {SIDE}] y) {{ y = Add(x, z) }}",
    "Attention": f"(float[1, 1, {SIDE}, 8] x) => (float[1, 1, {SIDE}, 8] y) {{ y = Attention<is_causal=1>(x, x, x) }}",
    "input": f"(float[{1 << 62}] x) => (float[{1 << 62}] y) {{ y = Relu(x) }}",
    "Einsum": f"(float x) => (float y) <int64[2] s = {{1, 1}}, int64[1] n = {{{SIDE}}}, float c = {{1}}> "
    f'{{ d = Expand(c, s) a = Expand(c, n) e = Einsum<equation="ii,j,k->jk">(d, a, a) {ADDED} }}',
    "Split": f"(float[4] x) => (float[2] y) {{ y, z = Split<axis=0, num_outputs={N}>(x) }}",
}


def refused(text: str, *words: str) -> None:
    opset = 23 if "Attention" in text else 18
    with pytest.raises(ModelError) as caught:
        fission(read(parser.parse_model(f'<ir_version: 10, opset_import: ["": {opset}]>\ng {text}')))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("kind", HUGE)
def test_huge_tensors_are_refused_by_name(kind: str):
    refused(HUGE[kind], kind.split()[0], "memory" if kind == "Split" else "TB")


SMALL = {
    "Expand": "(float[4] x) => (float[100, 4] y) <int64[2] s = {100, 4}, float[4] c = {1, 2, 3, 4}> "
    "{ e = Expand(c, s) y = Add(x, e) }",
    "Range": "(float x) => (float[400] y) <float a = {0}, float b = {400}, float d = {1}> "
    "{ e = Range(a, b, d) y = Add(x, e) }",
    "ConstantOfShape": "(float x) => (float[400] y) <int64[1] s = {400}> { e = ConstantOfShape(s) y = Add(x, e) }",
    "OneHot": "(int64[1] x) => (float[1, 400] y) <int64 s = {400}, float[2] v = {0, 1}> { y = OneHot(x, s, v) }",
    "EyeLike": "(float[20, 20] x) => (float[20, 20] y) { e = EyeLike(x) y = Add(x, e) }",
    "Trilu": "(float[40, 40] x) => (float[40, 40] y) { y = Trilu(x) }",
    "Hardmax": "(float[400] x) => (float[400] y) { y = Hardmax(x) }",
    "IsInf": "(float[1000] x) => (bool[1000] y) { y = IsInf<detect_negative=0, detect_positive=0>(x) }",
    "Dropout": "(float[1000] x) => (float[1000] y, bool[1000] z) { y, z = Dropout(x) }",
    "Attention": "(float[1, 1, 16, 8] x) => (float[1, 1, 16, 8] y) { y = Attention<is_causal=1>(x, x, x) }",
}


@pytest.mark.parametrize("kind", SMALL)
def test_computed_constants_are_counted(kind: str, monkeypatch: pytest.MonkeyPatch):
    """Every rule that makes a constant from shapes asks first."""
    monkeypatch.setattr(limits, "FOLDED_BYTES", 250)
    monkeypatch.setattr(limits, "FOLDED_TIMES", 1)
    refused(SMALL[kind], kind, "computes a constant of")


def test_many_constants_are_as_much_as_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "FOLDED_BYTES", 1000)
    b = Builder(allowance=limits.Allowance())
    one = b.constant(1.0, "float32")
    for n in range(1, 21):
        b.op("Expand", one, shape=(n,))  # 840 bytes together
    with pytest.raises(ModelError, match=r"besides 0\.8 kB of others"):
        b.op("Expand", one, shape=(100,))


def test_constants_of_the_model_may_be_computed_with(monkeypatch: pytest.MonkeyPatch):
    """Weights that are transposed, or dequantized, are no larger than so many times themselves."""
    monkeypatch.setattr(limits, "FOLDED_BYTES", 0)
    w = ", ".join("1" for _ in range(64))
    text = f"(float[8] x) => (float[8] y) <float[8, 8] w = {{{w}}}> {{ t = Transpose(w) y = MatMul(x, t) }}"
    graph = fission(read(parser.parse_model(f'<ir_version: 10, opset_import: ["": 18]>\ng {text}')))
    assert [p.op for p in graph.primitives if p.op != "Reshape"] == ["MatMul"]


def test_a_body_allows_what_it_holds_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(limits, "FOLDED_BYTES", 0)
    numbers = ", ".join("1" for _ in range(16))
    body = f"(int64 i, bool g, float[16] v) => (bool h, float[16] u) <float[16] w = {{{numbers}}}> "
    body += "{ h = Identity(g)  r = HannWindow(n)  s = ReduceSum<keepdims=0>(r)  t = Add(v, w)  u = Add(t, s) }"
    refused(
        f"(float[16] x) => (float[16] y) <int64 c = {{8}}, bool t = {{1}}, int64 n = {{100}}> "
        f"{{ y = Loop(c, t, x) <body = b {body}> }}",
        "HannWindow",
        "computes a constant of 0.4 kB",
    )


def test_what_is_computed_allows_no_more(monkeypatch: pytest.MonkeyPatch):
    """Constants that onnxruntime makes are not the model's own."""
    monkeypatch.setattr(limits, "FOLDED_BYTES", 1000)
    size = "<int64 s = {200}, int64 t = {1000}> { a = HannWindow(s) b = HannWindow(t) "
    refused(
        f"(float x) => (float y) {size} e = ReduceSum<keepdims=0>(a) f = ReduceSum<keepdims=0>(b) g = Add(e, f) "
        "y = Add(x, g) }",
        "HannWindow",
        "besides 0.8 kB of others",
    )


POSITIONS = {
    "Resize": "(float[1,1,4,4] x) => (float[1,1,4,12] y) <int64[4] s = {1, 1, 4, 12}> "
    '{ y = Resize<mode="linear">(x, , , s) }',
    "Gather": "(float[12] x) => (float[12] y) <int64[12] i = {3,3,1,4,1,5,9,2,6,5,3,5}> { y = Gather(x, i) }",
    "STFT": "(double[1,12,1] x) => (double[1,9,3,2] y) <int64 step = {1}, int64 n = {4}> { y = STFT(x, step, , n) }",
}


@pytest.mark.parametrize("kind", POSITIONS)
def test_no_rule_lists_millions_of_positions(kind: str, monkeypatch: pytest.MonkeyPatch):
    """They are part of a primitive; the node is onnxruntime's, or reads them from a tensor."""
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["": 18]>\ng {POSITIONS[kind]}')
    listed = {"Gather", "Interpolate"}
    assert listed & {p.op for p in fission(read(model)).primitives}
    monkeypatch.setattr(limits, "POSITIONS", 11)
    assert not listed & {p.op for p in fission(read(model)).primitives}


def test_a_tensor_has_a_quarter_of_the_memory():
    assert 1 << 28 < limits.tensor_bytes() < 1 << 50
    b = Builder(allowance=limits.Allowance())
    x = b.input("x", "float32", (1,))
    with pytest.raises(ModelError, match="Expand has a tensor of"):
        b.op("Expand", x, shape=(limits.tensor_bytes(),))
    assert Builder().op("Expand", Builder().input("x", "float32", (1,)), shape=(N,)).shape == (N,)


@pytest.mark.parametrize("op", ["Add", "Mul"])
def test_folding_looks_at_shapes_before_it_computes(op: str):
    """Two constants that broadcast to a larger one stay two, and the larger one is never made."""
    text = (
        "(float[2000, 2000] x) => (float[2000, 2000] y) <int64[2] s = {2000, 1}, int64[2] t = {1, 2000}> "
        f"{{ a = ConstantOfShape(s) b = ConstantOfShape(t) c = Add(x, a) y = {op}(c, b) }}"
    )
    model = read(parser.parse_model(f'<ir_version: 10, opset_import: ["": 18]>\ng {text}'))
    tracemalloc.start()
    try:
        fission(model)
        assert tracemalloc.get_traced_memory()[1] < 16e6  # of 32 million bytes
    finally:
        tracemalloc.stop()
