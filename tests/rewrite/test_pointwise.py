"""Convolutions of single positions as matrix products, and back."""

from __future__ import annotations

from math import prod

import pytest

from korch.backends.table import backends
from korch.ir import Builder, Cone, Value
from korch.rewrite.commute import map_before_move
from korch.rewrite.cost import estimate
from korch.rewrite.extract import cheapest
from korch.rewrite.layouts import add_layouts
from korch.rewrite.pointwise import pointwise_as_product
from korch.rewrite.saturate import algebra

from .choices import by_rule, derived, fewest, multiply_adds
from .nets import conv, graph_of, linear, tokens

STILL = {"strides": (1, 1), "pads": (0,) * 4, "dilations": (1, 1), "group": 1, "channels_last": 0}


@pytest.mark.parametrize("image", [(7,), (3, 5), (2, 3, 2)])
def test_computed_weights_over_any_number_of_axes(image: tuple[int, ...]):
    k = len(image)
    attrs = {"strides": (1,) * k, "pads": (0,) * (2 * k), "dilations": (1,) * k, "group": 1, "channels_last": 0}
    plain = graph_of(lambda b, x, w: b.op("Conv", x, w, **attrs), (2, 4, *image), (6, 4, *(1,) * k))
    graph = derived(plain, [pointwise_as_product])
    (product,) = (p for p in by_rule(graph, pointwise_as_product) if p.op == "MatMul")
    assert product.output.shape == (2, 6, prod(image))


@pytest.mark.parametrize("other", [{"strides": (2, 1)}, {"pads": (0, 1, 0, 0)}, {"group": 2}])
def test_nothing_else_is_a_product(other: dict[str, object]):
    kernel = (6, 2 if "group" in other else 4, 1, 1)
    plain = graph_of(lambda b, x, w: b.op("Conv", x, w, **(STILL | other)), (1, 4, 5, 5), kernel)
    assert derived(plain, [pointwise_as_product]).primitives == plain.primitives


def test_queries_meet_the_weights_before_the_image():
    """Q (V x) = (Q V) x, where V x is written as a convolution and Q is computed: masks of instances."""

    def masks(b: Builder, x: Value, queries: Value) -> Value:
        y = conv(b, x, 32)
        return queries @ b.op("Reshape", y, shape=(1, 32, y.shape[2] * y.shape[3]))

    plain = graph_of(masks, (1, 32, 16, 16), (1, 4, 32))
    least = 4 * 32 * 32 + 4 * 32 * 256
    assert multiply_adds(fewest(plain)) == least
    assert multiply_adds(cheapest(algebra(plain), plain, estimate)) == least


def test_alone_it_stays_a_convolution():
    """Both are kernels of it anyway (below): another primitive would only repeat them."""
    plain = graph_of(lambda b, x: b.op("Relu", conv(b, x, 32)), (1, 32, 16, 16))
    assert derived(plain).primitives == plain.primitives


def test_a_product_with_tokens_is_a_convolution_of_the_image():
    plain = graph_of(lambda b, x: linear(b, tokens(b, x), 6), (1, 4, 3, 5))
    full = derived(plain, [map_before_move])
    assert any(p.op == "Conv" and p.output.shape == (1, 6, 3, 5) for p in full.primitives)


@pytest.mark.onednn
@pytest.mark.parametrize("last", [0, 1])
def test_both_forms_are_kernels_in_both_layouts(last: int):
    """Without more primitives: oneDNN is asked for a convolution, and for a product where that is other code."""
    graph = add_layouts(graph_of(lambda b, x: conv(b, x, 128), (1, 64, 8, 8)))
    (p,) = (p for p in graph.primitives if p.op == "Conv" and p.attr("channels_last") == last)
    (onednn,) = (b for b in backends() if b.name == "onednn")
    forms = {k.variant.form for k in onednn.build(Cone.of([p]), threads=2)}
    assert forms == ({"conv", "conv jit"} if last else {"conv", "matmul"})
