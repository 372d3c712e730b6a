"""The error that each loose primitive causes at each output, before anything is built.

Of a loose primitive the own error is the difference between its value in float32, every step rounded, and the value as
written in float64, on a sample of the places where it lands (`loose.py`), relative to that value; equal cones of other
layers have the same. Its gain to the outputs comes from probes (`probes.py`). Roundings of different primitives are
taken as independent, so the squares of errors add (Higham & Mary 2019, "A New Approach to Probabilistic Rounding Error
Analysis").
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import hypot, inf, isfinite, sqrt

import numpy as np

from korch.errors import ModelError
from korch.ir.cone import Cone
from korch.ir.constants import Constants
from korch.ir.evaluate import evaluate_cone
from korch.ir.graph import Graph, topological
from korch.ir.ops.axes import first_to_last
from korch.ir.ops.table import Array, Region
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor
from korch.numerics.blame import in_layout, way_of
from korch.numerics.exact import Arrays
from korch.numerics.loose import Landing, loose_primitives, with_landings
from korch.numerics.probes import Gains, Probes
from korch.system.deadline import Deadline

log = logging.getLogger(__name__)

RUN, MATRIX_RUN, RUNS = 4, 32, 2
"""Positions of a sample that are side by side, those of a matrix, and how many such runs an axis has: 4096 values of a
batch of images or of a matrix. Libraries sum small products in another order, which errs less: 8 rows of 1024 steps by
8 columns 0.4 of the error of 64 by 64 or more (OpenBLAS, AVX-512)."""


@dataclass(frozen=True)
class ErrorEstimate:
    """`squares`: of each loose primitive, the square of the error that it causes at each of `outputs`, relative to the
    output's largest magnitude."""

    outputs: tuple[Tensor, ...]
    squares: Mapping[Primitive, tuple[float, ...]]

    def errors(self, primitives: Iterable[Primitive]) -> tuple[float, ...]:
        """The error at each output of a program that computes `primitives`, each as often as it occurs there."""
        found = [self.squares[p] for p in primitives if p in self.squares]
        return tuple(hypot(*(sqrt(own[o]) for own in found)) for o in range(len(self.outputs)))

    def scaled(self, factors: Mapping[str, float]) -> ErrorEstimate:
        """With the errors at some outputs, by name, so many times as large."""
        scale = [factors.get(t.name, 1.0) ** 2 for t in self.outputs]
        squares = {p: tuple(v * f for v, f in zip(vs, scale, strict=True)) for p, vs in self.squares.items()}
        return replace(self, squares=squares)


def estimated(graph: Graph, feeds: Arrays, until: Deadline) -> ErrorEstimate | None:
    """The errors of the loose primitives of `graph` on `feeds`. None where there are none, and where no estimate can be
    made: onnxruntime cannot run the model, or a float decides something (`Round`, `ArgMax`), which no noise shows."""
    loose, plain = with_landings(graph, loose_primitives(graph)), graph.plain()
    landed = {x.at for p in loose for x in p.landings}
    tensors = [p.output for p in plain.primitives if p.output in landed and p.output.is_float]
    if not tensors or _meets_step(plain, tensors):
        return None
    leaves = {graph.value_of(t) for p in loose for x in p.landings for t in x.cone.leaves if not t.const}
    try:
        probes = Probes(plain, tensors, leaves, feeds)
        gains = probes.all_gains(until)
    except ModelError as e:
        log.info("no errors are estimated: %s", e)
        return None
    own = _OwnErrors(graph, plain, probes.values)
    squares = _by_way(graph, {p.primitive: p.landings for p in loose}, own, gains, len(probes.outputs))
    log.info("errors of %d primitives at %d outputs are estimated", len(loose), len(probes.outputs))
    return ErrorEstimate(probes.outputs, squares) if probes.outputs else None


def _meets_step(plain: Graph, tensors: Sequence[Tensor]) -> bool:
    """Whether a float that depends on `tensors` decides something."""
    noisy = set(tensors)
    for p in plain.primitives:
        if any(t in noisy for t in p.inputs):
            if p.spec.is_step or not p.output.is_float:
                return True
            noisy.add(p.output)
    return False


def _by_way(
    graph: Graph,
    landings: Mapping[Primitive, Sequence[Landing]],
    own: _OwnErrors,
    gains: Mapping[Tensor, Gains],
    outputs: int,
) -> dict[Primitive, tuple[float, ...]]:
    """Of each primitive. The same way in another layout errs alike: its sums only have another order here."""
    known: dict[tuple[object, ...], tuple[float, ...]] = {}
    for p, own_landings in landings.items():
        if (way := way_of(graph, p)) not in known:
            known[way] = _squares(own_landings, own, gains, outputs)
    return {p: known[way_of(graph, p)] for p in landings}


def _squares(
    landings: Sequence[Landing], own: _OwnErrors, gains: Mapping[Tensor, Gains], outputs: int
) -> tuple[float, ...]:
    """The sums over all landings; infinite where a value leaves the finite numbers."""
    errors = [(own.at(x), gains[x.at]) for x in landings if x.at in gains]
    sums = (sum((error * gain[o]) ** 2 for error, gain in errors) for o in range(outputs))
    return tuple(s if isfinite(s) else inf for s in sums)


@dataclass(frozen=True)
class _OwnErrors:
    """Errors of single cones, from the `values` of the model as written, `plain`. `known`: relative ones, by the
    signature of the cone."""

    graph: Graph
    plain: Graph
    values: Mapping[Tensor, Array]
    known: dict[str, float] = field(default_factory=dict[str, float])

    def at(self, landing: Landing) -> float:
        """The root mean square error of the landing's value."""
        signature = landing.cone.signature
        if signature not in self.known:
            self.known[signature] = self._relative(landing)
        return self.known[signature] * _size(self.values[landing.at])

    def _relative(self, landing: Landing) -> float:
        region, cone = sample(landing.at.shape), landing.cone
        moved = cone.root != landing.at
        order = first_to_last(landing.at.rank) if moved else tuple(range(landing.at.rank))
        with np.errstate(all="ignore"):
            found = evaluate_cone(cone, self._leaves(cone), tuple(region[a] for a in order), "float32")
            written = self._as_written(landing)
            exact = evaluate_cone(written, self._leaves(written), region)
            return _size(found.astype(np.float64).transpose(np.argsort(order)) - exact) / (_size(exact) or 1.0)

    def _as_written(self, landing: Landing) -> Cone:
        """The landing's value as the model has it, from the same values."""
        given = {self.graph.value_of(t) for t in landing.cone.leaves}
        made = {t: ps[0] for t, ps in self.plain.producers.items() if t not in given}
        return Cone.of(topological(landing.at, made))

    def _leaves(self, cone: Cone) -> list[Array]:
        return [self._constant(t) if t.const else in_layout(self.graph, t, self.values) for t in cone.leaves]

    def _constant(self, t: Tensor) -> Array:
        """Transformed weights of all layers and ways would be many times the model's own: they are not kept."""
        constants = self.graph.constants
        return constants.passing(t.name) if isinstance(constants, Constants) else constants[t.name]


def _size(x: Array) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64)))) if x.size else 0.0


def sample(shape: Sequence[int]) -> Region:
    """A few positions of each axis: all of short ones, else runs at random places."""
    rng = np.random.default_rng(0)
    run = RUN if sum(length > RUN * RUNS for length in shape) > 2 else MATRIX_RUN
    return tuple(_positions(length, run, rng) for length in shape)


def _positions(length: int, run: int, rng: np.random.Generator) -> np.ndarray:
    if length <= run * RUNS:
        return np.arange(length)
    starts = rng.integers(0, length - run + 1, (RUNS, 1))
    return np.unique(starts + np.arange(run))
