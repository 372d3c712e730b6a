"""Cases in, findings out: programs are linked and run here, in a process that a kernel may end (`worker.py`)."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any
from unittest.mock import patch

import numpy as np

from fuzzing.draft import Array
from fuzzing.forced import feeds_of, forced_plan, joined, outputs_of, prepared, with_choices
from fuzzing.models import Case
from fuzzing.verdict import Finding, Judged, compared, rounded_off
from korch.backends.toolchain import Toolchain, find_toolchain
from korch.backends.units import units_here
from korch.errors import ArchiveError, BackendError, Error, NeedsSegments, line_of
from korch.executable import link
from korch.executable.by_step import exposed, wrong_step
from korch.executable.cpu import CpuExecutable
from korch.executable.plan import Plan
from korch.fission import fission
from korch.fission.importer import read
from korch.numerics.exact import onnxruntime_outputs
from korch.options import Options
from korch.session import segmenting


@dataclass(frozen=True)
class Manner:
    """How programs are made: `plans` for each model; `threads`; whether each step is compared (`stepwise`), and the
    compiler's `level` of optimisation."""

    plans: int = 1
    threads: int = 1
    stepwise: bool = False
    level: str = "0"


@dataclass(frozen=True)
class Outcome:
    """Of one case. `kernels`: how many of each backend ran; `choices`: how many of its primitives a rewrite made."""

    seed: int
    finding: Finding
    plan: int = 0
    kernels: Mapping[str, int] = field(default_factory=dict[str, int])
    choices: int = 0
    segments: int = 0


@contextmanager
def compiled_at(level: str) -> Iterator[None]:
    """Within the block, programs are compiled with so much optimisation: most of a short run is a compiler's."""
    own = find_toolchain()

    def toolchain() -> Toolchain:
        return replace(own, flags=(*own.flags, f"-O{level}"))

    with patch.object(link, "find_toolchain", toolchain):
        yield


def outcomes(cases: Sequence[Case], manner: Manner) -> list[Outcome]:
    """Of each case, all in one program."""
    with compiled_at(manner.level):
        found = list[Outcome]()
        parts = list[_Part]()
        for case in cases:
            part = _guarded(case, manner)
            if isinstance(part, list):
                parts += part
            else:
                found.append(part)
        return [*found, *_together(parts, manner)]


@dataclass(frozen=True)
class _Part:
    judged: Judged
    plan: Plan
    number: int

    @property
    def case(self) -> Case:
        return self.judged.prepared.case

    def outcome(self, finding: Finding) -> Outcome:
        kernels = dict[str, int]()
        for s in self.plan.steps:
            kernels[s.kernel.backend] = kernels.get(s.kernel.backend, 0) + 1
        written = set(self.judged.prepared.plain.primitives)
        choices = sum(p not in written for s in self.plan.steps for p in s.kernel.cone.primitives)
        return Outcome(self.case.seed, finding, self.number, kernels, choices)


def _guarded(case: Case, manner: Manner) -> list[_Part] | Outcome:
    """The plans of a case; where there are none, its outcome."""
    try:
        return _plans(case, manner)
    except NeedsSegments:
        return _segments(case, manner)
    except Exception as e:  # of Korch's errors too: onnxruntime runs the model
        return Outcome(case.seed, Finding("error", f"{type(e).__name__}: {line_of(e)}"))


def _plans(case: Case, manner: Manner) -> list[_Part]:
    ready = prepared(case)
    judged = Judged(ready)
    return [
        _Part(judged, forced_plan(ready.graph, case.numerics, manner.threads, Random(f"{case.seed} {k}")), k)
        for k in range(manner.plans)
    ]


def _together(parts: Sequence[_Part], manner: Manner, tries: int = 40) -> list[Outcome]:
    """All plans in one program; each in its own where that one does not link or run. A kernel of a library that does
    not start is no candidate: its model has another plan then."""
    if not parts:
        return []
    plans = [exposed(p.plan) if manner.stepwise else p.plan for p in parts]
    try:
        with CpuExecutable.of(joined(plans, manner.threads), units=units_here(link.find_toolchain())) as program:
            made = program.run(feeds_of([p.case.feeds for p in parts]))
    except Error as e:
        if tries and isinstance(e, BackendError | ArchiveError) and (at := NOT_STARTED.search(str(e))):
            i = int(at[1])
            if any(s.kernel.libraries for s in parts[i].plan.steps):
                return _together([*parts[:i], _without_libraries(parts[i], manner), *parts[i + 1 :]], manner, tries - 1)
        if len(parts) == 1:
            return [parts[0].outcome(Finding("error", f"{type(e).__name__}: {line_of(e)}"))]
        return [o for part in parts for o in _together([part], manner)]
    return [part.outcome(_told(part, outputs_of(made, i), manner)) for i, part in enumerate(parts)]


NOT_STARTED = re.compile(r"step \d+ \(p(\d+)/.* failed to start")


def _without_libraries(part: _Part, manner: Manner) -> _Part:
    """The same model by a plan of generated kernels."""
    graph, case = part.judged.prepared.graph, part.case
    plan = forced_plan(graph, case.numerics, manner.threads, Random(f"{case.seed} {part.number}"), libraries=False)
    return replace(part, plan=plan)


def _told(part: _Part, made: Mapping[str, Array], manner: Manner) -> Finding:
    """The finding; an evaluation that fails is one too."""
    try:
        return _finding(part, made, manner)
    except Exception as e:
        return Finding(
            "error", f"{type(e).__name__}: {line_of(e)} ({''.join(traceback.format_tb(e.__traceback__)[-3:])})"
        )


def _finding(part: _Part, made: Mapping[str, Array], manner: Manner) -> Finding:
    if manner.stepwise:
        return part.judged.finding(part.plan, _outputs(part.plan, made), made)
    finding = part.judged.finding(part.plan, made, None)
    return _by_steps(part, made, manner, finding) if finding.kind == "program" else finding


def _by_steps(part: _Part, made: Mapping[str, Array], manner: Manner, finding: Finding) -> Finding:
    """The same of a program whose steps are looked at: where each is right and the outputs are the same, roundings have
    decided something."""
    case = part.case
    with CpuExecutable.of(joined([exposed(part.plan)], manner.threads)) as program:
        steps = outputs_of(program.run(feeds_of([case.feeds])), 0)
    if reason := wrong_step(part.plan, {**case.feeds, **steps}):
        return Finding("kernel", reason)
    again = _outputs(part.plan, steps)
    same = all(np.array_equal(again[n], y, equal_nan=y.dtype.kind == "f") for n, y in made.items())
    return Finding("rounding", finding.reason) if same else finding


def _outputs(plan: Plan, steps: Mapping[str, Array]) -> dict[str, Array]:
    """The outputs, of what all steps made."""
    constants = {t.name: np.asarray(plan.graph.constants[t.name]) for t in plan.graph.outputs if t.const}
    values = {**constants, **steps}
    return {n: values[t.name] for n, t in zip(plan.graph.output_names, plan.graph.outputs, strict=True)}


# Segments


def _segments(case: Case, manner: Manner) -> Outcome:
    """A program in segments, whose islands have random plans."""
    kernels, number = dict[str, int](), iter(range(1000))

    def optimized(model: Any, options: Options, *_: Any) -> tuple[CpuExecutable, None, tuple[()]]:
        plain = fission(read(model, options.shapes, options.values))
        graph = with_choices(plain, case)
        plan = forced_plan(graph, case.numerics, manner.threads, Random(f"{case.seed} {next(number)}"))
        for s in plan.steps:
            kernels[s.kernel.backend] = kernels.get(s.kernel.backend, 0) + 1
        return CpuExecutable.of(plan), None, ()

    def raced(runs: Sequence[Callable[[], Any]]) -> list[float]:
        runs[-1]()
        return [2.0, 1.0]

    options = Options(manner.threads, None, case.numerics, case.shapes)
    try:
        with (
            patch.object(segmenting, "optimized", optimized),
            patch.object(segmenting, "race", raced),
            patch.object(segmenting, "port_feeds", lambda ports: case.feeds),
        ):
            program, _ = segmenting.segmented(case.model, options, lambda state: None)
        with program:
            reasons = [p.reason for part in program.parts for p in part.parts() if p.reason]
            found = program.run(case.feeds)
    except Exception as e:
        kind = "error" if _run_by_onnxruntime(case) else "left"
        return Outcome(case.seed, Finding(kind, f"{type(e).__name__}: {line_of(e)}"))
    finding = _compared(case, found)
    if not finding.wrong and (reason := next((r for r in reasons if "takes" not in r), "")):
        finding = Finding("left", reason)
    return Outcome(case.seed, finding, 0, kernels, 0, len(program.parts))


def _run_by_onnxruntime(case: Case) -> bool:
    """Whether anybody runs the model: it has no bfloat16."""
    try:
        return bool(onnxruntime_outputs(case.model, case.feeds))
    except Error:
        return False


def _compared(case: Case, found: Mapping[str, Array]) -> Finding:
    try:
        theirs = onnxruntime_outputs(case.model, case.feeds)
    except Error:
        return Finding("ill", "onnxruntime does not run the model")

    def other() -> Mapping[str, Array]:
        r = np.random.default_rng(0)
        floats = {n: x for n, x in case.feeds.items() if x.dtype.kind == "f"}
        near = {n: rounded_off(x, 4 * float(np.finfo(x.dtype).eps), r) for n, x in floats.items()}
        return onnxruntime_outputs(case.model, {**case.feeds, **near})

    return compared(found, theirs, other, case.numerics)
