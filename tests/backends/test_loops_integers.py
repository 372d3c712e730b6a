"""Sums of bytes: exact for any shape, zero point and number of threads, and with what follows them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.marks import SLOW, Part, parts, slow_but

from korch.backends.cpu import loops as package
from korch.backends.cpu.loops import dots
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.cpu.loops.tile import Registers
from korch.backends.toolchain import find_toolchain
from korch.executable import Executable, Plan, Step
from korch.ir import Builder, Cone, Graph
from korch.ir.builder import Value
from korch.ir.evaluate import evaluate_graph

from .cones import cone_of, pool
from .measured import measured, refusal, wrong

FOLDER = Path(package.__file__).parent
RNG = np.random.default_rng(0)
PLAIN = {"strides": (1, 1), "pads": (0,) * 4, "dilations": (1, 1), "group": 1, "channels_last": 1}


def whole(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max + 1, shape).astype(dtype)


def graph_of(y: Value) -> Graph:
    return y.builder.graph([("y", y)])


def product(
    shape: tuple[int, ...], columns: int, zero: int = 3, w_zero: int = 0, dtypes: tuple[str, str] = ("uint8", "int8")
) -> Value:
    b = Builder()
    x, w = b.input("x", dtypes[0], shape), b.constant(whole(dtypes[1], (shape[-1], columns)))
    return b.op("MatMulInteger", x, w, b.constant(zero, dtypes[0]), w_zero=w_zero)


def convolution(shape: tuple[int, ...], outputs: int, kernel: tuple[int, int], zero: int = 7, **attrs: Any) -> Value:
    b = Builder()
    x, w = b.input("x", "uint8", shape), b.constant(whole("int8", (outputs, shape[-1], *kernel)))
    return b.op("ConvInteger", x, w, b.constant(zero, "uint8"), w_zero=0, **(PLAIN | attrs))


def requantized(y: Value) -> Value:
    """Scaled by channels, a bias, a Relu, bytes again."""
    b, channels = y.builder, y.shape[-1:]
    scaled = b.op("Cast", y, to="float32") * b.constant(RNG.uniform(1e-4, 1e-3, channels).astype(np.float32))
    wide = b.op("Relu", scaled + b.constant(RNG.standard_normal(channels).astype(np.float32)))
    codes = b.op("Round", wide / 0.05) + 3.0
    return b.op("Cast", b.op("Min", b.op("Max", codes, 0.0), 255.0), to="uint8")


def viewed(y: Value) -> Value:
    return y.builder.op("Reshape", y, shape=(y.tensor.size,))


GRAPHS = [
    graph_of(product((5, 31), 24)),
    graph_of(product((1, 1), 1)),
    graph_of(product((1, 300), 77, 255)),
    graph_of(product((3, 50, 48), 16, -128, 0, ("int8", "int8"))),
    graph_of(product((40, 65), 130, 200, 128, ("uint8", "uint8"))),
    graph_of(requantized(product((7, 64), 33))),
    graph_of(convolution((1, 12, 13, 16), 24, (3, 3), pads=(1,) * 4)),
    graph_of(requantized(convolution((2, 15, 14, 5), 40, (3, 3), strides=(2, 2), pads=(1, 0, 1, 2)))),
    graph_of(convolution((1, 20, 9, 3), 9, (5, 4), dilations=(2, 3), pads=(4, 4, 4, 5))),
    graph_of(requantized(convolution((1, 14, 14, 32), 64, (1, 1)))),
    graph_of(convolution((1, 3, 3, 8), 8, (1, 1), strides=(2, 2))),
    graph_of(convolution((1, 2, 2, 4), 4, (3, 3), pads=(3,) * 4)),
    graph_of(requantized(convolution((2, 15, 30, 8), 40, (3, 3), strides=(2, 1), pads=(1, 0, 1, 2), dilations=(2, 1)))),
    graph_of(convolution((3, 9, 17, 4), 70, (2, 3), strides=(1, 2), pads=(0, 2, 1, 1))),
    graph_of(requantized(convolution((1, 61, 62, 3), 40, (7, 7), strides=(2, 2), pads=(3,) * 4))),
    graph_of(requantized(product((197, 128), 270))),
    graph_of(convolution((2, 7, 7, 256), 256, (3, 3), pads=(1,) * 4)),
]
POOLS = [
    cone_of(pool("MaxPool", 0), (1, 8, 20, 20), dtype="int8"),
    cone_of(pool("MaxPool", 1, 3, 2), (1, 21, 20, 24), dtype="uint8"),
]
CONES = [*(Cone.of(g.primitives) for g in GRAPHS), *POOLS]


def outputs(graph: Graph, x: np.ndarray, threads: int) -> np.ndarray:
    (kernel,) = BACKEND.build(Cone.of(graph.primitives), threads)
    with Executable.link(Plan(graph, (Step.of(kernel, 1e-6),), threads)) as program:
        return program.run({"x": x})["y"]


@pytest.mark.parametrize("part", parts(3), ids=str)
@pytest.mark.parametrize("threads", [1, 2, pytest.param(3, marks=SLOW)])
def test_right(part: Part, threads: int, tmp_path: Path):
    assert not wrong(measured(BACKEND, part(CONES), threads, tmp_path))


@pytest.fixture(params=[False, True], ids=["pairs", "quads"])
def quads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether bytes are multiplied four at a time. Where the processor cannot, the same arithmetic is in C."""
    monkeypatch.setattr(dots, "multiplies_bytes", lambda: request.param)
    return request.param


@SLOW
@pytest.mark.parametrize("part", parts(4), ids=str)
def test_lanes_are_right(part: Part, quads: bool, tmp_path: Path):
    assert not wrong(measured(BACKEND, part(CONES), 2, tmp_path))


@pytest.mark.parametrize(
    "graph",
    [GRAPHS[2], GRAPHS[3], GRAPHS[4], GRAPHS[6], GRAPHS[13]],
    ids=["row", "signed", "unsigned", "lines", "steps"],
)
def test_every_byte_counts(graph: Graph, quads: bool):
    """Over the whole range of bytes, where sums of pairs of bytes in int16 would overflow."""
    (x,) = graph.inputs
    for values in (
        whole(x.dtype, x.shape),
        np.full(x.shape, np.iinfo(x.dtype).max, x.dtype),
        np.zeros(x.shape, x.dtype),
    ):
        found = outputs(graph, values, 2)
        np.testing.assert_array_equal(found, evaluate_graph(graph, {"x": values})["y"])


ANY_REGISTERS = {"sse": Registers(16, 4), "avx2": Registers(16, 8), "avx512": Registers(32, 16)}


@pytest.mark.parametrize("name", slow_but(ANY_REGISTERS, ("sse",)))
def test_right_with_any_registers(name: str, monkeypatch: pytest.MonkeyPatch):
    """Vectors wider than the machine's are slow, not wrong."""
    monkeypatch.setattr(dots, "registers", lambda: ANY_REGISTERS[name])
    for graph in (GRAPHS[0], GRAPHS[8], GRAPHS[13]):
        x = whole("uint8", graph.inputs[0].shape)
        np.testing.assert_array_equal(outputs(graph, x, 1), evaluate_graph(graph, {"x": x})["y"])


VNNI = {"avx512": ("avx512f", "avx512bw", "avx512vl", "avx512vnni"), "avx": ("avx2", "avxvnni")}


@pytest.mark.parametrize("name", VNNI)
def test_processors_with_vnni_take_its_instruction(name: str, tmp_path: Path):
    """The macros of the header, compiled for a processor that need not be here."""
    widths = (4, 8, 16) if name == "avx512" else (4, 8)
    vectors = (f"korch_i{n} *s, korch_i{n} a, korch_i{n} b" for n in widths)
    functions = [
        f"void f{n}({given}) {{ KORCH_QUADS{n}(*s, a, b); }}" for n, given in zip(widths, vectors, strict=True)
    ]
    files = (FOLDER.parent / "runtime" / "korch_rt.h", FOLDER / "korch_vectors.h", FOLDER / "korch_lanes.h")
    (tmp_path / "f.c").write_text("\n".join([*(f'#include "{file}"' for file in files), *functions]))
    compiler = find_toolchain()
    told = subprocess.run(
        [*compiler.command, "-O1", *(f"-m{flag}" for flag in VNNI[name]), "-S", "-o", "-", tmp_path / "f.c"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.count("vpdpbusd") == len(widths)
    assert told.stdout.count("{vex}") == (0 if name == "avx512" else len(widths))


def test_a_zero_point_that_is_computed(quads: bool, tmp_path: Path):
    b = Builder()
    x, zero = b.input("x", "uint8", (6, 20)), b.input("zero", "uint8", ())
    y = b.op("MatMulInteger", x, b.constant(whole("int8", (20, 10))), zero, w_zero=0)
    assert not wrong(measured(BACKEND, [Cone.of(graph_of(y).primitives)], 1, tmp_path))


@pytest.mark.parametrize("scale", [0.0, np.nan, np.inf, 1e-42])
def test_scales_that_are_no_numbers_give_what_numpy_gives(scale: float):
    y = product((4, 16), 8)
    graph = graph_of(y.builder.op("Cast", y, to="float32") * float(scale))
    x = whole("uint8", (4, 16))
    with np.errstate(all="ignore"):
        expected = evaluate_graph(graph, {"x": x}, "float32")["y"]
    np.testing.assert_array_equal(outputs(graph, x, 1), expected)


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (graph_of(convolution((1, 4, 5, 4), 4, (3, 3), channels_last=0, pads=(1,) * 4)), "channels-last"),
        (graph_of(viewed(product((4, 16), 8))), "elementwise"),
    ],
    ids=["channels first", "a view behind"],
)
def test_what_is_refused(graph: Graph, reason: str):
    assert reason in refusal(BACKEND, Cone.of(graph.primitives))
