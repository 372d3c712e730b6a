"""Winograd's transforms and product against the convolution as written."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.examples import examples

from korch.executable.feeds import random_feeds
from korch.ir import Builder, Graph, Primitive
from korch.ir.evaluate import evaluate_graph, evaluate_primitive
from korch.ir.graph import select
from korch.ir.onnx_write import graph_to_onnx
from korch.ir.ops.winograd import cook_toom, matrices, tiling_of
from korch.ir.primitive import APPROXIMATE
from korch.rewrite import add_choices
from korch.rewrite.layouts import add_layouts
from korch.rewrite.winograd import winograd

FORMS = [(2, 3), (4, 3), (3, 2), (5, 2), (2, 5)]
"""(tile, kernel)"""
STRIDED = [(2, 3), (3, 3), (5, 3)]
"""With stride 2."""


def conv_graph(
    height: int,
    width: int,
    pads: tuple[int, ...] = (1, 1, 1, 1),
    channels: int = 16,
    stride: int = 1,
    batch: int = 1,
    kernel: int = 3,
    group: int = 1,
) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (batch, channels, height, width))
    w = np.random.default_rng(0).standard_normal((channels, channels // group, kernel, kernel)).astype(np.float32)
    y = b.op("Conv", x, b.constant(w), strides=(stride,) * 2, pads=pads, dilations=(1, 1), group=group, channels_last=0)
    return b.graph([("y", y)])


def along_graph(
    lengths: tuple[int, ...],
    window: tuple[int, ...],
    pads: tuple[int, ...],
    stride: int = 1,
    group: int = 1,
    batch: int = 1,
) -> Graph:
    """A signal, or an image under windows of one row or column, which move by `stride` where they reach."""
    b = Builder()
    x = b.input("x", "float32", (batch, 16, *lengths))
    w = np.random.default_rng(0).standard_normal((24, 16 // group, *window)).astype(np.float32)
    y = b.op(
        "Conv",
        x,
        b.constant(w),
        strides=tuple(stride if n > 1 else 1 for n in window),
        pads=pads,
        dilations=(1,) * len(window),
        group=group,
        channels_last=0,
    )
    return b.graph([("y", y)])


def transposed_graph(
    height: int,
    width: int,
    stride: int,
    kernel: int,
    begin: tuple[int, int] = (1, 1),
    end: tuple[int, int] = (1, 1),
    batch: int = 1,
) -> Graph:
    """With a window of `kernel` strides; `begin` and `end` are how much of the whole result is left out."""
    b = Builder()
    x = b.input("x", "float32", (batch, 16, height, width))
    taps = stride * kernel
    w = np.random.default_rng(0).standard_normal((16, 24, taps, taps)).astype(np.float32)
    ends = ((n - 1) * stride + taps - cut - left for n, cut, left in zip((height, width), begin, end, strict=True))
    y = b.op(
        "ConvTranspose",
        x,
        b.constant(w),
        strides=(stride,) * 2,
        pads=(*begin, *end),
        dilations=(1, 1),
        group=1,
        channels_last=0,
        output_shape=(batch, 24, *ends),
    )
    return b.graph([("y", y)])


def volume_graph(
    lengths: tuple[int, ...],
    window: tuple[int, ...] = (3, 3, 3),
    pads: tuple[int, ...] = (1,) * 6,
    strides: tuple[int, ...] = (1, 1, 1),
    dilation: int = 1,
    batch: int = 1,
    group: int = 1,
) -> Graph:
    b = Builder()
    x = b.input("x", "float32", (batch, 8, *lengths))
    w = np.random.default_rng(0).standard_normal((24, 8 // group, *window)).astype(np.float32)
    y = b.op(
        "Conv", x, b.constant(w), strides=strides, pads=pads, dilations=(dilation, 1, 1), group=group, channels_last=0
    )
    return b.graph([("y", y)])


def has_form(p: Primitive, form: tuple[int, int]) -> bool:
    return p.op == "WinogradOutput" and (p.attr("tile"), p.attr("kernel")) == form


def through_winograd(plain: Graph, form: tuple[int, int]) -> Graph | None:
    """The selection that computes by F(*form); None where the rewrite did not offer it."""
    graph = winograd(add_layouts(plain))
    chosen = {
        t: next((p for p in ps if has_form(p, form)), None) or next((p for p in ps if not p.spec.convolves), ps[0])
        for t, ps in graph.producers.items()
    }
    result = replace(graph, primitives=select(graph, chosen), twins={})
    return result if any(p.op == "WinogradOutput" for p in result.primitives) else None


def whatever_it_costs(plain: Graph, form: tuple[int, int]) -> Graph | None:
    """Like `through_winograd`, also where the products are too many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("korch.rewrite.winograd.WORTH", math.inf)
        return through_winograd(plain, form)


MORE = [(2, 4, 2), (3, 4, 2), (2, 5, 2), (2, 7, 3)]
"""(tile, kernel, stride) that no rewrite offers."""


@pytest.mark.parametrize(
    ("tile", "kernel", "stride"), [*((*form, 1) for form in FORMS), *((*form, 2) for form in STRIDED), *MORE]
)
def test_one_dimension(tile: int, kernel: int, stride: int):
    a, g, b = matrices(tile, kernel, stride)
    rng = np.random.default_rng(tile)
    d, w = rng.standard_normal((tile - 1) * stride + kernel), rng.standard_normal(kernel)
    assert np.allclose(a @ ((g @ w) * (b @ d)), np.correlate(d, w, "valid")[::stride], atol=1e-12)


def assert_same(plain: Graph, other: Graph) -> None:
    feeds = random_feeds(plain)
    expected, got = evaluate_graph(plain, feeds)["y"], evaluate_graph(other, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-5 * np.abs(expected).max()  # the weights are rounded to float32


@pytest.mark.parametrize("form", FORMS)
@given(
    height=st.integers(7, 13),
    width=st.integers(7, 13),
    pads=st.tuples(*[st.integers(0, 3)] * 4),
    batch=st.integers(1, 2),
)
def test_same_values(form: tuple[int, int], height: int, width: int, pads: tuple[int, ...], batch: int):
    plain = conv_graph(height, width, pads, batch=batch, kernel=form[1])
    other = through_winograd(plain, form)
    assume(other is not None)  # hypothesis complains where that is seldom
    assert other
    assert_same(plain, other)


@pytest.mark.parametrize("form", STRIDED)
@settings(deadline=None)
@given(
    height=st.integers(1, 14),
    width=st.integers(1, 14),
    pads=st.tuples(*[st.integers(0, 3)] * 4),
    batch=st.integers(1, 2),
)
def test_stride_2(form: tuple[int, int], height: int, width: int, pads: tuple[int, ...], batch: int):
    assume(min(height + pads[0] + pads[2], width + pads[1] + pads[3]) >= form[1])
    plain = conv_graph(height, width, pads, stride=2, batch=batch, kernel=form[1])
    other = whatever_it_costs(plain, form)
    assert other
    assert_same(plain, other)


@pytest.mark.parametrize(("form", "stride"), [*((form, 1) for form in FORMS), *((form, 2) for form in STRIDED)])
@pytest.mark.parametrize("group", [1, 2])
@settings(deadline=None, max_examples=20)
@given(
    length=st.integers(7, 19),
    other=st.integers(1, 3),
    begin=st.integers(0, 3),
    end=st.integers(0, 3),
    batch=st.integers(1, 2),
)
def test_along_one_axis(
    form: tuple[int, int], stride: int, group: int, length: int, other: int, begin: int, end: int, batch: int
):
    k = form[1]
    for lengths, window, pads in [
        ((length,), (k,), (begin, end)),
        ((other, length), (1, k), (0, begin, 0, end)),
        ((length, other), (k, 1), (begin, 0, end, 0)),
    ]:
        plain = along_graph(lengths, window, pads, stride, group, batch)
        transformed = whatever_it_costs(plain, form)
        assert transformed
        assert_same(plain, transformed)


@pytest.mark.parametrize(("form", "stride"), [((2, 3), 1), ((4, 3), 1), ((3, 2), 1), ((2, 5), 1), ((3, 3), 2)])
@settings(deadline=None, max_examples=20)
@given(
    depth=st.integers(1, 5),
    lengths=st.tuples(*[st.integers(7, 9)] * 2),
    taps=st.integers(1, 3),
    step=st.integers(1, 2),
    dilation=st.integers(1, 2),
    pads=st.tuples(*[st.integers(0, 2)] * 6),
    batch=st.integers(1, 2),
)
def test_volumes(
    form: tuple[int, int],
    stride: int,
    depth: int,
    lengths: tuple[int, int],
    taps: int,
    step: int,
    dilation: int,
    pads: tuple[int, ...],
    batch: int,
):
    assume(depth + pads[0] + pads[3] > (taps - 1) * dilation)
    for window in ((taps, form[1], form[1]), (taps, 1, form[1])):
        strides = (step, *(stride if n > 1 else 1 for n in window[1:]))
        plain = volume_graph((depth, *lengths), window, pads, strides, dilation, batch)
        if window[1] > 1 or not pads[1] + pads[4]:
            other = whatever_it_costs(plain, form)
            assert other
            assert_same(plain, other)


def test_a_volumes_product_adds_up_over_the_frames_that_windows_reach():
    other = through_winograd(volume_graph((5, 8, 12)), (4, 3))
    assert other
    (product,) = (p for p in other.primitives if p.op == "MatMul")
    assert [t.shape for t in product.inputs] == [(36, 5 * 2 * 3, 3 * 8), (36, 3 * 8, 24)]


def test_transforms_of_older_archives_reach_along_both_axes():
    for op, shape, more in [
        ("WinogradInput", (1, 9, 10, 8), {"pads": (1, 1, 1, 1)}),
        ("WinogradOutput", (36, 9, 8), {"shape": (1, 9, 10, 8), "phases": 1, "skipped": (0, 0)}),
    ]:
        b = Builder()
        y = b.op(op, b.input("x", "float32", shape), tile=4, kernel=3, stride=1, **more)
        (p,) = b.graph([("y", y)]).primitives
        assert tiling_of(p).along == (True, True)
        assert y.shape == ((36, 9, 8) if op == "WinogradInput" else (1, 9, 10, 8))


def test_windows_that_are_no_squares_stay():
    assert not through_winograd(along_graph((9, 9), (3, 2), (0,) * 4), (4, 3))
    assert through_winograd(along_graph((9, 9), (3, 1), (0, 1, 0, 1)), (4, 3))


@pytest.mark.parametrize(("form", "stride"), [*((form, 1) for form in FORMS), *((form, 2) for form in STRIDED)])
@pytest.mark.parametrize("group", [2, 4])
def test_grouped(form: tuple[int, int], stride: int, group: int):
    plain = conv_graph(13, 14, channels=32, stride=stride, kernel=form[1], group=group, batch=2)
    other = whatever_it_costs(plain, form)
    assert other
    (product,) = (p for p in other.primitives if p.op == "MatMul")
    assert product.output.shape[1::2] == (group, 32 // group)
    assert_same(plain, other)


@pytest.mark.parametrize(
    ("outputs", "tiles"),
    [
        (5, {5}),
        (6, {2, 3}),
        (7, set()),
        (9, {3, 5}),
        (10, {2, 5}),
        (24, {2, 3, 5}),
    ],
)
def test_stride_2_takes_the_tiles_that_fit(outputs: int, tiles: set[int]):
    graph = winograd(add_layouts(conv_graph(2 * outputs, 2 * outputs, stride=2)))
    assert {p.attr("tile") for p in graph.primitives if p.op == "WinogradOutput"} == tiles


@pytest.mark.parametrize("stride", [2, 3])
@pytest.mark.parametrize("form", FORMS)
@settings(deadline=None, max_examples=examples(20))
@given(
    height=st.integers(7, 10),
    width=st.integers(7, 10),
    begin=st.tuples(*[st.integers(0, 3)] * 2),
    end=st.tuples(*[st.integers(0, 3)] * 2),
    batch=st.integers(1, 2),
)
def test_transposed(
    stride: int,
    form: tuple[int, int],
    height: int,
    width: int,
    begin: tuple[int, int],
    end: tuple[int, int],
    batch: int,
):
    plain = transposed_graph(height, width, stride, form[1], begin, end, batch)
    other = through_winograd(plain, form)
    assume(other is not None)
    assert other
    assert_same(plain, other)
    assert sum(p.op == "WinogradInput" for p in other.primitives) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "make",
    [
        lambda k: conv_graph(14, 11, kernel=k),
        lambda k: transposed_graph(8, 9, 2, k),
        lambda k: along_graph((23,), (k,), (1, 0)),
        lambda k: volume_graph((5, 10, 11), (2, k, k), (2, 1, 0, 1, 1, 1), (2, 1, 1), 2),
    ],
    ids=["conv", "transposed", "signal", "volume"],
)
def test_as_onnx(make: Callable[[int], Graph], form: tuple[int, int]):
    plain = make(form[1])
    assert_same_as_onnx(plain, through_winograd(plain, form))


@pytest.mark.parametrize("form", STRIDED)
@pytest.mark.parametrize(
    ("height", "width", "pads"),
    [
        (14, 11, (1, 1, 1, 1)),
        (8, 12, (0, 0, 0, 0)),
        (13, 21, (0, 1, 0, 0)),
        (1, 1, (1, 1, 1, 1)),
        (4, 30, (2, 0, 1, 3)),
    ],
)
def test_stride_2_as_onnx(form: tuple[int, int], height: int, width: int, pads: tuple[int, ...]):
    """Also where windows end before the input does: at 8 rows without pads 3 outputs read 7."""
    plain = conv_graph(height, width, pads, stride=2, batch=2)
    assert_same_as_onnx(plain, whatever_it_costs(plain, form))


def assert_same_as_onnx(plain: Graph, other: Graph | None) -> None:
    assert other
    feeds = random_feeds(plain)
    session = onnxruntime.InferenceSession(graph_to_onnx(other).SerializeToString())
    (got,) = session.run(None, feeds)
    expected = evaluate_graph(plain, feeds)["y"]
    assert np.abs(got - expected).max() <= 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("op", ["WinogradInput", "WinogradOutput"])
@pytest.mark.parametrize(
    "plain",
    [
        conv_graph(14, 11, (1, 0, 2, 1), batch=2),
        conv_graph(24, 19, (1, 0, 2, 1), stride=2, batch=2),
        transposed_graph(8, 9, 2, 2, (1, 2), (0, 3), batch=2),
        along_graph((29,), (3,), (2, 1), batch=2),
        volume_graph((5, 14, 11), pads=(1, 1, 0, 2, 2, 1), strides=(2, 1, 1), batch=2),
    ],
    ids=["conv", "strided", "transposed", "signal", "volume"],
)
def test_part_of_a_transform(plain: Graph, op: str):
    p = [p for p in winograd(add_layouts(plain)).primitives if p.op == op][-1]
    rng = np.random.default_rng(1)
    x = rng.standard_normal(p.inputs[0].shape)
    whole = evaluate_primitive(p, [x])
    region = tuple(np.unique(rng.integers(0, n, 4)) for n in p.output.shape)
    part = p.spec.evaluate(p, region, lambda i, r: x[np.ix_(*r)])
    assert np.allclose(part, whole[np.ix_(*region)], atol=1e-12)


def test_left_alone_where_it_cannot_pay():
    for graph in (
        conv_graph(12, 12, stride=3),
        conv_graph(14, 14, stride=2),
        conv_graph(12, 12, kernel=2, stride=2),
        conv_graph(12, 12, channels=7),
        conv_graph(3, 3, (0, 0, 0, 0)),
        conv_graph(12, 12, kernel=1),
        conv_graph(12, 12, (2, 2, 2, 2), kernel=4),
        volume_graph((4, 12, 12), group=4),
        volume_graph((4, 12, 12), (3, 1, 1)),
        transposed_graph(12, 12, 2, 1),
        transposed_graph(12, 12, 1, 3),
        transposed_graph(12, 12, 2, 2, begin=(4, 4)),
    ):
        twins = add_layouts(graph)
        assert winograd(twins).primitives == twins.primitives


def test_refused_under_strict_numerics():
    plain = conv_graph(14, 14)
    strict = add_choices(plain, approximate=False)
    assert any(p.op == "WinogradOutput" for p in add_choices(plain).primitives)
    assert not any(p.error == APPROXIMATE for p in strict.primitives)
    assert any(p.op == "Conv" and p.attr("channels_last") for p in strict.primitives)


def test_each_way_to_compute_an_output_has_a_product_of_its_own():
    b = Builder()
    x = b.input("x", "float32", (1, 14, 14, 16))
    rng = np.random.default_rng(0)
    w, v = (b.constant(rng.standard_normal((16, 16, 3, 3)).astype(np.float32)) for _ in range(2))
    attrs = {"strides": (1, 1), "pads": (1, 1, 1, 1), "dilations": (1, 1), "group": 1, "channels_last": 1}
    y, z = b.op("Conv", x, w, **attrs), b.op("Conv", x, v, **attrs)
    plain = b.graph([("y", y), ("z", z)])
    other = replace(plain.producers[z.tensor][0], output=y.tensor)  # as if another rule had said so
    graph = winograd(plain.add([other]))
    assert all(len(graph.producers[p.output]) == 1 for p in graph.primitives if p.op == "MatMul")
    assert len([p for p in graph.primitives if p.op == "WinogradInput"]) == len([2, 4])


def test_convolutions_of_one_input_share_its_transform_if_they_have_one_stride():
    b = Builder()
    x = b.input("x", "float32", (1, 24, 24, 16))
    w = np.random.default_rng(0).standard_normal((3, 16, 16, 3, 3)).astype(np.float32)
    attrs = {"pads": (1, 1, 1, 1), "dilations": (1, 1), "group": 1, "channels_last": 1}
    ys = [b.op("Conv", x, b.constant(w[i]), strides=(s, s), **attrs) for i, s in enumerate((1, 2, 2))]
    graph = winograd(b.graph([(f"y{i}", y) for i, y in enumerate(ys)]))
    shared = [(p.attr("stride"), p.attr("tile")) for p in graph.primitives if p.op == "WinogradInput"]
    assert sorted(shared) == [(1, 2), (1, 4), (2, 2), (2, 3)]


def test_an_enlarged_image_takes_one_transform_and_one_product():
    """3x3 behind the enlarging by 2: all phases in one batch of products on the small image."""
    b = Builder()
    x = b.input("x", "float32", (1, 16, 15, 15))
    for axis in (3, 2):
        x = b.op("Gather", x, axis=axis, indices=tuple(i // 2 for i in range(30)))
    w = np.random.default_rng(0).standard_normal((24, 16, 3, 3)).astype(np.float32)
    y = b.op("Conv", x, b.constant(w), strides=(1, 1), pads=(1, 1, 1, 1), dilations=(1, 1), group=1, channels_last=0)
    graph = add_choices(b.graph([("y", y)]))
    outputs = [p for p in graph.primitives if p.op == "WinogradOutput" and p.output.shape == (1, 30, 30, 24)]
    small = {p.attr("tile"): graph.producers[p.inputs[0]][0] for p in outputs if p.attr("kernel") == 2}
    assert {tile: p.inputs[1].shape for tile, p in small.items()} == {3: (16, 16, 96), 5: (36, 16, 96)}
    assert {tile: p.output.shape[1] for tile, p in small.items()} == {3: 6 * 6, 5: 4 * 4}
    assert all(graph.producers[p.inputs[0]][0].op == "WinogradInput" for p in small.values())


def error(maps: tuple[np.ndarray, ...], stride: int = 1) -> float:
    """What 64 channels of a tile err in float32 by the matrices `maps`; the same for kernels of one size."""
    a, g, b = (m.astype(np.float32) for m in maps)
    side, kernel = g.shape
    rng = np.random.default_rng(0)
    d, w = rng.standard_normal((50, 64, side, side)), rng.standard_normal((64, kernel, kernel)) / 20
    windows = np.lib.stride_tricks.sliding_window_view(d, (kernel, kernel), axis=(2, 3))[:, :, ::stride, ::stride]
    exact = np.einsum("nchwij,cij->nhw", windows, w)
    products = (g @ w.astype(np.float32) @ g.T) * (b @ d.astype(np.float32) @ b.T)
    return float(np.sqrt(((a @ products.sum(1, dtype=np.float32) @ a.T - exact) ** 2).mean()))


@pytest.mark.parametrize(("tile", "kernel"), [(4, 3), (5, 2)])
def test_the_points_err_less_than_whole_numbers(tile: int, kernel: int):
    """What the table of points claims: half the error of 0, 1, -1, 2, -2."""
    whole = error(cook_toom(tile, kernel, (0.0, 1.0, -1.0, 2.0, -2.0)))
    assert error(matrices(tile, kernel)) < 0.6 * whole


@pytest.mark.parametrize(("tile", "like"), [(2, 2), (3, 2), (5, 4)])
def test_stride_2_errs_no_more_than_stride_1(tile: int, like: int):
    """Tiles of 2 and 3 take no more points than F(2, 3), tiles of 5 no more than F(4, 3)."""
    assert error(matrices(tile, 3, 2), 2) < 1.1 * error(matrices(like, 3))
