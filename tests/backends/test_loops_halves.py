"""Products whose factors are rounded to bfloat16: right within that rounding, and offered where numerics allow it.

Where the processor has no units for them, the same arithmetic is in C.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from korch.backends.contract import Variant
from korch.backends.cpu import loops as package
from korch.backends.cpu.loops import backend as loops
from korch.backends.cpu.loops import halves
from korch.backends.cpu.loops.backend import BACKEND
from korch.backends.toolchain import find_toolchain
from korch.executable import Executable, Plan, Step
from korch.ir import Builder, Cone, Graph
from korch.ir.builder import Value
from korch.machine import Machine
from korch.numerics.rounding import rounded
from korch.profile import Database, Measurement, Profiler
from korch.profile.physics import Work
from korch.search.ledger import open_ledger

from .measured import measured, wrong

RNG = np.random.default_rng(0)
PLAIN = {"strides": (1, 1), "pads": (0,) * 4, "dilations": (1, 1), "group": 1, "channels_last": 1}
MACHINE = Machine(1, 1e11, ((1 << 40, 1e13),), 1e-9)


def values(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def product(shape: tuple[int, ...], columns: int) -> Value:
    b = Builder()
    return b.input("x", "float32", shape) @ b.constant(values(shape[-1], columns) / np.float32(shape[-1]) ** 0.5)


def convolution(shape: tuple[int, ...], outputs: int, kernel: tuple[int, int], **attrs: Any) -> Value:
    b = Builder()
    w = b.constant(values(outputs, shape[-1], *kernel) / 8)
    return b.op("Conv", b.input("x", "float32", shape), w, **(PLAIN | attrs))


def followed(y: Value) -> Value:
    return y.builder.op("Relu", y + y.builder.constant(values(y.shape[-1])))


def graph_of(y: Value) -> Graph:
    return y.builder.graph([("y", y)])


GRAPHS = {
    "product": graph_of(followed(product((65, 301), 77))),
    "row": graph_of(product((1, 512), 600)),
    "batch": graph_of(product((3, 50, 48), 40)),
    "windows": graph_of(followed(convolution((2, 15, 14, 5), 40, (3, 3), strides=(2, 2), pads=(1, 0, 1, 2)))),
    "apart": graph_of(convolution((1, 20, 19, 6), 33, (5, 4), dilations=(2, 3), pads=(4, 4, 4, 5))),
    "points": graph_of(convolution((1, 14, 14, 32), 64, (1, 1))),
}
CONES = {name: Cone.of(g.primitives) for name, g in GRAPHS.items()}


@pytest.fixture
def units(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processor multiplies bfloat16, and no kernel is too small for it."""
    monkeypatch.setattr(loops, "multiplies_halves", lambda: True)
    monkeypatch.setattr(halves, "FEWEST", 0)


def output(name: str, x: np.ndarray) -> np.ndarray:
    """Of the kernel in bfloat16."""
    graph = GRAPHS[name]
    kernel = BACKEND.under("relaxed").build(CONES[name], 2)[1]
    with Executable.link(Plan(graph, (Step.of(kernel, 1e-6),), 2)) as program:
        return program.run({"x": x})["y"]


def test_right_beside_the_kernels_of_float32(units: None, tmp_path: Path):
    found = measured(BACKEND.under("relaxed"), list(CONES.values()), 2, tmp_path)
    assert [k.variant.precision for k, _ in found] == ["", "bf16"] * len(CONES)
    assert not wrong(found)
    errors = {
        p: [r.error for k, r in found if k.variant.precision == p and isinstance(r, Measurement)] for p in ("", "bf16")
    }
    assert max(errors[""]) < 1e-5 < 1e-4 < min(errors["bf16"]), "whoever is rounded is also told so"


@pytest.mark.parametrize("name", ["product", "windows"])
def test_factors_are_rounded_to_nearest(name: str, units: None):
    """Numbers of few bits are exact; others are those that are nearest."""
    graph = GRAPHS[name]
    x = values(*graph.inputs[0].shape)
    np.testing.assert_array_equal(output(name, x), output(name, rounded(x, "bf16")))


def test_numbers_that_are_none_stay_so(units: None):
    x = values(1, 512)
    for special in (np.nan, np.inf):
        x[0, 7] = special
        assert not np.isfinite(output("row", x)).any()


@pytest.mark.parametrize(
    ("numerics", "precisions"), [("strict", ()), ("default", ()), ("relaxed", ("bf16",)), ("5e-3", ("bf16",))]
)
def test_offered_where_numerics_allow_it(numerics: str, precisions: tuple[str, ...], units: None):
    assert BACKEND.under(numerics).precisions == precisions


def test_processors_without_units_and_other_kernels_have_none(units: None, monkeypatch: pytest.MonkeyPatch):
    b = Builder()
    soft = Cone.of(graph_of(b.op("Exp", b.input("x", "float32", (64, 64)))).primitives)
    assert len(BACKEND.under("relaxed").build(soft, 1)) == 1
    monkeypatch.setattr(loops, "multiplies_halves", lambda: False)
    assert BACKEND.under("relaxed") == BACKEND


def test_bounds_are_those_of_the_units(units: None):
    """Of the cone, of a kernel, and of all that a backend offers for the cone."""
    cone, graded = CONES["batch"], BACKEND.under("relaxed")
    assert 0.5 <= graded.bound(cone, MACHINE) / BACKEND.bound(cone, MACHINE) < 0.55, "beside what it moves"
    assert Work.of(cone, "bf16").operations == Work.of(cone).operations / 2
    offers = {b.precisions: open_ledger([cone], (b,), MACHINE).entry(0).offers[0] for b in (BACKEND, graded)}
    assert offers[("bf16",)].work.operations == offers[()].work.operations / 2


def test_both_kernels_of_a_cone_are_checked_with_the_same_leaves(units: None, tmp_path: Path):
    """Each against its own reference: a kernel that rounds is no right kernel of float32."""
    cone = CONES["product"]
    plain, half = BACKEND.under("relaxed").build(cone, 1)
    posing = type(half)(cone, "loops", Variant("posing"), half.body)
    with Profiler(1, Database(tmp_path), worker=f"{__package__}.untimed") as profiler:
        results = profiler.measure([half, plain, posing])
    assert [isinstance(r, Measurement) for r in results] == [True, True, False]


def test_processors_with_units_take_their_instruction(tmp_path: Path):
    folder, widths = Path(package.__file__).parent, (4, 8, 16)
    files = (folder.parent / "runtime" / "korch_rt.h", folder / "korch_vectors.h", folder / "korch_lanes.h")
    functions = [
        f"void f{n}(korch_f{n} *s, korch_i{n} a, korch_i{n} b) {{ KORCH_HALVES{n}(*s, a, b); }}" for n in widths
    ]
    (tmp_path / "f.c").write_text("\n".join([*(f'#include "{file}"' for file in files), *functions]))
    flags = ("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512bf16")
    command = [*find_toolchain().command, "-O1", *flags, "-S", "-o", "-", tmp_path / "f.c"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.count("vdpbf16ps") == len(widths)
