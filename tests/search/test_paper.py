"""The paper's examples (sections 3 and 6.4): each comes out of the program by itself, at analytic costs."""

from __future__ import annotations

import onnx.parser
import pytest

from korch.fission import fission
from korch.fission.importer import read
from korch.ir import Builder, Cone, Graph, Value

from .analytic import FUSING, PLAIN, planned


def attention(batch: int, heads: int, rows: int, columns: int, width: int) -> Graph:
    """Softmax as the paper writes it, e^x / sum e^x, between two products."""
    b = Builder()
    lengths = (("q", rows), ("k", columns), ("v", columns))
    q, k, v = (b.input(name, "float32", (batch, heads, n, width)) for name, n in lengths)
    e = b.op("Exp", q @ b.op("Transpose", k, perm=(0, 1, 3, 2)) * width**-0.5)
    return b.graph([("y", (e / b.op("ReduceSum", e, axes=(3,), keepdims=1)) @ v)])


def segformer_attention(batch: int) -> Graph:
    """The last stage of Segformer-B0 on an image of 512 x 512: 8 heads, 16 x 16 tokens."""
    return attention(batch, heads=8, rows=256, columns=256, width=32)


def ops(cone: Cone) -> set[str]:
    return {p.op for p in cone.primitives}


def holding(op: str, plan: list[Cone]) -> list[Cone]:
    return [cone for cone in plan if op in ops(cone)]


def test_the_reduce_of_a_softmax_becomes_part_of_a_product():
    """Figure 2: one more column of the product with v gives the sums, and what divides by them comes behind it.

    The first stage of Segformer-B0 on an image of 512 x 512: one head, 128 x 128 tokens, 256 keys. The Exp is an
    epilogue of the product before.
    """
    plan = planned(attention(1, heads=1, rows=16384, columns=256, width=32))
    kernels = [(ops(c), c.root.shape[-1]) for c in plan]
    expected = [({"Transpose", "MatMul", "Mul", "Exp"}, 256), ({"Pad"}, 33), ({"MatMul"}, 33), ({"Slice", "Div"}, 32)]
    assert len(kernels) == 4 and all(kernel in kernels for kernel in expected)


def test_batches_of_segformer_are_fused_differently():
    """Section 6.4: few kernels where launches cost most; where memory does, more kernels that move less."""
    one, many = planned(segformer_attention(1)), planned(segformer_attention(16))
    assert [ops(c) for c in holding("ReduceSum", one)] == [{"ReduceSum", "Div"}]
    assert [c.root.shape[-1] for c in one] == [256, 256, 32]
    assert not holding("ReduceSum", many)
    assert sorted(c.root.shape[-1] for c in many) == [32, 33, 33, 256]


def linear_attention(b: Builder, x: Value, heads: int) -> Value:
    """EfficientViT's: relu q (relu k' v) / relu q (sum relu k), from channels q, k, v of every head, to channels."""
    n, channels, h, w = x.shape
    d = channels // heads // 3
    tokens = b.op("Transpose", b.op("Reshape", x, shape=(n, heads, 3 * d, h * w)), perm=(0, 1, 3, 2))
    q, k, v = (
        b.op("Slice", tokens, starts=(0, 0, 0, i * d), steps=(1,) * 4, lengths=(n, heads, h * w, d)) for i in range(3)
    )
    q, k = b.op("Relu", q), b.op("Transpose", b.op("Relu", k), perm=(0, 1, 3, 2))
    y = (q @ (k @ v)) / (q @ b.op("ReduceSum", k, axes=(3,), keepdims=1) + 1e-15)
    return b.op("Reshape", b.op("Transpose", y, perm=(0, 1, 3, 2)), shape=(n, heads * d, h, w))


def efficientvit_attention() -> Graph:
    """Of EfficientViT-B0's third stage on an image of 2048 x 2048: both scales, 16 wide heads, 128 x 128 tokens."""
    b = Builder()
    return b.graph([("y", linear_attention(b, b.input("x", "float32", (1, 384, 128, 128)), heads=8))])


def test_the_products_of_efficientvit_merge():
    """Figure 10: sum and product of k are one, then both products of q, where a product is a kernel of its own."""
    plan = planned(efficientvit_attention(), PLAIN)
    assert not holding("ReduceSum", plan)
    assert [c.root.shape for c in holding("MatMul", plan)] == [(1, 8, 16, 17), (1, 8, 16384, 17)]


@pytest.mark.parametrize("backends", [PLAIN, FUSING], ids=["plain", "fusing"])
def test_views_of_efficientvit_are_computed_again(backends):
    """Section 6.4, redundant computing: Reshape and Transpose are in the kernels of q, of k and of v."""
    graph = efficientvit_attention()
    first, second = graph.primitives[:2]
    assert (first.op, second.op) == ("Reshape", "Transpose")
    several = [c for c in planned(graph, backends) if first in c.primitives and second in c.primitives]
    assert len(several) >= 3 and len({c.root for c in several}) == len(several)


CANDY = """
<ir_version: 8, opset_import: ["": 17]>
candy (float[1,32,224,224] x, float[32] scale, float[32] shift) => (float[1,32,226,226] y)
<int64[8] pads = {0,0,1,1,0,0,1,1}>
{ n = InstanceNormalization(x, scale, shift)  r = Relu(n)  y = Pad<mode="reflect">(r, pads) }
"""


def test_a_kernel_of_candy_holds_parts_of_three_operators():
    """Figure 12: what InstanceNorm ends with, ReLU and Pad are one kernel."""
    plan = planned(fission(read(onnx.parser.parse_model(CANDY), {})))
    wholes = [{p.origin for p in cone.primitives} for cone in plan]
    assert any(len(w) == 3 for w in wholes), wholes
