"""Convolutions by Winograd's algorithm as one kernel, against the float64 reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.marks import Part, parts

from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.forms import winograd_blocks
from korch.backends.cpu.loops.forms.winograd_blocks import blocks_of
from korch.executable import Executable
from korch.executable.plan import Plan, Step
from korch.ir import Builder, Cone, Graph
from korch.rewrite.winograd import winograd

from .cones import followed
from .measured import THREADS, measured, refusal, wrong


def convolution(
    shape: tuple[int, ...],
    made: int,
    window: tuple[int, ...] = (3, 3, 3),
    pads: tuple[int, ...] = (1,) * 6,
    epilogue: str = "",
    tile: int = 4,
    **attrs: Any,
) -> Cone:
    """With a bias per channel, a residual of the output's shape and a function `behind` it."""
    return transformed(shape, made, window, pads, epilogue, tile, **attrs)[1]


def transformed(
    shape: tuple[int, ...],
    made: int,
    window: tuple[int, ...],
    pads: tuple[int, ...],
    epilogue: str = "",
    tile: int = 4,
    **attrs: Any,
) -> tuple[Graph, Cone]:
    """The choices that there are for a convolution, and all that computes it by tiles so wide."""
    b, ones = Builder(), (1,) * len(window)
    w = np.random.default_rng(0).standard_normal((made, shape[-1], *window)).astype(np.float32)
    attrs = {"strides": ones, "dilations": ones, "group": 1, "channels_last": 1, "pads": pads} | attrs
    y = b.op("Conv", b.input("x", "float32", shape), b.constant(w), **attrs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("korch.rewrite.winograd.WORTH", float("inf"))
        graph = winograd(b.graph([("y", followed(b, y, epilogue))]))
    chosen = next(p for p in graph.primitives if p.op == "WinogradOutput" and p.attr("tile") == tile)
    (product,) = graph.producers[chosen.inputs[0]]
    first = [*graph.producers[product.inputs[0]], product, chosen]
    return graph, Cone.of([*first, *(p for p in graph.primitives if not p.rule and p.op != "Conv")])


CONES = [
    convolution((1, 6, 16, 16, 16), 16, epilogue="tanh"),
    convolution((1, 5, 9, 14, 19), 33, epilogue="silu"),
    convolution((2, 7, 13, 11, 24), 20, pads=(2, 1, 0, 1, 2, 1), tile=2),
    convolution((1, 1, 5, 3, 8), 9, epilogue="tanh"),
    convolution((1, 2, 8, 8, 130), 100),
    convolution((1, 9, 12, 12, 16), 24, pads=(0,) * 6, strides=(2, 1, 1), epilogue="tanh"),
    convolution((2, 9, 12, 13, 8), 16, pads=(3, 1, 1, 2, 1, 1), dilations=(2, 1, 1), strides=(3, 1, 1)),
    convolution((1, 8, 21, 19, 16), 16, strides=(2, 2, 2), tile=3, epilogue="tanh"),
    convolution((1, 70, 8, 9, 8), 8, (5, 2, 2), tile=5),
    convolution((1, 4, 3, 17, 12), 8, (3, 1, 3), pads=(1, 0, 1, 1, 0, 1), epilogue="silu"),
    convolution((1, 6, 18, 4, 12), 8, (1, 5, 1), pads=(0, 2, 0, 0, 2, 0), tile=2),
    convolution((3, 10, 11, 16), 24, (3, 3), pads=(1,) * 4, epilogue="tanh"),
    convolution((2, 40, 9), 16, (3,), pads=(1, 1)),
]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("room", [winograd_blocks.ROOM, 1 << 15])
@pytest.mark.parametrize("part", parts(3), ids=str)
def test_right(part: Part, threads: int, room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Also where a cache holds but small blocks."""
    monkeypatch.setattr(winograd_blocks, "ROOM", room)
    assert not wrong(measured(BACKEND, part(CONES), threads, tmp_path))


def test_blocks_fit_a_cache_and_are_cut_along_frames_and_tiles(monkeypatch: pytest.MonkeyPatch):
    cone = CONES[0]
    whole = blocks_of(cone, 1)
    assert 4 * whole.floats <= winograd_blocks.ROOM and whole.turns[1:] == (1, -(-16 // whole.tiles))
    monkeypatch.setattr(winograd_blocks, "ROOM", 1 << 16)
    assert all(blocks_of(cone, threads).floats <= 1 << 14 for threads in (1, 2))
    monkeypatch.setattr(winograd_blocks, "ROOM", 0)
    assert (blocks_of(cone, 2).tiles, blocks_of(cone, 2).deep) == (1, 1)


def test_points_do_not_share_places_of_a_cache():
    assert all(n // 16 % 2 for cone in CONES for n in (blocks_of(cone, 1).operand, blocks_of(cone, 1).result))


def test_the_bits_do_not_depend_on_blocks_and_threads(monkeypatch: pytest.MonkeyPatch):
    graph, cone = transformed((1, 7, 18, 21, 20), 24, (3, 3, 3), (1,) * 6)
    x = np.random.default_rng(5).standard_normal((1, 7, 18, 21, 20)).astype(np.float32)
    found, cut = set[bytes](), set[tuple[int, int]]()
    for threads, room in ((1, 1 << 18), (2, 1 << 18), (3, 1 << 18), (2, 1 << 15)):
        monkeypatch.setattr(winograd_blocks, "ROOM", room)
        (kernel,) = BACKEND.build(cone, threads)
        cut.add((blocks_of(cone, threads).tiles, blocks_of(cone, threads).deep))
        with Executable.link(Plan(graph, (Step.of(kernel, 1e-6),), threads, "default", 1e-6, 0.0, ())) as program:
            found |= {program.run({"x": x})["y"].tobytes() for _ in range(3)}
    assert len(cut) > 1 and len(found) == 1


def test_images_are_left_to_strips():
    assert "strips" in refusal(BACKEND, convolution((1, 16, 16, 16), 16, (3, 3), pads=(1,) * 4))
