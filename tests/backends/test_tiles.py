"""Kernels that run several linear primitives strip by strip, against the float64 reference."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.marks import SLOW, Part, parts, slow_but, slow_but_every

import korch.backends.cpu.tiles.backend as tiles
from korch.backends.contract import Kernel, Refusal, StageVariant, Variant
from korch.backends.cpu.c import Code
from korch.backends.cpu.onednn.convolution import DEPTHWISE_FORM
from korch.backends.cpu.tiles.access import part, ways_across
from korch.backends.cpu.tiles.backend import BACKEND, STAGES
from korch.backends.cpu.tiles.emit import Parts
from korch.backends.cpu.tiles.stages import stages
from korch.backends.cpu.tiles.strips import StripCut, chunks, quantum, row
from korch.executable import Executable
from korch.executable.plan import Plan, Step
from korch.ir import Builder, Cone, Tensor, Value
from korch.ir.ops.spans import SUMMED, Span
from korch.ir.ops.table import whole
from korch.ir.ops.winograd import BOTH
from korch.profile import Measurement

from .measured import THREADS, measured, wrong

RNG = np.random.default_rng(7)


def weights(*shape: int) -> np.ndarray:
    return (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


def conv(x: Value, out: int, kernel: int = 1, stride: int = 1, group: int = 1, dilation: int = 1) -> Value:
    b, channels = x.builder, x.shape[3]
    w = b.constant(weights(out, channels // group, kernel, kernel))
    y = b.op(
        "Conv",
        x,
        w,
        strides=(stride, stride),
        dilations=(dilation, dilation),
        pads=(kernel // 2 * dilation,) * 4,
        group=group,
        channels_last=1,
    )
    return y + b.constant(weights(out))


def image(*shape: int) -> Value:
    return Builder().input("x", "float32", shape)


def cone_of(y: Value) -> Cone:
    return Cone.of(y.builder.graph([("y", y)]).primitives)


def relu(x: Value) -> Value:
    return x.builder.op("Relu", x)


def silu(x: Value) -> Value:
    return x * x.builder.op("Sigmoid", x)


def mbconv(shape: tuple[int, ...], wide: int, out: int, kernel: int, stride: int, residual: bool = False) -> Cone:
    x = image(*shape)
    y = relu(conv(x, wide))
    y = relu(conv(y, wide, kernel, stride, group=wide))
    y = conv(y, out)
    return cone_of(y + x if residual else y)


def residual_of_a_stage(shape: tuple[int, ...], wide: int, out: int, kernel: int) -> Cone:
    """What is added at the end is made in the kernel, too: its buffer has two readers."""
    x = relu(conv(image(*shape), out))
    y = relu(conv(relu(conv(x, wide)), wide, kernel, group=wide))
    return cone_of(conv(y, out) + x)


def alike(shape: tuple[int, ...], kernel: int) -> Cone:
    """Two depthwise-separable pairs that differ in their weights alone."""
    y, channels = image(*shape), shape[3]
    for _ in range(2):
        y = relu(conv(relu(conv(y, channels, kernel, group=channels)), channels))
    return cone_of(y)


def products_alike(rows: int, width: int) -> Cone:
    y = Builder().input("x", "float32", (1, rows, width))
    for _ in range(3):
        y = y.builder.op("Tanh", y @ y.builder.constant(weights(width, width)))
    return cone_of(y)


def separable(shape: tuple[int, ...], out: int) -> Cone:
    x = image(*shape)
    return cone_of(silu(conv(silu(conv(x, shape[3], 3, group=shape[3])), out)))


def two_convolutions(shape: tuple[int, ...], dilation: int) -> Cone:
    return cone_of(conv(relu(conv(image(*shape), 24, 3, 2)), 17, 3, dilation=dilation))


def of_planes(shape: tuple[int, ...], out: int) -> Cone:
    """Convolutions of an image that comes channels-first."""
    x = image(*shape)
    y = conv(relu(conv(x.builder.op("Transpose", x, perm=(0, 2, 3, 1)), 16, 3, 2)), out, 3, group=16)
    return cone_of(y)


def head(shape: tuple[int, ...], wide: int, out: int, kernel: int = 1) -> Cone:
    """Two convolutions whose result is channels-first."""
    y = conv(relu(conv(image(*shape), wide, kernel)), out)
    return cone_of(y.builder.op("Transpose", y, perm=(0, 3, 1, 2)))


def winograd(
    shape: tuple[int, ...],
    out: int,
    tile: int = 4,
    stride: int = 1,
    pads: tuple[int, ...] = (1, 1, 1, 1),
    phases: int = 1,
    skipped: tuple[int, int] = (0, 0),
) -> Cone:
    """With phases, a transposed convolution, of whose result rows and columns before the first and behind the last are
    skipped."""
    x = image(*shape)
    b, (n, h, w, channels) = x.builder, shape
    v = b.op("WinogradInput", x, tile=tile, kernel=3, stride=stride, along=BOTH, pads=pads)
    m = v @ b.constant(weights(v.shape[0], channels, phases**2 * out))
    h, w = (
        ((length + around - 3) // stride + 1) * phases - cut * 3 // 2
        for length, around, cut in ((h, pads[0] + pads[2], skipped[0]), (w, pads[1] + pads[3], skipped[1]))
    )
    y = b.op(
        "WinogradOutput",
        m,
        tile=tile,
        kernel=3,
        stride=stride,
        along=BOTH,
        shape=(n, h, w, out),
        phases=phases,
        skipped=skipped,
    )
    return cone_of(relu(y + b.constant(weights(out))))


def strassen(shape: tuple[int, ...], out: int) -> Cone:
    x = image(*shape)
    m = x.builder.op("StrassenInput", x)
    m = m @ x.builder.constant(weights(7, shape[-1] // 2, out // 2))
    y = x.builder.op("StrassenOutput", m, shape=(*shape[:-1], out))
    return cone_of(relu(y + x.builder.constant(weights(out))) + (x if out == shape[-1] else 1.0))


def feed_forward(rows: int, width: int, hidden: int) -> Cone:
    x = image(1, rows, width)
    y = x.builder.op("Tanh", x @ x.builder.constant(weights(width, hidden)))
    return cone_of(y @ x.builder.constant(weights(hidden, width)) + x)


def attention(rows: int, keys: int, heads: int, width: int, turned: bool = False) -> Cone:
    """Scaled by 1 / sqrt(width), with a softmax in between; queries and result as [1, rows, heads * width], and so are
    keys that are still to be `turned`."""
    b = Builder()
    q = b.input("q", "float32", (1, rows, heads * width))
    k, v = (
        b.input(name, "float32", shape)
        for name, shape in (("k", (1, heads, width, keys)), ("v", (1, heads, keys, width)))
    )
    q = b.op("Transpose", b.op("Reshape", q, shape=(1, rows, heads, width)), perm=(0, 2, 1, 3))
    if turned:
        k = b.op("Reshape", b.input("turned", "float32", (1, keys, heads * width)), shape=(1, keys, heads, width))
        k = b.op("Transpose", k, perm=(0, 2, 3, 1))
    s = (q @ k) * (width**-0.5)
    e = b.op("Exp", s - b.op("ReduceMax", s, axes=(3,), keepdims=True))
    p = e / b.op("ReduceSum", e, axes=(3,), keepdims=True)
    y = b.op("Transpose", p @ v, perm=(0, 2, 1, 3))
    return cone_of(b.op("Reshape", y, shape=(1, rows, heads * width)))


def linear_attention(height: int, width: int, heads: int, each: int, out: int) -> Cone:
    """Queries times keys and values, over the last column of that product, and a projection, of an image."""
    x = image(1, height, width, heads * each)
    b, pixels = x.builder, height * width
    q = b.op("Reshape", b.op("Transpose", x, perm=(0, 3, 1, 2)), shape=(1, heads, each, pixels))
    y = relu(b.op("Transpose", q, perm=(0, 1, 3, 2))) @ b.input("kv", "float32", (1, heads, each, each + 1))
    above, below = (
        b.op("Slice", y, starts=(0, 0, 0, at), steps=(1,) * 4, lengths=(1, heads, pixels, n))
        for at, n in ((0, each), (each, 1))
    )
    y = b.op("Transpose", above / (b.op("Relu", below) + 1.0), perm=(0, 1, 3, 2))
    y = b.op("Reshape", y, shape=(1, heads * each, height, width))
    return cone_of(conv(b.op("Transpose", y, perm=(0, 2, 3, 1)), out))


def keys_by_values(height: int, width: int, heads: int, each: int, kernel: int = 3) -> Value:
    """What an image's convolutions make of it, as they are and from larger windows: keys times values and ones, added
    up over all positions."""
    x = conv(image(1, height, width, 9), heads * 2 * each)
    b, pixels = x.builder, height * width
    wide = conv(conv(x, x.shape[3], kernel, group=x.shape[3]), x.shape[3], group=2 * heads)
    both = b.op("Transpose", b.op("Concat", x, wide, axis=3), perm=(0, 3, 1, 2))
    both = b.op("Transpose", b.op("Reshape", both, shape=(1, 2 * heads, 2 * each, pixels)), perm=(0, 1, 3, 2))
    k, v = (
        b.op("Slice", both, starts=(0, 0, 0, at), steps=(1,) * 4, lengths=(1, 2 * heads, pixels, each))
        for at in (0, each)
    )
    v = b.op("Pad", v, pads=(0,) * 7 + (1,), mode="constant", value=1.0)
    return b.op("Transpose", relu(k), perm=(0, 1, 3, 2)) @ v


def enlarged(x: Value, axis: int, times: int) -> Value:
    """Each position between its neighbours, as linear resizing has it."""
    n = x.shape[axis]
    at = np.clip((np.arange(n * times) + 0.5) / times - 0.5, 0, n - 1)
    low = np.floor(at).astype(int)
    pairs = np.stack([low, np.minimum(low + 1, n - 1)], 1)
    shares = np.stack([1 - (at - low), at - low], 1).astype(np.float32)
    return x.builder.op(
        "Interpolate",
        x,
        axis=axis,
        taps=2,
        indices=tuple(pairs.reshape(-1).tolist()),
        weights=tuple(shares.reshape(-1).tolist()),
    )


def decode_head(shape: tuple[int, ...], times: int, wide: int, out: int) -> Cone:
    """An enlarged image added to a convolution's result."""
    _, height, width, _ = shape
    x = image(*shape)
    small = x.builder.input("small", "float32", (1, height // times, width // times, wide))
    y = conv(relu(conv(x, wide) + enlarged(enlarged(small, 1, times), 2, times)), out)
    return cone_of(y.builder.op("Transpose", y, perm=(0, 3, 1, 2)))


def mish(x: Value) -> Value:
    return x * x.builder.op("Tanh", x.builder.op("Softplus", x))


CONES = [
    cone_of(mish(conv(mish(conv(image(1, 52, 52, 16), 32)), 24, 3))),
    mbconv((1, 64, 64, 16), 64, 24, 3, 2),
    mbconv((1, 61, 47, 12), 40, 12, 3, 1, residual=True),
    mbconv((1, 33, 29, 8), 24, 9, 5, 2),
    mbconv((1, 7, 200, 8), 16, 8, 5, 1, residual=True),
    residual_of_a_stage((1, 64, 256, 24), 96, 16, 5),
    residual_of_a_stage((1, 61, 300, 12), 80, 24, 3),
    alike((1, 40, 33, 16), 3),
    products_alike(64, 48),
    separable((1, 52, 52, 32), 40),
    separable((4, 13, 13, 16), 16),
    two_convolutions((1, 40, 37, 9), 1),
    two_convolutions((1, 40, 37, 9), 2),
    of_planes((1, 3, 64, 45), 16),
    of_planes((1, 5, 37, 32), 16),
    head((1, 40, 24, 16), 32, 21),
    head((1, 19, 32, 12), 24, 8, 3),
    decode_head((1, 40, 24, 16), 4, 32, 21),
    decode_head((1, 24, 36, 12), 3, 24, 8),
    winograd((1, 32, 40, 24), 20),
    winograd((1, 37, 29, 16), 33),
    winograd((1, 19, 18, 16), 16, tile=2),
    winograd((1, 60, 43, 16), 20, tile=3, stride=2),
    winograd((1, 38, 29, 24), 33, tile=2, stride=2, pads=(0, 1, 0, 0)),
    winograd((1, 62, 61, 16), 16, tile=5, stride=2, pads=(2, 0, 1, 3)),
    winograd((1, 18, 13, 32), 3, phases=4, pads=(0, 0, 0, 0)),
    winograd((1, 16, 13, 24), 20, phases=2),
    winograd((1, 30, 13, 24), 20, phases=2, skipped=(1, 1)),
    winograd((1, 29, 18, 16), 8, tile=2, phases=3, skipped=(2, 1), pads=(1, 1, 0, 2)),
    strassen((96, 64), 32),
    strassen((1, 130, 48), 48),
    strassen((1, 24, 16, 40), 72),
    strassen((1, 32, 13, 40), 40),
    strassen((8, 5, 7, 32), 64),
    feed_forward(67, 48, 100),
    attention(130, 50, 1, 32),
    attention(96, 33, 3, 16),
    attention(96, 33, 3, 16, turned=True),
    attention(70, 21, 1, 8, turned=True),
    linear_attention(32, 24, 3, 16, 40),
    cone_of(keys_by_values(32, 24, 3, 16)),
    cone_of(keys_by_values(37, 29, 1, 8, 5)),
    cone_of(keys_by_values(64, 40, 2, 5)),
]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("part", parts(4), ids=str)
def test_right(part: Part, threads: int, tmp_path: Path):
    results = measured(BACKEND, part(CONES), threads, tmp_path)
    assert {id(k.cone) for k, r in results if isinstance(r, Measurement)} == set(map(id, part(CONES)))
    # oneDNN may have nothing fast for a strip of some height; what it has must be right
    assert not [r for _, r in wrong(results) if "init refused" not in str(r)]


BANDED = [
    mbconv((1, 61, 48, 12), 40, 12, 3, 1, residual=True),
    mbconv((1, 33, 30, 8), 24, 9, 5, 2),
    mbconv((1, 40, 21, 8), 16, 8, 5, 1, residual=True),
    mbconv((1, 52, 27, 16), 48, 33, 3, 1),
]


@pytest.mark.slow
@pytest.mark.parametrize("threads", THREADS)
def test_bands_are_right(threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiles, "BANDS", {3: 4})
    tiles._cuts.cache_clear()
    results = measured(BACKEND, BANDED, threads, tmp_path)
    tiles._cuts.cache_clear()
    assert {k.variant.numbers[1] for k, _ in results if k.variant.form == "{} rows of {} bands"} == {3}
    assert {id(k.cone) for k, _ in results if k.variant.form == "{} rows of {} bands"} == set(map(id, BANDED))
    assert not wrong(results)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("bands", slow_but([{3: 4}, {}], [{3: 4}]))
def test_steps_are_right(threads: int, bands: dict[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tiles, "BANDS", bands)
    monkeypatch.setattr(tiles, "BUDGETS", (0, tiles.L2))
    tiles._cuts.cache_clear()
    results = measured(BACKEND, BANDED, threads, tmp_path)
    tiles._cuts.cache_clear()
    in_steps = [k.variant.form for k, _ in results if "by" in k.variant.form]
    assert len(in_steps) > 2 and {"bands" in form for form in in_steps} == {bool(bands)}
    assert not wrong(results)


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize(
    ("height", "bands", "step"),
    [(1, 3, 0), *(pytest.param(*other, marks=SLOW) for other in [(1, 1, 0), (2, 1, 0), (2, 1, 1)])],
)
def test_sliding_is_right(
    threads: int, height: int, bands: int, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(tiles, "_cuts", lambda cone: (StripCut(stages(cone, STAGES) or (), 1, height, bands, step),))
    results = measured(BACKEND, BANDED, threads, tmp_path)
    assert {id(k.cone) for k, _ in results if k.variant.form.endswith("sliding")} >= {id(BANDED[2])}
    assert not wrong(results)


@pytest.mark.parametrize("slides", [0, 3])
def test_a_halo_moves_once_in_so_many_strips(slides: int):
    """Of strips of two rows behind a window of five, two of six rows are new; the second has the first one's pad."""
    cone = mbconv((1, 64, 32, 8), 16, 8, 5, 1)
    parts = Parts(cone, chunks(StripCut(stages(cone, STAGES) or (), 1, 2), 1) or (), {}, 1, slides)
    wide, row = parts.strips[0][0].stage.root.name, 32 * 16 * 4
    begins = [at[wide] for at in parts.begins_at[2:]]
    assert [bool(at.moved) for at in begins][: 2 * slides + 2] == 2 * [*slides * [False], True]
    assert {at.moved for at in begins if at.moved} == {(slides + 1) * 2 * row}
    assert max(at.begin for at in begins) == slides * 2 * row == parts.sizes[wide] - 6 * row


def test_a_turn_begun_anew_leaves_its_halo_where_the_next_one_looks():
    cone = mbconv((1, 64, 32, 8), 16, 8, 5, 1)
    parts = Parts(cone, chunks(StripCut(stages(cone, STAGES) or (), 1, 2), 2) or (), {}, 2, 3)
    begins, ends = parts.begins_at, 0
    for turn, anew in parts.turns:
        assert turn and anew
        of_turn = begins[ends : (ends := ends + len(turn) + len(anew))]
        assert all(at == of_turn[0] for at in of_turn)
    assert ends == len(begins) == len(parts.strips)


def test_the_first_strip_is_lower_by_what_is_skipped():
    cone = winograd((1, 30, 13, 24), 20, phases=2, skipped=(1, 0))
    cut = StripCut(stages(cone, STAGES) or (), 1, 16)
    assert [(s.begin, s.end) for s in map(cut.span, range(cut.count))] == [(0, 15), (15, 31), (31, 47), (47, 59)]
    last = next(p for p in cone.primitives if p.op == "WinogradOutput")
    first, second = part(last, cut.span(0)), part(last, cut.span(1))
    assert first and first.attrs["skipped"] == (1, 0) and first.reads == (Span(1, 0, 8),)
    assert second and second.attrs["skipped"] == (0, 0) and second.reads == (Span(1, 8, 16),)
    assert part(last, Span(1, 16, 32)) is None


def test_a_strip_reads_the_halo_and_pads_only_at_the_edges():
    y = conv(image(1, 20, 20, 4), 4, 5, 2, dilation=2)
    p = next(p for p in cone_of(y).primitives if p.op == "Conv")
    middle, first = part(p, Span(1, 3, 5)), part(p, Span(1, 0, 2))
    assert middle and middle.reads[0] == Span(1, 2, 13) and middle.attrs["pads"] == (0, 4, 0, 4)
    assert first and first.reads[0] == Span(1, 0, 7) and first.attrs["pads"] == (4, 4, 0, 4)


def test_a_strip_of_an_enlarged_image_reads_its_neighbours():
    p = cone_of(enlarged(image(1, 5, 7, 4), 1, 3)).primitives[0]
    middle, across = part(p, Span(1, 6, 9)), part(p, Span(2, 1, 3))
    assert middle and middle.reads == (Span(1, 1, 4),) and middle.attrs["indices"] == (0, 1, 1, 2, 1, 2)
    assert middle.attrs["weights"] == p.attr("weights")[12:18]
    assert across and across.reads == (Span(2, 1, 3),) and across.attrs["indices"] == p.attr("indices")


@pytest.mark.parametrize("cone", slow_but_every(4, CONES), ids=lambda c: str(c.root.shape))
def test_narrowed_stages_compute_the_same(cone: Cone):
    """Each piece, evaluated on the whole tensors' values where it reads them, has their values where it makes them, or
    a share of them."""
    values = evaluated(cone, {t: RNG.standard_normal(t.shape) for t in cone.leaves})
    staged = stages(cone, STAGES)
    assert staged
    axis = ways_across(cone)[-1]
    cut, shares = chunks(StripCut(staged, axis, 2 * quantum(cone) * row(staged, axis)), 2), dict[Span, np.ndarray]()
    assert cut
    for piece in (p for chunk in cut for strip in chunk.all for p in strip):
        read = zip(piece.cone.leaves, piece.leaves, piece.reads, strict=True)
        given = {s: values[t][_part(t, r) if s != t else _from(r, t.rank)] for s, t, r in read}
        made, root = evaluated(piece.cone, given)[piece.cone.root], piece.stage.root
        if piece.made.axis == SUMMED:
            shares[piece.made] = made
        else:
            np.testing.assert_allclose(made, values[root][_part(root, piece.made)], rtol=1e-9, atol=1e-9)
    assert bool(shares) == (axis == SUMMED)
    if shares:
        np.testing.assert_allclose(sum(shares.values()), values[cone.root], rtol=1e-9, atol=1e-9)


def evaluated(cone: Cone, values: dict[Tensor, np.ndarray]) -> dict[Tensor, np.ndarray]:
    for p in cone.primitives:
        known = [values[t] for t in p.inputs]
        values[p.output] = p.spec.evaluate(p, whole(p.output.shape), lambda i, r, known=known: known[i][np.ix_(*r)])
    return values


@pytest.mark.parametrize(("shape", "whole"), [((96, 64), 2), ((1, 24, 16, 40), 1), ((1, 32, 13, 40), 2)])
def test_strips_are_whole_pairs_of_rows(shape: tuple[int, ...], whole: int):
    cone = strassen(shape, 32)
    first, _, last, *_ = cone.primitives
    axis = 1 if shape[0] == 1 else 0
    each = np.prod(shape[axis + 1 : -1], dtype=int)
    assert quantum(cone) == whole
    back = part(last, Span(axis, 2, 6))
    assert back and back.reads == (Span(1, each, 3 * each),)
    into = part(first, Span(1, each, 3 * each))
    assert into and into.reads == (Span(axis, 2, 6),)
    assert (part(last, Span(axis, 2, 5)) is None) == (whole == 2)
    assert part(last, Span(len(shape) - 1, 0, 16)) is None and part(first, Span(2, 0, 16)) is None


def test_what_two_strips_read_is_computed_once():
    cone = mbconv((1, 64, 64, 16), 64, 24, 3, 1)
    cut = chunks(StripCut(stages(cone, STAGES) or (), 1, 4), 1)
    assert cut
    first, second, *_ = cut[0].strips
    assert (first[0].made.length, second[0].holds.length, second[0].made.length) == (5, 6, 4)
    assert sum(strip[0].made.length for strip in cut[0].strips) == 64
    two = chunks(StripCut(stages(cone, STAGES) or (), 1, 4), 2)
    assert two and [sum(strip[0].made.length for strip in chunk.strips) for chunk in two] == [33, 33]


def test_threads_have_equal_shares_of_odd_strips():
    """Of 28 rows in strips of 8; of whole ones, one of two threads has 16."""
    cut = StripCut(stages(mbconv((1, 28, 64, 16), 64, 24, 3, 1), STAGES) or (), 1, 8)
    for threads, equal, wanted in ((2, True, [14, 14]), (2, False, [16, 12]), (3, True, [9, 9, 10]), (1, True, [28])):
        found = chunks(cut, threads, equal)
        assert found and [c.strips[-1][-1].made.end - c.strips[0][-1].made.begin for c in found] == wanted
        assert all(strip[-1].made.length <= 8 for chunk in found for strip in chunk.strips)


def test_a_threads_strips_are_the_same_part_of_every_band():
    cone = mbconv((1, 64, 64, 16), 64, 24, 3, 1)
    cut = chunks(StripCut(stages(cone, STAGES) or (), 1, 4, bands=4), 2)
    assert cut
    rows = [(chunk.strips[0][-1].made.begin, chunk.strips[-1][-1].made.end) for chunk in cut]
    assert rows == 4 * [(0, 32)] + 4 * [(32, 64)]


def test_windows_of_a_leaf_are_worth_higher_strips(monkeypatch: pytest.MonkeyPatch):
    """Each strip reads some of the rows before it again; rows of products are read once."""
    monkeypatch.setattr(tiles, "L2", 64 << 10)
    monkeypatch.setattr(tiles, "BUDGETS", (16 << 10, 64 << 10))
    for cone, again in ((separable((1, 64, 52, 32), 40), True), (feed_forward(1024, 48, 100), False)):
        staged, axis = stages(cone, STAGES) or (), ways_across(cone)[0]
        assert tiles._reads_again(tiles.sample(StripCut(staged, axis, 4)) or ()) == again
        cuts = tiles._highest(cone, staged, axis)
        assert len(cuts) == 2 and (max(map(tiles._size, cuts)) > tiles.L2) == again


@pytest.mark.onednn
def test_depthwise_stages_that_move_by_two_are_tried_by_the_library_too():
    by_loops, by_library = (StageVariant(v, b) for v, b in ((Variant(), "loops"), (Variant(DEPTHWISE_FORM), "onednn")))
    first, second = (k.variant.stages for k in BACKEND.build(mbconv((1, 128, 128, 16), 64, 24, 3, 2), 2))
    assert first == (by_loops,) * 3 and second == (by_loops, by_library, by_loops)
    assert len(BACKEND.build(mbconv((1, 128, 128, 16), 64, 24, 3, 1), 2)) == 1


def test_turns_are_begun_anew_where_no_bit_can_change():
    """A library's kernel for more rows may add up in another order."""
    cone = mbconv((1, 64, 64, 16), 64, 24, 3, 1)
    cut = chunks(StripCut(stages(cone, STAGES) or (), 1, 4), 2)
    assert cut and all(len(chunk.turns) == len(chunk.anew) == 8 and all(chunk.anew) for chunk in cut)
    keys = {p.kernel for chunk in cut for strip in chunk.all for p in strip}
    for backend, wanted in (("loops", 8), ("onednn", 1)):
        kernels = {key: Kernel(cone, backend, Variant(), Code(())) for key in keys}
        kept = [tiles._restartable(kernels, chunk) for chunk in cut]
        assert [sum(map(bool, chunk.anew)) for chunk in kept] == [wanted, wanted]
    assert not any(tiles._restartable({}, cut[0]).anew[1:])


@pytest.mark.slow
def test_sums_are_the_same_bits_for_any_number_of_threads():
    """Whoever makes a strip's share: each is its own sum, and they are added up in their order."""
    y = keys_by_values(64, 40, 2, 16)
    graph, feeds = y.builder.graph([("y", y)]), {"x": RNG.standard_normal((1, 64, 40, 9)).astype(np.float32)}
    results, cut = list[np.ndarray](), set[Variant]()
    for threads in (1, 2, 3):
        kernel = BACKEND.build(Cone.of(graph.primitives), threads)[-1]
        cut.add(kernel.variant)
        with Executable.link(Plan(graph, (Step.of(kernel, 1e-6),), threads, "default", 1e-6, 0.0, ())) as program:
            results += [program.run(feeds)["y"] for _ in range(20)]
    assert len(cut) == 1 and {r.tobytes() for r in results} == {results[0].tobytes()}


def test_a_product_makes_both_factors_of_what_lies_before_it():
    """Nothing stores keys and values apart; what is divided by its rows' sum is stored as the projection reads it."""
    keys = stages(cone_of(keys_by_values(32, 24, 3, 16)), STAGES)
    assert keys and [s.linear[0].op for s in keys] == ["Conv", "Conv", "Conv", "MatMul"]
    x = image(1, 12, 8, 24)
    b = x.builder
    q = b.op("Reshape", b.op("Transpose", conv(x, 32), perm=(0, 3, 1, 2)), shape=(1, 4, 8, 96))
    q = b.op("Transpose", q, perm=(0, 1, 3, 2))
    q = b.op("Transpose", q / b.op("ReduceSum", q, axes=(3,), keepdims=1), perm=(0, 2, 1, 3))
    y = b.op("Reshape", q, shape=(96, 32)) @ b.constant(weights(32, 24))
    staged = stages(cone_of(b.op("Reshape", y, shape=(1, 12, 8, 24)) + x), STAGES)
    assert staged and [s.root.shape for s in staged] == [(1, 12, 8, 32), (1, 96, 4, 8), (1, 12, 8, 24)]


def test_operands_are_turned_once_for_all_strips():
    cone = attention(64, 24, 2, 16, turned=True)
    cut = chunks(StripCut(stages(cone, STAGES) or (), 1, 4), 1)
    assert cut
    (turned, *first), *others = cut[0].strips
    assert [p.op for p in turned.cone.primitives] == ["Reshape", "Transpose"] and turned.cone == turned.stage
    assert all([p.key for p in strip] == [p.key for p in first] for strip in others)


def _part(t: Tensor, read: Span | None) -> tuple[slice, ...]:
    return tuple(slice(read.begin, read.end) if read and a == read.axis else slice(None) for a in range(t.rank))


def _from(read: Span | None, rank: int) -> tuple[slice, ...]:
    """All that lies behind where a kernel is told that a tensor begins."""
    return tuple(slice(read.begin, None) if read and a == read.axis else slice(None) for a in range(rank))


def test_refused_with_a_reason():
    one = BACKEND.refuses(cone_of(conv(image(1, 8, 8, 4), 4)))
    columns = BACKEND.refuses(cone_of(relu(conv(image(1, 1, 1, 64), 64)) @ Builder().constant(weights(64, 3))))
    wide = BACKEND.refuses(cone_of(conv(relu(conv(image(1, 64, 64, 512), 512, 3)), 512, 3)))
    assert isinstance(one, Refusal) and "two and more" in one.reason
    assert isinstance(columns, Refusal)
    assert isinstance(wide, Refusal) and "weights" in wide.reason
