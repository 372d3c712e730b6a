"""Fails where a generated kernel has become slow: its time over a peer's, both measured in this run.

    python benchmarks/regression.py [NAMES] [--threads 2] [--rounds 3]

The peer of a kernel that moves memory is a copy of as many bytes (a generated one); of a kernel that computes, the best
that oneDNN has for the same primitives, one after another. Times are those of the profiler, each round with an empty
database; the least time of all rounds counts, ours and the peer's, as others can only slow down. What seems too slow
has as many rounds again, up to four times: on a shared machine the caches are somebody else's for minutes. Exit status
1, and a line that says TOO SLOW, where a ratio stays above its limit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from korch.backends.contract import Backend, Kernel
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.backends.cpu.onednn.install import absence
from korch.backends.cpu.scatter.backend import BACKEND as SCATTER
from korch.backends.cpu.tiles.backend import BACKEND as TILES
from korch.backends.cpu.tiles.backend import STAGES
from korch.backends.cpu.tiles.stages import stages
from korch.ir import Builder, Cone, Value
from korch.profile import Database, Measurement, Profiler
from korch.rewrite import winograd as algebra

RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """`ours` builds `cone`; `peers`, one after another, are what its time is divided by. `limit`: the largest ratio,
    the largest of some runs when it was set and 15%."""

    name: str
    cone: Cone
    ours: Backend
    peers: tuple[Cone, ...]
    peer: Backend
    limit: float


def cone_of(y: Value) -> Cone:
    return Cone.of(y.builder.graph([("y", y)]).primitives)


def image(*shape: int) -> Value:
    return Builder().input("x", "float32", shape)


def weights(b: Builder, *shape: int) -> Value:
    return b.constant((RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32))


def conv(x: Value, out: int, kernel: int = 1, stride: int = 1, group: int = 1) -> Value:
    b = x.builder
    y = b.op(
        "Conv",
        x,
        weights(b, out, x.shape[3] // group, kernel, kernel),
        strides=(stride, stride),
        dilations=(1, 1),
        pads=(kernel // 2,) * 4,
        group=group,
        channels_last=1,
    )
    return b.op("Relu", y + weights(b, out))


def product(x: Value, columns: int) -> Value:
    return x @ weights(x.builder, *x.shape[:-2], x.shape[-1], columns)


def scores(heads: int, tokens: int, each: int) -> Value:
    """Queries by keys, which lie step by step."""
    b = Builder()
    return b.input("q", "float32", (heads, tokens, each)) @ b.input("k", "float32", (heads, each, tokens))


def copy(size: int) -> Cone:
    """Half of `size` bytes read, half written."""
    return cone_of(-image(1, size // 8))


def moving(name: str, y: Value, limit: float) -> Case:
    """A kernel whose peer is a copy."""
    cone = cone_of(y)
    moved = sum(t.nbytes for t in (*cone.leaves, cone.root) if not t.const)
    return Case(name, cone, LOOPS, (copy(moved),), LOOPS, limit)


def computed(name: str, y: Value, limit: float) -> Case:
    """A generated kernel whose peer is oneDNN's."""
    cone = cone_of(y)
    return Case(name, cone, LOOPS, (cone,), ONEDNN, limit)


def softmax(x: Value) -> Value:
    b = x.builder
    e = b.op("Exp", x - b.op("ReduceMax", x, axes=(1,), keepdims=True))
    return e / b.op("ReduceSum", e, axes=(1,), keepdims=True)


def layer_norm(x: Value) -> Value:
    b = x.builder
    d = x - b.op("ReduceMean", x, axes=(1,), keepdims=True)
    return d / b.op("Sqrt", b.op("ReduceMean", d * d, axes=(1,), keepdims=True) + 1e-5)


def queries(x: Value, heads: int, each: int) -> Value:
    """A third of each head's channels, divided by their sum."""
    b, (rows, channels) = x.builder, x.shape
    y = b.op("Reshape", x, shape=(rows, heads, channels // heads))
    y = b.op("Relu", b.op("Slice", y, starts=(0, 0, 0), steps=(1,) * 3, lengths=(rows, heads, each)))
    return y / (b.op("ReduceSum", y, axes=(2,), keepdims=True) + 1e-5)


def silu(x: Value) -> Value:
    return x * x.builder.op("Sigmoid", x)


def padded(x: Value) -> Value:
    return x.builder.op("Pad", x, pads=(0, 1, 1, 0, 0, 1, 1, 0), mode="reflect", value=0.0)


def channels_last(x: Value) -> Value:
    return x.builder.op("Transpose", x, perm=(0, 2, 3, 1))


def mbconv(size: int, channels: int, wide: int, kernel: int) -> Cone:
    x = image(1, size, size, channels)
    return cone_of(conv(conv(conv(x, wide), wide, kernel, group=wide), channels))


def winograd(size: int, channels: int) -> tuple[Cone, Cone]:
    """A 3x3 convolution by Winograd in strips, and as it is."""
    x = image(1, size, size, channels)
    b = x.builder
    v = b.op("WinogradInput", x, tile=4, kernel=3, stride=1, pads=(1, 1, 1, 1))
    m = v @ weights(b, 36, channels, channels)
    y = b.op("WinogradOutput", m, tile=4, kernel=3, stride=1, shape=x.shape, phases=1, skipped=(0, 0))
    return cone_of(b.op("Relu", y)), cone_of(conv(image(*x.shape), channels, 3))


def volume(depth: int, size: int, channels: int) -> tuple[Cone, Cone]:
    """A 3x3x3 convolution by Winograd in blocks, and as it is."""
    b = Builder()
    x, w = b.input("x", "float32", (1, depth, size, size, channels)), weights(b, channels, channels, 3, 3, 3)
    ones = (1, 1, 1)
    y = b.op("Conv", x, w, strides=ones, dilations=ones, pads=(1,) * 6, group=1, channels_last=1)
    plain = b.graph([("y", y)])
    producers = {p.output: p for p in algebra.winograd(plain).primitives if p not in plain.primitives}
    last = next(p for p in producers.values() if p.op == "WinogradOutput" and p.attr("tile") == 4)
    product = producers[last.inputs[0]]
    return Cone.of([producers[product.inputs[0]], product, last]), Cone.of(plain.primitives)


def edges(nodes: int, count: int, channels: int) -> Case:
    """Rows of nodes added up by where edges lead; the peer is a copy of what that reads and writes."""
    b = Builder()
    x = b.input("x", "float32", (nodes, channels))
    to, rows = b.input("to", "int64", (count, 1)), b.input("from", "int64", (count,))
    zero = b.constant(np.zeros((), np.float32))
    y = b.op("Scatter", zero, to, b.op("Take", x, rows, axis=0, batch=0), axis=0, length=nodes, reduction="add")
    return Case("sums over edges", cone_of(y), SCATTER, (copy(4 * channels * (count + nodes)),), LOOPS, 2.4)


def cases() -> list[Case]:
    matrix, maps = (9 << 10, 256), (1, 208, 208, 32)  # more than stays in a last cache of 32 MB, and less
    (strips, direct), (blocks, frames) = winograd(208, 64), volume(16, 32, 64)
    block, bands = mbconv(256, 48, 192, 5), mbconv(512, 24, 96, 5)
    depthwise = cone_of(conv(image(1, 104, 104, 64), 64, 3, group=64))
    return [
        moving("add", image(1 << 14, 256) + 1.0, 1.15),  # larger: the same code differs by 20% where it nearly fits
        moving("silu", silu(image(*matrix)), 2.1),
        moving("softmax", softmax(image(*matrix)), 2.2),
        moving("layer norm", layer_norm(image(*matrix)), 1.35),
        moving("layer norm of 32", layer_norm(image(9 << 13, 32)), 1.75),
        moving("queries of 16", queries(image(1 << 14, 576), 12, 16), 1.3),
        moving("channels last", channels_last(image(1, 32, 208, 208)), 2.4),
        moving("reflect pad", padded(image(*maps)), 1.25),
        Case("depthwise 3x3", depthwise, LOOPS, (depthwise,), ONEDNN, 1.2),
        computed("depthwise 5x5", conv(image(1, 12, 128, 384), 384, 5, group=384), 0.9),
        computed("3x3 of an image", conv(image(1, 224, 224, 3), 32, 3, 2), 1.0),
        computed("3x3 by two in groups", conv(image(1, 112, 112, 64), 64, 3, 2, 4), 1.0),
        computed("3x3 by two", conv(image(1, 104, 104, 64), 128, 3, 2), 1.05),
        computed("3x3 by two, 256 channels", conv(image(1, 28, 28, 256), 512, 3, 2), 1.15),
        computed("3x3 by two, 512 channels", conv(image(1, 26, 26, 512), 1024, 3, 2), 1.0),
        computed("pointwise with silu", silu(conv(image(1, 104, 104, 32), 32)), 1.0),
        computed("24 columns", conv(image(1, 256, 256, 96), 24), 1.0),
        computed("5 columns", product(image(104 * 104, 64), 5), 0.7),
        computed("197 keys", scores(6, 197, 64), 1.02),
        computed("1 row", product(image(1, 512), 1000), 0.8),
        computed("batched product", product(image(36, 196, 128), 128), 1.0),
        computed("groups of 16 columns", conv(image(1, 128, 128, 288), 288, group=18), 0.8),
        computed("weights from memory", product(image(16, 49, 512), 1024), 1.0),
        Case("mbconv in strips", block, TILES, stages(block, STAGES) or (), ONEDNN, 0.85),
        Case("mbconv in bands", bands, TILES, stages(bands, STAGES) or (), ONEDNN, 0.75),
        Case("winograd in strips", strips, TILES, (direct,), ONEDNN, 0.5),
        Case("volumes in blocks", blocks, LOOPS, (frames,), ONEDNN, 0.4),
        edges(500, 3000, 64),
    ]


AGAIN = 4
"""Times that what seems too slow is looked at again; what has become slow stays it."""


def seconds(case: Case, profiler: Profiler, threads: int) -> tuple[float, ...]:
    """Of the case's best kernel, then of the best of each of its peers."""
    ours = _best(case.ours.build(case.cone, threads), profiler.measure)
    return ours, *(_best(case.peer.build(c, threads), profiler.measure) for c in case.peers)


def _best(kernels: Sequence[Kernel], measure: Callable[[Sequence[Kernel]], Sequence[object]]) -> float:
    return min((r.seconds for r in measure(kernels) if isinstance(r, Measurement)), default=inf)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of the cases; all by default")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    if absence():
        sys.exit(f"error: {absence()}")
    chosen = [c for c in cases() if not given.names or c.name in given.names]
    times, slow = dict[str, list[tuple[float, ...]]](), chosen
    for _ in range(1 + AGAIN):
        for _ in range(given.rounds if slow else 0):
            with tempfile.TemporaryDirectory() as folder, Profiler(given.threads, Database(Path(folder))) as profiler:
                for c in slow:
                    times.setdefault(c.name, []).append(seconds(c, profiler, given.threads))
        slow = [c for c in slow if ratio(times[c.name]) > c.limit]
    for c in chosen:
        verdict = "TOO SLOW" if c in slow else "ok"
        print(f"{c.name:20} {ratio(times[c.name]):6.2f} of its peer, at most {c.limit:.2f}  {verdict}")
    sys.exit(bool(slow))


def ratio(times: Sequence[tuple[float, ...]]) -> float:
    """Of the least time of all rounds to those of its peers together."""
    ours, *peers = map(min, zip(*times, strict=True))
    return ours / sum(peers)


if __name__ == "__main__":
    main()
