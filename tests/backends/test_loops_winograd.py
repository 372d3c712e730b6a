"""Winograd's transforms as generated C, with what is fused behind them, against the float64 reference."""

from __future__ import annotations

import math
from math import inf
from pathlib import Path

import pytest
from tests.marks import Part, parts

from korch.backends.contract import Refusal
from korch.backends.cpu.loops import winograd
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.tile import Registers
from korch.ir import Builder, Cone, Value
from korch.ir.ops.winograd import BOTH, Along, Frames, as_image

from .cones import followed
from .measured import THREADS, measured, wrong


def cone_of(b: Builder, y: Value) -> Cone:
    return Cone.of(b.graph([("y", y)]).primitives)


Form = tuple[int, int, int]
"""(tile, kernel, stride)"""


def into(
    form: Form, shape: tuple[int, ...], pads: tuple[int, ...], along: Along = BOTH, frames: Frames | None = None
) -> Cone:
    b = Builder()
    tile, kernel, stride = form
    x, more = b.input("x", "float32", shape), {"frames": tuple(frames)} if frames else {}
    return cone_of(b, b.op("WinogradInput", x, tile=tile, kernel=kernel, stride=stride, along=along, pads=pads, **more))


def back(
    form: Form,
    shape: tuple[int, ...],
    after: str,
    phases: int = 1,
    skipped: tuple[int, int] = (0, 0),
    along: Along = BOTH,
) -> Cone:
    """With a function `behind`: a bias per channel, a residual of the output's shape, and that."""
    b = Builder()
    (tile, kernel, stride), (n, h, w, k) = form, as_image(shape)
    each = [tile * phases if reaches else 1 for reaches in along]
    tiles = n * math.prod(-(-(n + cut) // of) for n, cut, of in zip((h, w), skipped, each, strict=True))
    points = (tile * stride + kernel - stride) ** sum(along)
    m = b.input("m", "float32", (points, tiles, phases**2 * k))
    y = b.op(
        "WinogradOutput",
        m,
        tile=tile,
        kernel=kernel,
        stride=stride,
        along=along,
        shape=shape,
        phases=phases,
        skipped=skipped,
    )
    return cone_of(b, followed(b, y, after))


FORMS = [(2, 3, 1), (4, 3, 1), (3, 2, 1), (5, 2, 1), (2, 5, 1)]
STRIDED = [(2, 3, 2), (3, 3, 2), (5, 3, 2)]
CONES = [
    into((4, 3, 1), (1, 9, 10, 16), (1, 1, 1, 1)),
    into((4, 3, 1), (2, 4, 4, 19), (0, 0, 0, 0)),
    into((4, 3, 1), (1, 37, 41, 64), (1, 0, 2, 3)),
    into((2, 3, 1), (1, 8, 7, 33), (1, 1, 1, 1)),
    into((2, 3, 1), (1, 2, 2, 5), (2, 2, 2, 2)),
    into((3, 2, 1), (1, 8, 7, 33), (1, 1, 0, 0)),
    into((3, 2, 1), (2, 37, 41, 16), (0, 1, 2, 0)),
    into((5, 2, 1), (1, 2, 2, 5), (1, 1, 1, 1)),
    into((5, 2, 1), (1, 37, 41, 64), (1, 0, 1, 3)),
    *(
        back(form, shape, after)
        for form in FORMS
        for after in ("", "tanh")
        for shape in [(1, 8, 8, 16), (2, 7, 9, 19), (1, 33, 34, 100), (1, 1, 1, 1)]
    ),
    *(
        back(form, shape, after, 2, skipped)
        for form in FORMS
        for after in ("", "tanh")
        for shape, skipped in [((1, 8, 8, 16), (1, 1)), ((2, 7, 9, 19), (0, 1)), ((1, 33, 34, 100), (1, 0))]
    ),
    back((5, 2, 1), (1, 29, 31, 20), "tanh", 3, (2, 1)),
    *(
        back(form, shape, after, phases)
        for form in [(2, 3, 1), (4, 3, 1)]
        for after in ("", "tanh")
        for shape, phases in [((1, 32, 33, 3), 4), ((2, 13, 11, 1), 3), ((1, 50, 47, 15), 2), ((1, 30, 37, 100), 5)]
    ),
    back((5, 2, 1), (1, 29, 31, 7), "silu", 2, (1, 0)),
    back((4, 3, 1), (1, 33, 34, 96), "silu"),
    back((3, 2, 1), (2, 7, 9, 16), "mish", 2, (0, 1)),
    *(
        into(form, shape, pads)
        for form in STRIDED
        for shape, pads in [
            ((1, 19, 20, 16), (1, 1, 1, 1)),
            ((2, 8, 12, 19), (0, 0, 0, 0)),
            ((1, 57, 61, 64), (1, 0, 2, 3)),
            ((1, 1, 1, 5), (1, 1, 1, 1)),
        ]
    ),
    *(
        back(form, shape, after)
        for form in STRIDED
        for after in ("", "tanh")
        for shape in [(2, 7, 9, 19), (1, 33, 34, 100), (1, 1, 1, 1)]
    ),
    *(
        into(form, shape, pads, along)
        for form in [(4, 3, 1), (2, 5, 1), (5, 3, 2)]
        for shape, pads, along in [
            ((1, 6, 21, 16), (0, 1, 0, 1), (False, True)),
            ((2, 19, 7, 19), (2, 0, 1, 0), (True, False)),
            ((2, 37, 33), (0, 2, 0, 1), (False, True)),
            ((1, 5, 40), (0, 0, 0, 0), (False, True)),
        ]
    ),
    *(
        back(form, shape, after, along=along)
        for form in [(4, 3, 1), (2, 5, 1), (5, 3, 2)]
        for shape, along, after in [
            ((1, 6, 21, 16), (False, True), "tanh"),
            ((2, 19, 7, 19), (True, False), ""),
            ((2, 37, 33), (False, True), "silu"),
            ((1, 1, 40), (False, True), ""),
        ]
    ),
    *(
        into(form, shape, (1, 0, 1, 2), frames=frames)
        for form in [(4, 3, 1), (3, 3, 2)]
        for shape, frames in [
            ((1, 5, 9, 10, 16), Frames(3, 1, 1, 1, 1)),
            ((2, 4, 9, 6, 19), Frames(2, 2, 2, 0, 1)),
            ((1, 1, 7, 9, 8), Frames(3, 1, 1, 3, 2)),
            ((2, 3, 9, 7, 5), Frames()),
        ]
    ),
    *(back(form, (2, 3, 9, 7, 19), after) for form in [(4, 3, 1), (3, 3, 2)] for after in ("", "tanh")),
]


@pytest.mark.slow
@pytest.mark.parametrize("registers", [Registers(16, 8), Registers(32, 16)], ids=["avx2", "avx512"])
@pytest.mark.parametrize("part", parts(3), ids=str)
def test_right_with_any_registers(part: Part, registers: Registers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """In two passes where they are few, or places crowd in a set of the cache."""
    monkeypatch.setattr(winograd, "registers", lambda: registers)
    monkeypatch.setattr(winograd, "STREAMS", inf)
    inputs = [cone for cone in CONES if cone.primitives[0].op == "WinogradInput"]
    crowded, spread = into((4, 3, 1), (1, 16, 64, 88), (0, 0, 2, 2)), into((4, 3, 1), (1, 12, 12, 88), (1, 1, 1, 1))
    assert not wrong(measured(BACKEND, [*part(inputs), crowded, spread], 1, tmp_path))


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("part", parts(8), ids=str)
def test_right(part: Part, threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, part(CONES), threads, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("streams", [24.0, 9.0, inf])
@pytest.mark.parametrize("threads", [1, 3])
def test_right_with_any_streams(streams: float, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Places by parts, and half of them first, of pieces of a few tiles."""
    for name, value in {
        "STREAMS": streams,
        "PIECE": 500,
        "KEPT": 20_000,
        "L2": 0,
        "registers": lambda: Registers(32, 16),
    }.items():
        monkeypatch.setattr(winograd, name, value)
    assert not wrong(measured(BACKEND, CONES, threads, tmp_path))


def test_refused_with_a_reason():
    b = Builder()
    v = b.op(
        "WinogradInput",
        b.op("Exp", b.input("x", "float32", (1, 8, 8, 16))),
        tile=4,
        kernel=3,
        stride=1,
        along=BOTH,
        pads=(1, 1, 1, 1),
    )
    before = BACKEND.refuses(cone_of(b, v))
    after = BACKEND.refuses(cone_of(b, b.op("Relu", v)))
    assert isinstance(before, Refusal) and "computes what" in before.reason
    assert isinstance(after, Refusal)
