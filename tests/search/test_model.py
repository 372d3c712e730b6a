"""The search among kernels, when the model as it is written errs too much: those go that err more than others.

All products are by hand here, added up in float64 and then, where they are to err, stretched a little: by less than a
check of the kernel alone finds, and by more than strict numerics allow.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from tests.by_hand import by_hand, code

from korch.backends import table
from korch.backends.contract import Backend, Kernel, Refusal
from korch.executable import Profile
from korch.ir import Builder
from korch.ir.cone import Cone
from korch.machine import Machine
from korch.optimize import Summary, optimized
from korch.options import Options
from korch.rewrite.winograd import winograd
from korch.search import in_place as timing
from korch.search.attempt import chains_of
from korch.search.model import surely_paying
from korch.targets import processor

ROWS, SIZE, COLUMNS = 32, 256, 3  # the loops take no product with so few columns
STRETCH = 4e-6
CODE = """const float *x = in[0], *w = in[1];
    float *y = out;
    for (volatile int i = 0; i < {delay}; i++);
    for (int i = 0; i < {rows}; i++)
        for (int j = 0; j < {columns}; j++) {{
            double sum = 0;
            for (int k = 0; k < {size}; k++) sum += (double)x[i * {size} + k] * w[k * {columns} + j];
            y[i * {columns} + j] = (float)(sum * (1 + {stretch})){epilogue};
        }}"""


@dataclass(frozen=True)
class Way:
    """One variant: how much its results are stretched, and how long it does nothing."""

    variant: str
    stretch: float
    delay: int


@dataclass(frozen=True)
class ByHand:
    """Takes the product, also with the Relu behind it where it is no fallback."""

    name: str
    ways: tuple[Way, ...]
    fallback: bool = False
    version: str = "1"

    def refuses(self, cone: Cone) -> Refusal | None:
        ops = [p.op for p in cone.primitives]
        takes = ops == ["MatMul"] or (ops == ["MatMul", "Relu"] and not self.fallback)
        return None if takes and cone.root.shape == (ROWS, COLUMNS) else Refusal("is another cone")

    def bound(self, cone: Cone, machine: Machine) -> float:
        return 1e-9

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        return tuple(by_hand(cone, code(self._run(cone, way)), way.variant, self.name) for way in self.ways)

    def _run(self, cone: Cone, way: Way) -> str:
        epilogue = " * (sum > 0)" if len(cone.primitives) > 1 else ""
        return CODE.format(
            rows=ROWS,
            size=SIZE,
            columns=COLUMNS,
            delay=way.delay,
            stretch=way.stretch,
            epilogue=epilogue,
        )


ROUGH, CAREFUL, SLOW = Way("rough", STRETCH, 0), Way("careful", 0.0, 10**6), Way("slow", 0.0, 10**7)
EXACT_AT_LAST = ByHand("patient", (SLOW,), fallback=True)


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KORCH_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


def model(seed: int) -> onnx.ModelProto:
    """y = relu(x w); the seed keeps one test's program from another's."""
    w = np.random.default_rng(seed).standard_normal((SIZE, COLUMNS)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["m"]), helper.make_node("Relu", ["m"], ["y"])]
    ends = [
        helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s)
        for n, s in (("x", (ROWS, SIZE)), ("y", (ROWS, COLUMNS)))
    ]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], [numpy_helper.from_array(w, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def found(patch: pytest.MonkeyPatch, seed: int, *by_hand: ByHand) -> tuple[list[str], Summary]:
    """What the products are computed by, and the summary, if there is nothing but `by_hand` and the loops."""
    offered: list[Backend] = [*by_hand, table.entry_of("loops").backend]  # pyright: ignore[reportAssignmentType]
    known = table.entries()
    patch.setattr(table, "entries", lambda: (*known, *(table.BackendEntry(b.name, b, b.version) for b in by_hand)))
    patch.setattr(processor, "backends", lambda **_: offered)
    executable, summary, _ = optimized(model(seed), Options(1, 10.0, "strict"), lambda state: None)
    kernels = [s.kernel for s in executable.plan.steps if any(p.op == "MatMul" for p in s.kernel.cone.primitives)]
    return [f"{k.backend} {k.variant}" for k in kernels], summary


@pytest.mark.slow
def test_a_backend_that_errs_too_much_is_done_without(monkeypatch: pytest.MonkeyPatch):
    """For the product alone as well as for what it was fused with, at once; others have the rest."""
    kernels, summary = found(monkeypatch, 0, ByHand("poor", (ROUGH,)), EXACT_AT_LAST)
    assert kernels == ["patient slow"]
    assert summary.error_bound and summary.error <= summary.error_bound < STRETCH / 2
    assert [d.partition(" by ")[2] for d in summary.dropped] == ["poor rough"]


@pytest.mark.slow
def test_another_variant_of_the_same_backend_is_taken(monkeypatch: pytest.MonkeyPatch):
    kernels, summary = found(monkeypatch, 1, ByHand("mixed", (ROUGH, CAREFUL)), EXACT_AT_LAST)
    assert kernels == ["mixed careful"]
    assert summary.error_bound and summary.error <= summary.error_bound
    assert [d.partition(" by ")[2] for d in summary.dropped] == ["mixed rough"]


@pytest.mark.slow
def test_where_nothing_errs_less_the_fast_program_is_given_out_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    as_bad = ByHand("as bad", (Way("slow too", STRETCH, 10**6),), fallback=True)
    with caplog.at_level(logging.WARNING):
        kernels, summary = found(monkeypatch, 2, ByHand("poor", (ROUGH,)), as_bad)
    assert kernels == ["poor rough"] and not summary.dropped
    assert summary.error_bound and summary.error > summary.error_bound
    (said,) = (r.getMessage() for r in caplog.records if r.levelno == logging.WARNING)
    assert "output 'y' errs by" in said and "numerics strict allow" in said and "nothing was found to err less" in said


@pytest.mark.slow
def test_of_programs_that_all_err_too_much_the_least_erring_is_given_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    better = ByHand("better", (Way("slow", STRETCH / 2, 10**6),), fallback=True)
    with caplog.at_level(logging.WARNING):
        kernels, summary = found(monkeypatch, 3, ByHand("poor", (ROUGH,)), better)
    assert kernels == ["better slow"] and len(summary.dropped) == 1
    assert summary.error_bound and summary.error_bound < summary.error < 0.75 * STRETCH
    assert "the least of 2 tried" in caplog.text


@pytest.mark.parametrize(("rows", "kept"), [(1 << 10, False), (3 << 17, True)])
def test_a_short_search_begins_with_chains_with_much_between_their_links(rows: int, kept: bool):
    b = Builder()
    x, w = b.input("x", "float32", (rows, 4)), b.constant(np.ones((4, 16), np.float32))
    y = b.op("MatMul", b.op("MatMul", x, w), b.constant(np.ones((16, 4), np.float32)))
    graph = b.graph([("y", y)])
    first, second = (Cone.of([p]) for p in graph.primitives if p.op == "MatMul")
    chain = Cone.of([*first.primitives, *second.primitives])
    found = surely_paying([first, second, chain], table.backends())
    assert found == (([first, second, chain], []) if kept else ([first, second], [chain]))


def test_a_short_search_begins_with_chains_that_are_one_kernel_of_a_backend_for_links():
    b = Builder()
    x, w = b.input("x", "float32", (1, 4, 8, 8, 8)), b.constant(np.ones((8, 8, 3, 3, 3), np.float32))
    attrs = {"strides": (1, 1, 1), "dilations": (1, 1, 1), "pads": (1,) * 6, "group": 1, "channels_last": 1}
    graph = winograd(b.graph([("y", b.op("Conv", x, w, **attrs))]))
    chain = Cone.of(graph.primitives[-3:])
    parts = [Cone.of([p]) for p in chain.primitives]
    others = [b for b in table.backends() if b.name != "loops"]
    assert surely_paying([*parts, chain], table.backends()) == ([*parts, chain], [])
    assert surely_paying([*parts, chain], others) == (parts, [chain])


def test_a_short_search_goes_on_with_chains_of_the_links_that_its_plan_holds():
    """The most bytes between links of all equal chains; no two of the same links."""
    b = Builder()
    x, w = b.input("x", "float32", (64, 16)), b.constant(np.ones((16, 16), np.float32))
    wide, back = b.constant(np.ones((16, 256), np.float32)), b.constant(np.ones((256, 16), np.float32))
    one = b.op("MatMul", b.op("MatMul", x, w), w)
    two = b.op("MatMul", b.op("MatMul", one, wide), back)
    other = b.op("MatMul", b.op("Relu", x), w)
    graph = b.graph([("y", two), ("z", b.op("MatMul", other, w))])
    products = [p for p in graph.primitives if p.op == "MatMul"]
    links = [Cone.of([p]) for p in products[:5]]
    pairs = [Cone.of(pair) for pair in pairwise(products[:4])]
    elsewhere = Cone.of(products[4:6])
    found = chains_of(links, [*pairs, elsewhere], most=3)
    assert found == [pairs[2], pairs[0]], "the wide one, then what is left of the narrow ones; z is not in the plan"
    assert chains_of(links, pairs, most=1) == [pairs[2]]


@pytest.mark.parametrize(
    ("seconds", "off", "most"), [(0.5, 1.0, 4.0), (0.49, 2.0, 13.0), (0.01, 1.0, 1.0), (0.01, 2.0, 8.0)]
)
def test_timing_a_program_in_place_takes_seconds(
    seconds: float, off: float, most: float, monkeypatch: pytest.MonkeyPatch
):
    """Of a slow one, too, which is timed again and again where it is far from what was promised."""
    now, counted = [0.0], list[int]()

    class Slow:
        def profile(self, feeds: object, runs: int, blocks: int) -> Profile:
            now[0] += seconds * (runs + 1) * blocks
            counted.append(runs * blocks)
            return Profile((seconds,), seconds, runs * blocks)

    monkeypatch.setattr(timing.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(timing.time, "sleep", lambda pause: now.__setitem__(0, now[0] + pause))
    assert timing.in_place(Slow(), {}, seconds / off).total == seconds  # pyright: ignore[reportArgumentType]
    assert now[0] <= most and min(counted) >= 4 and (len(counted) > 1) is (off > 1)
