"""The kernels whose text is golden: every form that the generators of C have, on small cones."""

from __future__ import annotations

from dataclasses import dataclass

from korch.backends.contract import Backend
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.backends.cpu.recurrent.backend import BACKEND as RECURRENT
from korch.backends.cpu.scatter.backend import BACKEND as SCATTER
from korch.backends.cpu.tiles.backend import BACKEND as TILES
from korch.ir import Builder, Cone, Value

from . import (
    cones,
    test_loops,
    test_loops_half_weights,
    test_loops_integers,
    test_loops_narrow,
    test_loops_products,
    test_loops_strassen,
    test_loops_winograd,
    test_recurrent,
    test_scatter,
    test_tiles,
)
from . import test_loops_winograd_blocks as blocks
from .cones import cone_of, depthwise, direct, planar
from .test_loops_products import linear_attention, pointwise, product


@dataclass(frozen=True)
class Case:
    """The first kernel of a cone for so many threads of a processor of `described.py`."""

    backend: Backend
    cone: Cone
    threads: int = 1
    processor: str = "avx512"


def source(case: Case) -> str:
    """The text of the kernel."""
    assert case.backend.refuses(case.cone) is None
    kernel = case.backend.build(case.cone, case.threads)[0]
    return kernel.source if kernel.source.endswith("\n") else kernel.source + "\n"


def _maps() -> dict[str, Case]:
    """Elementwise primitives and views."""
    names = (
        "gelu",
        "mish",
        "silu of rows",
        "silu and mish joined",
        "four channels",
        "padded channels",
        "channels of a product",
        "few channels",
        "halves",
        "halves of an image",
        "heads of 16",
        "concat last",
        "windows",
        "nearest",
        "linear",
        "pad reflect",
        "depth to space",
        "reverse",
        "where",
        "integers",
    )
    own = {
        "prefetched runs": runs(128, 576),
        "near runs": runs(16, 48),
        "streamed": cone_of(lambda b, x, s: b.op("Exp", x * s), (4096, 1040), (1040,)),
        "prefetched heads": turned_heads(64),
        "few heads": turned_heads(12),
        "sigmoid": cone_of(lambda b, x: b.op("Sigmoid", x) + 1.0, (3, 5, 64)),
        "turned pages apart": test_loops.PAGES_APART["(2, 1024, 19)"],
        "picked by a table": cone_of(lambda b, x: b.op("Gather", x, axis=0, indices=(0, 0, 1, 2, 2, 3)), (9, 4)),
    }
    return {name: Case(LOOPS, cone) for name, cone in ({n: cones.CONES[n] for n in names} | own).items()}


def runs(length: int, channels: int) -> Cone:
    """Some channels of every row."""
    whole = {"starts": (0, 0, 16), "steps": (1,) * 3, "lengths": (4, 2000, length)}
    return cone_of(lambda b, x: b.op("Relu", b.op("Slice", x, **whole)), (4, 2000, channels))


def turned_heads(count: int) -> Cone:
    """Rows of heads side by side."""
    return cone_of(lambda b, x: b.op("Relu", b.op("Transpose", x, perm=(0, 2, 1, 3))), (1, count, 2000, 16))


def _reductions() -> dict[str, Case]:
    """Reductions of rows, columns, images and all; norms; pools."""
    one = (
        "softmax last",
        "softmax channels",
        "layer norm",
        "one pass rows",
        "one pass image",
        "one pass image last",
        "range",
        "instance norm pad last",
        "less another maximum",
        "arg max of many",
        "arg max last",
        "product",
        "max pool",
        "max pool last",
        "average pool",
        "max pool of a norm",
    )
    two = ("sum of all", "mean of image last", "one pass few rows", "maximum of a padded image")
    prefetched = {"prefetched rows": Case(LOOPS, cone_of(shares_of_slices, (4000, 576)))}
    some = {n: Case(LOOPS, cones.CONES[n], threads) for threads, names in ((1, one), (2, two)) for n in names}
    return some | prefetched


def shares_of_slices(b: Builder, x: Value) -> Value:
    """Short runs, each by its sum."""
    y = b.op("Slice", b.op("Reshape", x, shape=(4000, 12, 48)), starts=(0,) * 3, steps=(1,) * 3, lengths=(4000, 12, 16))
    y = b.op("Relu", y)
    return y / (b.op("ReduceSum", y, axes=(2,), keepdims=1) + 1.0)


def _indices() -> dict[str, Case]:
    """Reads at indices of the run, which are checked; scatters."""
    names = ("take", "take in batches", "take of take", "take of sums", "embedding")
    return {name: Case(LOOPS, cones.CONES[name]) for name in names} | {
        "scatter added": Case(SCATTER, test_scatter.scatter((50, 64), (90, 1)), 2),
        "scatter replaced": Case(SCATTER, test_scatter.scatter((50, 64), (90, 1), reduction="none", number=True)),
        "scatter of elements": Case(SCATTER, test_scatter.scatter((7, 5), (30, 5), reduction="max", dtype="int32")),
        "edges": Case(SCATTER, test_scatter.edges(60, 500, 48), 2),
    }


def _products() -> dict[str, Case]:
    """Matrix products with their operands, epilogues and concats; 1x1 convolutions; Strassen's sums."""
    names = (
        "behind",
        "joined",
        "split rows",
        "few columns",
        "thin",
        "one row",
    )
    keys_by_values, by_queries = linear_attention(512, 3, 16)
    cones_of = test_loops_products.CONES
    return {name: Case(LOOPS, cones_of[name.replace(" ", "_")]) for name in names} | {
        "computed": Case(LOOPS, product((4, 32, 32), (4, 32, 32), const=False, epilogue=True)),
        "clipped": Case(LOOPS, test_loops_products.clipped((1, 4, 4, 32), 32)),
        "detected": Case(LOOPS, test_loops_products.detected((1, 4, 8, 32), 27, first=False)),
        "keys by values": Case(LOOPS, keys_by_values),
        "long keys by values": Case(LOOPS, linear_attention(4096, 12, 16, channels_last=True)[0], 2),
        "by queries": Case(LOOPS, by_queries),
        "prefetched constants": Case(LOOPS, product((3, 8, 1536), (3, 1536, 64))),
        "stolen blocks": Case(LOOPS, product((192, 1024), (1024, 512)), 2, "avx2"),
        "prefetched blocks": Case(LOOPS, product((2048, 640), (640, 48)), 2, "avx2"),
        "streamed product": Case(LOOPS, pointwise((1, 160, 256, 32), 64)),
        "strassen in": Case(LOOPS, test_loops_strassen.into(1, 10, 7, 38)),
        "strassen out": Case(LOOPS, test_loops_strassen.back((64, 160), (160,), (64, 160), (64, 1))),
    }


def _convolutions() -> dict[str, Case]:
    """Direct, in panels, depthwise and planar convolutions; Winograd's transforms."""
    into, back = test_loops_winograd.into, test_loops_winograd.back
    past_caches = depthwise((1, 300, 300, 16))
    return {
        "direct": Case(LOOPS, direct((1, 20, 45, 3), 16, (3, 3), pads=(1, 1, 1, 1))),
        "direct of planes": Case(LOOPS, direct((1, 33, 65, 3), 32, (7, 7), (4, 4), pads=(3,) * 4, planar=True)),
        "direct silu": Case(LOOPS, direct((1, 20, 45, 3), 16, (3, 3), pads=(1,) * 4, epilogue="silu")),
        "direct of a signal": Case(LOOPS, direct((1, 41, 48), 16, (3,), (2,), (2,), pads=(4, 1))),
        "direct past caches": Case(LOOPS, direct((1, 160, 90, 3), 208, (3, 3), pads=(1,) * 4)),
        "panels": Case(LOOPS, direct((1, 6, 8, 160), 384, (3, 3), (1, 2), pads=(1,) * 4)),
        "depthwise": Case(LOOPS, depthwise((1, 8, 8, 16), epilogue="tanh")),
        "depthwise strided": Case(LOOPS, depthwise((1, 5, 5, 16), (3, 3), 2)),
        "depthwise of a signal": Case(LOOPS, depthwise((1, 24, 8), (15,), pads=(7, 7)), 1, "avx2"),
        "depthwise of 16 registers": Case(LOOPS, depthwise((1, 17, 16, 32)), 1, "avx2"),
        "depthwise past caches": Case(LOOPS, past_caches, 2, "avx2"),
        "planar": Case(LOOPS, planar((1, 5, 20, 45), 3, (3, 3), pads=(1, 1, 1, 1))),
        "winograd in": Case(LOOPS, into((2, 3, 1), (1, 8, 8, 16), (1,) * 4)),
        "winograd in two passes": Case(LOOPS, into((4, 3, 1), (1, 9, 10, 16), (1,) * 4), 1, "avx2"),
        "winograd in parts": Case(LOOPS, into((4, 3, 1), (1, 100, 100, 64), (1,) * 4), 1, "intel"),
        "winograd out": Case(LOOPS, back((4, 3, 1), (1, 33, 34, 96), "silu")),
        "winograd out of phases": Case(LOOPS, back((3, 2, 1), (2, 7, 9, 16), "mish", 2, (0, 1))),
        "winograd in blocks": Case(LOOPS, blocks.convolution((1, 6, 16, 16, 16), 16, tile=2)),
    }


def _integers() -> dict[str, Case]:
    """Sums of bytes."""
    cones_of = test_loops_integers.CONES
    return {
        "integer product": Case(LOOPS, cones_of[0]),
        "integer product quantized again": Case(LOOPS, cones_of[5], 2, "avx2"),
        "integer convolution": Case(LOOPS, cones_of[8], 2, "avx2"),
        "integer product of quads": Case(LOOPS, cones_of[15], 2, "vnni"),
        "integer convolution of quads": Case(LOOPS, cones_of[8], 2, "vnni"),
        "integer convolution of lines": Case(LOOPS, cones_of[6], 2, "vnni"),
        "integer convolution of padded lines": Case(LOOPS, cones_of[14], 2, "vnni"),
        "half weights": Case(LOOPS, test_loops_half_weights.CONES["turned"], 2, "avx2"),
        "narrow row": Case(LOOPS, test_loops_narrow.CONES[1], 2, "avx2"),
        "narrow rows": Case(LOOPS, test_loops_narrow.CONES[4]),
    }


def _others() -> dict[str, Case]:
    """Strips of several linear primitives, recurrences, and calls of oneDNN."""
    tiles, recurrence = test_tiles, test_recurrent.recurrence
    return {
        "strips separable": Case(TILES, separable(), 2),
        "strips attention": Case(TILES, tiles.attention(96, 33, 3, 16, turned=True)),
        "lstm": Case(RECURRENT, recurrence("LSTM", batch=3)),
        "lstm both ways": Case(RECURRENT, recurrence("LSTM", direction="bidirectional"), 2),
        "gru": Case(RECURRENT, recurrence("GRU", hidden=33, batch=2), 2),
        "onednn product": Case(ONEDNN, product((50, 700), (700, 33))),
        "onednn convolution": Case(ONEDNN, direct((1, 20, 45, 3), 16, (3, 3), pads=(1,) * 4)),
    }


def separable() -> Cone:
    """A depthwise convolution and a pointwise one."""
    image = test_tiles.image(1, 32, 4, 16)
    return test_tiles.cone_of(test_tiles.conv(test_tiles.relu(test_tiles.conv(image, 16, 3, group=16)), 16))


_FOLDERS = {
    "maps": _maps(),
    "reductions": _reductions(),
    "indices": _indices(),
    "products": _products(),
    "convolutions": _convolutions(),
    "integers": _integers(),
    "others": _others(),
}
CASES = {
    f"kernels/{folder}/{name.replace(' ', '_')}.c": case
    for folder, some in _FOLDERS.items()
    for name, case in some.items()
}
