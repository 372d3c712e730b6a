"""Is a program right? Beside float64 and onnxruntime, and step by step; and what explains it where it is far off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from fuzzing.forced import Prepared
from korch.executable.by_step import wrong_step
from korch.executable.plan import Plan
from korch.ir import Graph
from korch.ir.evaluate import evaluate_graph
from korch.ir.ops.table import Array
from korch.numerics.bounds import own_bound
from korch.numerics.error import error_of
from korch.numerics.judge import ReferenceOutputs
from korch.targets.emulate import emulated

Arrays = Mapping[str, Array]

NOISE = 16.0
"""How many times as far from float64 as roundings put other evaluations a right program may be."""
FEW = 3
"""Elements that are no floats and may fall to the other side of a step besides."""
PERTURBED = 3
"""Evaluations on inputs and constants that are a rounding off."""
ROUNDING = 2.0**-22
FOLDED = 1e-5
"""Of the largest magnitude: what constants that were rounded to float32 change in float64."""


WRONG = frozenset({"kernel", "rewrite", "fission", "program", "crash", "error"})


@dataclass(frozen=True)
class Finding:
    """The part at fault: a `kernel`, a `rewrite`, a rule of `fission`, the linked `program`, a `crash` or an `error`.
    Or the reason for an output that is far off: `rounding`; `ill`, where nobody can tell; `left` to onnxruntime. Empty
    where the program is right."""

    kind: str = ""
    reason: str = ""

    @property
    def wrong(self) -> bool:
        return self.kind in WRONG


@dataclass(frozen=True)
class Judged:
    """The references of a case, each computed when it is first asked for."""

    prepared: Prepared

    @cached_property
    def references(self) -> ReferenceOutputs:
        return ReferenceOutputs(self.prepared.model, self.prepared.case.feeds)

    @cached_property
    def exact(self) -> Arrays:
        return self.references.exact

    @cached_property
    def others(self) -> list[Arrays]:
        """Right evaluations whose roundings differ: in float32, and on inputs that are a rounding off."""
        plain, feeds = self.prepared.plain, self.prepared.case.feeds
        with np.errstate(all="ignore"):
            found = [evaluate_graph(plain, feeds, "float32")]
            found += [evaluate_graph(*perturbed(plain, feeds, seed)) for seed in range(PERTURBED)]
        return [*found, *([self.references.single] if self.references.single else [])]

    def noise(self, name: str) -> float:
        """How far the other evaluations are from float64."""
        exact = self.exact[name]
        return max(error_of(x[name], exact, exact) for x in self.others)

    def explained(self, name: str, found: Array, by: float = 0.0) -> bool:
        """Whether roundings put `found` where it is."""
        error = error_of(found, self.exact[name], self.exact[name])
        floats = found.dtype.kind == "f"
        few = 0.0 if floats else FEW / max(found.size, 1)
        rounding = float(np.finfo(found.dtype).eps) if floats else 0.0
        return error <= NOISE * max(self.noise(name), by, rounding) + few

    def finding(self, plan: Plan, found: Arrays, steps: Arrays | None) -> Finding:
        """On the outputs `found` of the program of `plan`; `steps`: what its steps made, where they are known."""
        if steps is not None and (reason := wrong_step(plan, {**self.prepared.case.feeds, **steps})):
            return Finding("kernel", reason)
        for name, y in found.items():
            if finding := self._output(plan, name, y):
                return finding
        return self._fission()

    def _output(self, plan: Plan, name: str, y: Array) -> Finding | None:
        verdict = self.references.verdict({name: y}, plan.numerics)
        if verdict.passed:
            return None
        host = any(s.kernel.host for s in plan.steps)
        if self.prepared.case.special and host:
            return Finding("ill", "onnxruntime loses NaN")
        with np.errstate(all="ignore"):
            algebra = evaluate_graph(plan.selection(), self.prepared.case.feeds)[name]
            rounds = emulated(plan, self.prepared.case.feeds)[name]
        text = verdict.text(plan.numerics)
        exact = self.exact[name]
        if error_of(algebra, exact, exact) > FOLDED and not self.explained(name, algebra):
            return Finding("rewrite", f"{text}; its primitives err by {error_of(algebra, exact, exact):.1e} in float64")
        own = error_of(rounds, exact, exact)
        if not self.explained(name, y, own):
            return Finding("program", f"{text}; {own:.1e} are explained by its primitives")
        return Finding("rounding" if np.isfinite(own) else "ill", text)

    def _fission(self) -> Finding:
        """Whether onnxruntime agrees with float64."""
        case, theirs = self.prepared.case, self.references.single
        if theirs is None or case.special:
            return Finding()
        bound = max(own_bound("default") or 0.0, 1e-3)
        for name, exact in self.exact.items():
            y = theirs[name]
            rounding = float(np.finfo(y.dtype).eps) if y.dtype.kind == "f" else FEW / max(y.size, 1)
            error = error_of(y, exact, y)
            if error <= max(bound, 4 * rounding):
                continue
            noise = max(error_of(x[name], exact, exact) for x in self.others[: 1 + PERTURBED])
            if error > NOISE * noise:
                return Finding("fission", f"onnxruntime is {error:.1e} from float64 at {name!r}, roundings {noise:.1e}")
        return Finding()


def rounded_off(x: Array, share: float, r: np.random.Generator) -> Array:
    """Floats that are off by that share of their magnitude, to either side."""
    return (x * (1 + share * r.choice([-1.0, 1.0], x.shape))).astype(x.dtype)


def perturbed(graph: Graph, feeds: Arrays, seed: int) -> tuple[Graph, Arrays]:
    """Floats that are a rounding off."""
    r = np.random.default_rng(seed)

    def off(x: Array) -> Array:
        return rounded_off(x.astype(np.float64), ROUNDING, r) if x.dtype.kind == "f" else x

    wanted = {t.name for p in graph.primitives for t in p.inputs if t.const} | {
        t.name for t in graph.outputs if t.const
    }
    constants = {n: off(np.asarray(graph.constants[n])) for n in sorted(wanted)}
    return replace(graph, constants=constants), {n: off(np.asarray(x)) for n, x in feeds.items()}


def compared(found: Arrays, theirs: Arrays, other: Callable[[], Arrays], numerics: str) -> Finding:
    """On a program in segments, which has no float64 form: `theirs` are onnxruntime's outputs, `other` those on inputs
    that are a rounding off."""
    noisy: Arrays | None = None
    bound = max(own_bound(numerics) or 1e-4, 1e-4)
    for name, y in found.items():
        x = theirs[name]
        if y.shape != x.shape or y.dtype != x.dtype:
            return Finding(
                "program", f"output {name!r} is {y.dtype}{list(y.shape)}, onnxruntime's {x.dtype}{list(x.shape)}"
            )
        rounding = float(np.finfo(y.dtype).eps) if y.dtype.kind == "f" else 0.0
        error = error_of(y, x, x)
        if error <= max(bound, 4 * rounding):
            continue
        noisy = other() if noisy is None else noisy
        if noisy[name].shape != x.shape or error <= NOISE * error_of(noisy[name], x, x):
            return Finding("ill", f"output {name!r} errs by {error:.1e}")
        return Finding("program", f"output {name!r} is {error:.1e} from onnxruntime's")
    return Finding()
