"""Matrix products as generated C, with what is fused around them, against the float64 reference."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from tests.marks import SLOW, Part, parts

from korch.backends.contract import Refusal
from korch.backends.cpu.loops import products, tile
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.binding import Schedule
from korch.backends.cpu.loops.block import ProductBlock, block_of
from korch.backends.cpu.loops.multiply import row_parts
from korch.backends.cpu.loops.products import PIECE
from korch.backends.cpu.loops.writer import Writer
from korch.ir import Builder, Cone, Value
from korch.profile import Measurement

from .measured import THREADS, measured, wrong
from .prefetches import LINE, inside, prefetched

RNG = np.random.default_rng(5)


def cone_of(y: Value) -> Cone:
    return Cone.of(y.builder.graph([("y", y)]).primitives)


def weights(b: Builder, *shape: int) -> Value:
    return b.constant(RNG.standard_normal(shape).astype(np.float32))


def pointwise(shape: tuple[int, ...], channels: int, stride: int = 1, group: int = 1, epilogue: bool = False) -> Cone:
    b, axes = Builder(), len(shape) - 2
    x, w = b.input("x", "float32", shape), weights(b, channels, shape[-1] // group, *(1,) * axes)
    y = b.op(
        "Conv", x, w, strides=(stride,) * axes, dilations=(1,) * axes, pads=(0, 0) * axes, group=group, channels_last=1
    )
    if epilogue:
        y = y + b.input("bias", "float32", (channels,))
        y = y * b.op("Sigmoid", y) + b.input("residual", "float32", y.shape)
    return cone_of(y)


def product(a: tuple[int, ...], c: tuple[int, ...], const: bool = True, epilogue: bool = False) -> Cone:
    b = Builder()
    y = b.op("MatMul", b.input("x", "float32", a), weights(b, *c) if const else b.input("w", "float32", c))
    return cone_of(b.op("Erf", y + b.input("bias", "float32", (c[-1],))) if epilogue else y)


def linear_attention(places: int, heads: int, width: int, channels_last: bool = False) -> tuple[Cone, Cone]:
    """Keys by values over all places, and what the queries make of it: operands sliced out of one tensor."""
    b, channels = Builder(), 3 * heads * width
    x = b.input("x", "float32", (1, places, channels) if channels_last else (1, channels, places))
    x = b.op("Transpose", x, perm=(0, 2, 1)) if channels_last else x
    three = b.op("Transpose", b.op("Reshape", x, shape=(1, heads, 3 * width, places)), perm=(0, 1, 3, 2))
    parts = [
        b.op("Slice", three, starts=(0, 0, 0, k * width), steps=(1,) * 4, lengths=(1, heads, places, width))
        for k in range(3)
    ]
    q, k = b.op("Relu", parts[0]), b.op("Transpose", b.op("Relu", parts[1]), perm=(0, 1, 3, 2))
    v = b.op("Pad", parts[2], pads=(0, 0, 0, 0, 0, 0, 0, 1), mode="constant", value=1.0)
    summed = b.input("summed", "float32", (1, heads, width, width + 1))
    y = b.op("MatMul", q, summed)
    return cone_of(b.op("MatMul", k, v)), cone_of(
        b.op("Reshape", b.op("Transpose", y, perm=(0, 2, 1, 3)), shape=(1, places, heads * (width + 1)))
    )


def clipped(shape: tuple[int, ...], channels: int) -> Cone:
    """What registers can say behind a product: a bias, scales of rows, a residual, and bounds."""
    b = Builder()
    y = b.op(
        "Conv",
        b.input("x", "float32", shape),
        weights(b, channels, shape[3], 1, 1),
        strides=(1, 1),
        dilations=(1, 1),
        pads=(0, 0, 0, 0),
        group=1,
        channels_last=1,
    )
    y = y + b.input("bias", "float32", (channels,)) - b.input("residual", "float32", y.shape)
    y = b.op("Min", b.op("Max", y, -0.5), b.input("most", "float32", (shape[1], 1, 1)))
    return cone_of(b.op("LeakyRelu", y / 3.0, alpha=0.25) * y)


def merged(heads: int, places: int, width: int, columns: int) -> Cone:
    """Heads of queries, each place scaled by a number of its own, side by side before a product."""
    b = Builder()
    q = b.op("Relu", b.input("x", "float32", (1, heads, places, width))) * b.input(
        "r", "float32", (1, heads, places, 1)
    )
    rows = b.op("Reshape", b.op("Transpose", q, perm=(0, 2, 1, 3)), shape=(1, places, heads * width))
    return cone_of(rows @ b.input("w", "float32", (heads * width, columns)) + b.input("bias", "float32", (columns,)))


def joined(shape: tuple[int, ...], channels: int, group: int, first: bool) -> Cone:
    """A product, its bias and its activation beside a tensor, before or behind it, and one computed from that."""
    b = Builder()
    x, other = b.input("x", "float32", shape), b.input("other", "float32", (*shape[:3], 5))
    y = b.op(
        "Conv",
        x,
        weights(b, channels, shape[3] // group, 1, 1),
        strides=(1, 1),
        dilations=(1, 1),
        pads=(0,) * 4,
        group=group,
        channels_last=1,
    )
    y = b.op("Relu", y + b.input("bias", "float32", (channels,)))
    return cone_of(b.op("Concat", *((y, other) if first else (other, b.op("Exp", other), y)), axis=3))


def backwards(rows: int, steps: int, columns: int) -> Cone:
    """A product of rows that are read from the last to the first."""
    b = Builder()
    x = b.op(
        "Slice", b.input("x", "float32", (rows, steps)), starts=(rows - 1, 0), steps=(-1, 1), lengths=(rows, steps)
    )
    return cone_of(b.op("MatMul", x, weights(b, steps, columns)))


def detected(shape: tuple[int, ...], classes: int, first: bool) -> Cone:
    """Scores beside boxes at every place of one scale, in rows behind those of another scale or before them."""
    b = Builder()
    x, boxes = b.input("x", "float32", shape), b.input("boxes", "float32", (*shape[:3], 5))
    scores = b.op(
        "Conv",
        x,
        weights(b, classes, shape[3], 1, 1),
        strides=(1, 1),
        dilations=(1, 1),
        pads=(0,) * 4,
        group=1,
        channels_last=1,
    )
    scores = b.op("Sigmoid", scores + b.input("bias", "float32", (classes,)))
    here = b.op("Concat", boxes, scores, axis=3)
    rows = b.op("Reshape", here, shape=(shape[0], shape[1] * shape[2], classes + 5))
    others = b.input("others", "float32", (shape[0], 11, classes + 5))
    return cone_of(b.op("Concat", *((rows, others) if first else (others, rows)), axis=1))


def of_computed(matrices: int, rows: int, steps: int) -> Cone:
    b = Builder()
    x, w = b.input("x", "float32", (matrices, rows, steps)), b.input("w", "float32", (matrices, steps, rows))
    return cone_of(b.op("Relu", b.op("Tanh", x) @ b.op("Tanh", w) - 0.5))


def of_both_matrices(rows: int, steps: int, columns: int) -> Cone:
    """Two products with constants, multiplied with each other."""
    b = Builder()
    y = b.input("x", "float32", (2, rows, steps)) @ weights(b, 2, steps, columns)
    parts = [b.op("Slice", y, starts=(i, 0, 0), steps=(1, 1, 1), lengths=(1, rows, columns)) for i in range(2)]
    return cone_of(parts[0] * parts[1])


def of_split_rows() -> Cone:
    """Rows that lie in pairs apart."""
    b = Builder()
    x = b.op("Transpose", b.input("x", "float32", (8, 2, 64, 32)), perm=(0, 2, 1, 3))
    return cone_of(b.op("Reshape", x, shape=(8, 128, 32)) @ weights(b, 8, 32, 32))


CONES = {
    "both_matrices": of_both_matrices(7, 64, 256),
    "both_matrices_square": of_both_matrices(8, 64, 64),
    "once_for_all": product((1, 197, 96), (3, 96, 64)),
    "split_rows": of_split_rows(),
    "one_piece": of_computed(4, 128, PIECE),
    "detected": detected((1, 10, 13, 32), 80, first=False),
    "detected_odd": detected((1, 7, 11, 19), 21, first=True),
    "merged": merged(6, 100, 16, 48),
    "merged_odd": merged(3, 37, 5, 21),
    "joined": joined((1, 9, 14, 48), 48, 3, first=True),
    "joined_odd": joined((2, 5, 7, 13), 37, 1, first=False),
    "clipped": clipped((1, 5, 26, 40), 48),
    "clipped_odd": clipped((2, 3, 7, 301), 21),
    "clipped_long": clipped((1, 4, 9, 600), 40),
    "plain": pointwise((1, 20, 21, 32), 48),
    "behind": pointwise((1, 20, 21, 64), 64, epilogue=True),
    "strided": pointwise((2, 9, 13, 19), 24, stride=2, epilogue=True),
    "odd": pointwise((1, 7, 11, 13), 37),
    "odd_rows": pointwise((1, 13, 13, 64), 128, epilogue=True),
    "odd_rows_strided": pointwise((1, 25, 25, 64), 128, stride=2),
    "odd_matrix": product((169, 96), (96, 144), epilogue=True),
    "one_axis": pointwise((2, 301, 40), 70, epilogue=True),
    "one_axis_strided": pointwise((1, 301, 48), 48, stride=2, group=3),
    "three_axes": pointwise((1, 3, 10, 11, 24), 40, epilogue=True),
    "prime": pointwise((3, 1, 47, 5), 17, epilogue=True),
    "groups": pointwise((1, 16, 16, 48), 48, group=3),
    "groups_of_odd_width": pointwise((1, 10, 12, 20), 20, group=4),
    "groups_behind": pointwise((1, 10, 12, 40), 80, group=5, epilogue=True),
    "long": product((50, 700), (700, 33), epilogue=True),
    "batch": product((6, 49, 96), (6, 96, 128)),
    "broadcast": product((2, 3, 20, 31), (31, 40), const=False),
    "computed": product((4, 33, 40), (4, 40, 70), const=False, epilogue=True),
    "shared": product((3, 49, 96), (3, 96, 16)),
    "shared_long": product((2, 3, 100, 301), (3, 301, 24), epilogue=True),
    "one_column_more": product((2, 64, 16), (2, 16, 17), const=False),
    "thin": product((5, 300), (300, 4)),
    "one_row": product((1, 300), (300, 512), epilogue=True),
    "one_row_odd": product((1, 301), (301, 1000)),
    "one_place": pointwise((1, 1, 1, 301), 1000, epilogue=True),
    "one_row_narrow": product((1, 2500), (2500, 10)),
    "one_row_of_each": product((3, 1, 70), (3, 70, 50)),
    "two_rows": product((2, 601), (601, 130), epilogue=True),
    "three_places": pointwise((1, 1, 3, 200), 330, epilogue=True),
    "few_columns": pointwise((1, 20, 21, 64), 5, epilogue=True),
    "last_of_computed": product((2, 37, 29), (2, 29, 45), const=False, epilogue=True),
    "backwards": backwards(64, 64, 48),
    "last_of_long": product((3, 40, 301), (3, 301, 21), const=False),
}


LONG = linear_attention(4096, 3, 16)[0]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("part", parts(6), ids=str)
def test_right(part: Part, threads: int, tmp_path: Path):
    cones = [
        *CONES.values(),
        *linear_attention(300, 4, 16),
        *linear_attention(77, 3, 8),
        LONG,
        *linear_attention(4096, 12, 16, channels_last=True),
    ]
    assert not wrong(measured(BACKEND, part(cones), threads, tmp_path))


@pytest.mark.parametrize(
    "lanes", [tile.Registers(16, 8), pytest.param(tile.Registers(32, 16), marks=SLOW)], ids=["avx2", "avx512"]
)
def test_registers(lanes: tile.Registers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Vectors wider than the machine's are slow, not wrong."""
    with_registers(lanes, monkeypatch)
    cones = [pointwise((1, 12, 14, 24), 40), product((30, 20), (20, 77)), pointwise((1, 6, 6, 8), 100, epilogue=True)]
    assert not wrong(measured(BACKEND, cones, 1, tmp_path))


def with_registers(lanes: tile.Registers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Has kernels written for registers like these, whatever this machine's are."""
    monkeypatch.setattr(tile, "registers", lambda: lanes)
    monkeypatch.setattr(tile, "groups", cache(tile.groups.__wrapped__))


@pytest.mark.parametrize("columns", [1, 4, 16, 17, 24, 33, 64, 80, 100, 1000])
def test_groups_hold_every_column_once(columns: int):
    found = [g.first + at + j for g in tile.groups(columns) for at, _, wanted in g.vectors() for j in range(wanted)]
    assert found == list(range(columns))
    vectors = [len(g.lanes) for g in tile.groups(columns)]
    assert max(vectors) <= tile.registers().abreast + 1 and (len(vectors) == 1 or min(vectors) > 1)


@pytest.mark.parametrize("threads", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 7, 16))])
def test_every_product_is_built_for_many_threads(threads: int):
    assert all(BACKEND.build(cone, threads) for cone in CONES.values())


def backwards_in_pieces() -> Cone:
    """Long sums of rows that are read from the last to the first."""
    b, n = Builder(), 64 * PIECE
    x = b.op("Relu", b.op("Transpose", b.input("x", "float32", (12, n, 16)), perm=(0, 2, 1)))
    flipped = b.op(
        "Slice", b.input("w", "float32", (12, n, 17)), starts=(0, n - 1, 0), steps=(1, -1, 1), lengths=(12, n, 17)
    )
    return cone_of(x @ b.op("Relu", flipped))


def test_long_sums_may_run_backwards(tmp_path: Path):
    assert not wrong(measured(BACKEND, [backwards_in_pieces()], 2, tmp_path))


def test_long_sums_err_little(tmp_path: Path):
    """One sum of 65536 products errs by 6e-6, sums of sums of 256 by 6e-7."""
    b = Builder()
    x = b.op("Exp", b.input("x", "float32", (16, 65536)))
    w = weights(b, 65536, 16)
    ((_, found),) = measured(BACKEND, [cone_of(x @ w)], 1, tmp_path)
    assert isinstance(found, Measurement) and found.error < 2e-6


def test_operands_are_not_copied():
    """Only what is computed is stored before the product; rows and columns that lie apart are read in place."""
    (kernel,) = BACKEND.build(CONES["broadcast"], 1)
    assert kernel.workspace == 0


def test_operands_of_long_sums_are_stored_in_pieces():
    (kernel,) = BACKEND.build(LONG, 2)
    assert kernel.workspace <= 2 * 4 * PIECE * (16 + 17) + 512
    assert planned(LONG, 1).pieces and not planned(linear_attention(512, 3, 16)[0], 1).pieces


def test_constants_that_come_from_memory(tmp_path: Path):
    heavy = product((3, 13, 320), (3, 320, 300)), product((36, 16, 96), (36, 96, 144), epilogue=True)
    assert not wrong(measured(BACKEND, heavy, 2, tmp_path))


@pytest.mark.parametrize(
    ("count", "rows", "steps", "columns", "so"),
    [
        (6, 49, 96, 16, True),
        (6, 98, 96, 128, False),  # few constants, and more than what is multiplied by them
        (200, 8, 4, 4, True),
        (200, 7, 4, 4, False),  # four rows a thread, and fewer
    ],
)
def test_rows_of_all_matrices_are_divided_where_constants_are_few(
    count: int, rows: int, steps: int, columns: int, so: bool
):
    cone = product((count, rows, steps), (count, steps, columns))
    alone, both = (row_parts(Writer(planned(cone, threads), threads)) for threads in (1, 2))
    assert (alone, both) == (0, 2 if so else 0)


@pytest.mark.parametrize("rows", [13, 26])
def test_threads_have_rows_of_a_product_and_not_columns(rows: int):
    assert block(pointwise((1, rows, rows, 64), 128, epilogue=True), 2).width == 128


def block(cone: Cone, threads: int) -> ProductBlock:
    """The rows and columns that one turn of the shared loops multiplies."""
    plan = planned(cone, threads)
    found = block_of(plan, plan.stages[-1])
    assert found
    return found


def planned(cone: Cone, threads: int) -> Schedule:
    plan = products.planned(cone, threads)
    assert plan
    return plan


@pytest.mark.parametrize("wanted, rows", [(1 << 19, 128), (1 << 21, 512)])
def test_what_every_group_of_columns_reads_stays_in_a_cache(wanted: int, rows: int, monkeypatch: pytest.MonkeyPatch):
    """128 rows of 192 steps and 96 columns are 147 KB; without that, blocks are as large as results may be."""
    with_registers(tile.Registers(16, 8), monkeypatch)
    monkeypatch.setattr(tile, "LONGEST", 256)
    monkeypatch.setattr(products, "L2", wanted)
    monkeypatch.setattr(products, "planned", products.planned.__wrapped__)
    assert block(product((16384, 384), (384, 96)), 2).height == rows


def test_the_next_block_is_prefetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """All lines behind the first block, and hardly any twice."""
    with_registers(tile.Registers(16, 8), monkeypatch)
    monkeypatch.setattr(products, "L2", 1 << 19)
    monkeypatch.setattr(products, "planned", products.planned.__wrapped__)
    cone = product((2048, 640), (640, 40))
    (kernel,) = BACKEND.build(cone, 1)
    lines, first = inside(prefetched(kernel, tmp_path), kernel), block(cone, 1).height * 640 // 16
    expected = set(range(first, cone.leaves[0].nbytes // LINE))
    assert expected <= set(lines.tolist()) and len(lines) < 1.05 * len(expected)
    assert not wrong(measured(BACKEND, [cone], 2, tmp_path))


def test_every_line_is_asked_for():
    """Where a line has what several steps ask for, some of them do; else each does."""
    for step in range(1, 40):
        every = tile.Ahead(1, step).every
        assert tile.UNROLLED % every == 0 and (every == 1 or every * step <= 16)
        assert every == tile.UNROLLED or 2 * every * step > 16
    assert tile.Ahead(2, 4).every == 1


def test_parts_are_computed_where_they_lie():
    (kernel,) = BACKEND.build(CONES["joined"], 1)
    assert kernel.workspace == 0


def test_parts_of_a_part_lie_where_the_whole_has_them():
    (kernel,) = BACKEND.build(CONES["detected"], 1)
    assert kernel.workspace == 0  # nothing is stored on the way
    assert BACKEND.refuses(detected((2, 5, 6, 16), 16, first=False))  # each image's rows lie apart


def test_only_a_product_and_maps_are_joined():
    b = Builder()
    x = b.input("x", "float32", (1, 4, 6, 16))
    y = b.op(
        "Conv", x, weights(b, 8, 16, 1, 1), strides=(1, 1), dilations=(1, 1), pads=(0,) * 4, group=1, channels_last=1
    )
    mean = b.op("ReduceMean", x, axes=(3,), keepdims=1)
    refusal = BACKEND.refuses(cone_of(b.op("Concat", y, mean, axis=3)))
    assert isinstance(refusal, Refusal) and "reduction" in refusal.reason


def test_refused_with_a_reason():
    few = BACKEND.refuses(product((64, 64), (64, 2)))
    assert isinstance(few, Refusal) and "fewer than" in few.reason


def test_what_vectors_can_say_needs_no_pass_of_its_own():
    for name in ("clipped", "clipped_odd", "clipped_long"):
        (kernel,) = BACKEND.build(CONES[name], 1)
        assert kernel.workspace == 0
