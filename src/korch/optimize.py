"""The whole pipeline: import, fission, choices, then the plan of an earlier search or a search of its own."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import onnx

from korch.errors import ArchiveError, CacheError, Error, words_of
from korch.executable import Executable
from korch.executable.feeds import other_feeds, random_feeds
from korch.executable.plan import Accuracy
from korch.executable.recall import Recall, program_digest
from korch.fission import fission
from korch.fission.importer import read
from korch.ir.macs import total
from korch.ir.ops.table import Array
from korch.numerics.judge import Judge
from korch.options import Options
from korch.profile.database import Database
from korch.profile.retention import trim
from korch.rewrite import add_choices
from korch.search.certified import certified
from korch.search.error_limit import estimated_error
from korch.search.in_place import in_place
from korch.search.model import Facts, Search
from korch.search.steering import FIRST_SHARE, PROOF_SECONDS
from korch.search.tradeoffs import TradeOff, trade_offs
from korch.search.transfer import Sketch, sketch_of
from korch.search.tuning import Report, SearchState
from korch.solve.certificate import Certificate
from korch.system.deadline import Deadline
from korch.system.throttle import paced
from korch.targets import Target, target_of

log = logging.getLogger(__name__)

FEW = 3
"""Runs over which a program is timed whose kernels' times are known."""

Source = str | Path | bytes | onnx.ModelProto


@dataclass(frozen=True)
class Summary:
    """Figures of an optimisation: counts, milliseconds, relative gaps, seconds and bytes.

    How the problem grew: `primitives` of the model; the `choices`, producers that rewriting and layouts add to these,
    and the `tensors` that all of them can compute; the `cones` enumerated, the `candidates` among them that a backend
    takes, the `distinct` ones of these; `columns` and `rows` of the largest program solved, after pruning and with the
    rows that were added to its relaxation. And the seconds that adding choices, enumerating cones and solving took.
    What the search did may have been done by an earlier one, whose plan is recalled. `arithmetic_ms`: what the
    multiply-adds that a run executes take at this machine's peak.

    `error` is that of the output that is worst by its bound, `error_bound`, against float64 (see `Accuracy`); `passed`
    says whether it keeps to that, or, of a quantized model, each step is right `by_step`. `estimated_error`: of its
    loose primitives, before it was built. `looser`: the next looser numerics, empty where there are none or nothing is
    loose, and `looser_ms`, the predicted time of the cheapest plan that they allow among the same choices.

    `gap`, `gap_physical`: see `Plan`. `rejected_samples`: times below what physics allow, which were thrown away;
    `busy`: the share of samples during which other programs took a processor away.

    Where costs are a model's (`costs`), nothing is measured: `actual_ms` is None, and the error an emulation's.
    """

    primitives: int
    tensors: int
    choices: int
    cones: int
    candidates: int
    distinct: int
    columns: int
    rows: int
    kernels: int
    measured: int
    rounds: int
    predicted_ms: float
    actual_ms: float | None
    arithmetic_ms: float
    gap: float
    gap_physical: float
    saturation_s: float
    enumeration_s: float
    solver_s: float
    tuning_s: float
    peak_bytes: int
    error: float
    error_bound: float | None
    passed: bool
    by_step: bool
    dropped: tuple[str, ...]
    target: str
    device: str
    costs: str
    rejected_samples: int
    busy: float
    estimated_error: float
    looser: str
    looser_ms: float


def optimize(
    model: Source,
    *,
    threads: int = 0,
    time_budget: float | None = None,
    numerics: str = "default",
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    target: str = "cpu",
    costs: str = "measured",
    device: str = "",
    values: Mapping[str, Any] | None = None,
    report: Report | None = None,
) -> Executable:
    """The fastest program for `model` (path, bytes or ModelProto) that the search can prove or find in time.

    `target`, `costs`, `device`, `values`: see `Options`.
    """
    options = Options(threads, time_budget, numerics, dict(shapes or {}), target, costs, device, dict(values or {}))
    return optimized(model, options, report or (lambda state: None))[0]


def optimized(
    model: Source, options: Options, report: Report, folder: Path | None = None, sketch: Sketch = ()
) -> tuple[Executable, Summary, Sketch]:
    """`optimize`, with a summary of what was done and the sketch of the plan.

    `folder`: another cache folder than the user's. `sketch`: of a plan for the model with other shapes, whose kernels
    are taken over instead of a search, as far as they are found again.
    """
    start, begun = time.monotonic(), Deadline.after(0.0)
    target = target_of(options)
    options = target.options
    report(SearchState("reading"))
    prepared = read(model, options.shapes, options.values)
    plain = fission(prepared)
    saturating = time.monotonic()
    with paced():
        graph = target.choices(add_choices(plain, options.numerics != "strict", unproved=options.unproved))
    saturating = time.monotonic() - saturating
    patience = options.patience
    end = Deadline(begun.at + patience)
    feeds = random_feeds(plain)
    with Database(folder) as database, target.costs(database) as costs:
        recall = Recall.of(plain, options, costs.setting, database)
        judge = Judge(prepared, feeds, options.numerics, other_feeds(plain))
        search = Search(graph, target, costs, report, end, judge, sketch=sketch)
        known = _recalled(recall, search, patience)
        executable, facts = known or search.run()
        if not known:
            _keep(recall, target, executable, patience, facts)
        peak = target.peak(target.machine(costs))
        costs.rest()
        with costs.alone(end):
            actual = _timed(target, executable, feeds, bool(known))
        measured = costs.measured
    plan = executable.plan
    accuracy = plan.accuracy or Accuracy("", 0.0, 0.0)
    if known and not accuracy.passed:
        log.warning("%s: an earlier search found nothing that errs less", accuracy.text(options.numerics))
    executed = total(p for s in plan.steps for p in s.kernel.cone.primitives)
    summary = Summary(
        primitives=len(plain.primitives),
        tensors=len(graph.producers),
        choices=len(graph.primitives) - len(plain.primitives),
        cones=facts.cones,
        candidates=facts.candidates,
        distinct=facts.distinct,
        columns=facts.columns,
        rows=facts.rows,
        rounds=facts.rounds,
        kernels=len(plan.steps),
        measured=measured,
        predicted_ms=plan.predicted_seconds * 1e3,
        actual_ms=actual,
        arithmetic_ms=2e3 * executed / peak,
        gap=plan.gap,
        gap_physical=plan.gap_physical,
        saturation_s=saturating,
        enumeration_s=facts.enumeration_s,
        solver_s=facts.solver_s,
        tuning_s=time.monotonic() - start,
        peak_bytes=executable.peak_bytes,
        error=accuracy.error,
        error_bound=accuracy.allowed,
        passed=accuracy.passed,
        by_step=accuracy.by_step,
        dropped=accuracy.dropped,
        target=options.target,
        device=options.device,
        costs=options.costs,
        rejected_samples=facts.rejected_samples,
        busy=facts.busy,
        estimated_error=estimated_error(plan),
        looser=facts.looser,
        looser_ms=plan.predicted_seconds * 1e3 * (1 - facts.looser_gain),
    )
    return executable, summary, sketch_of(plan, graph)


def frontier(
    model: Source, options: Options, report: Report, folder: Path | None = None
) -> tuple[Executable, tuple[TradeOff, ...]]:
    """The fastest program of a search, and its plans of latency against error. Half of the time is for the first plan;
    nothing is recalled."""
    with _new_search(model, options, report, FIRST_SHARE, folder) as search:
        found = trade_offs(search, Deadline(search.end.at + (1 - FIRST_SHARE) * options.patience))
    return found


def certify(
    model: Source,
    options: Options,
    report: Report,
    seconds: float = PROOF_SECONDS,
    by_physics: bool = False,
    folder: Path | None = None,
) -> tuple[Executable, Certificate, dict[int, str]]:
    """The program of a search, a certificate of its plan that takes about `seconds` more, and the kernels of its
    candidates by id; nothing is recalled but measurements. See `certified`."""
    with _new_search(model, options, report, 1.0, folder) as search:
        found = certified(search, seconds, by_physics)
    return found


@contextmanager
def _new_search(
    model: Source, options: Options, report: Report, share: float, folder: Path | None
) -> Generator[Search]:
    """A search that recalls no plan, with a `share` of the time."""
    begun, target = Deadline.after(0.0), target_of(options)
    options = target.options
    report(SearchState("reading"))
    prepared = read(model, options.shapes, options.values)
    plain = fission(prepared)
    with paced():
        graph = target.choices(add_choices(plain, options.numerics != "strict", unproved=options.unproved))
    end = Deadline(begun.at + share * options.patience)
    judge = Judge(prepared, random_feeds(plain), options.numerics, other_feeds(plain))
    with Database(folder) as database, target.costs(database) as costs:
        yield Search(graph, target, costs, report, end, judge)
        costs.rest()


def _recalled(recall: Recall, search: Search, patience: float) -> tuple[Executable, Facts] | None:
    """The program of an earlier search; None where there is none, or where it is not the program that was found then.

    The verdict of that search holds for code of equal digest, as plan and machine are equal: such a program starts
    without the reference. Other code, such as that of a library that had to be compiled again, is judged again.
    """
    target, options = search.target, search.target.options
    known = recall.plan(search.graph, options, patience)
    if known is None:
        return None
    try:
        facts = Facts(**known.facts)
        executable = target.link(known.plan, search.costs, recall)
    except (Error, TypeError) as e:
        log.warning("the program of an earlier search cannot be opened (%s): the search starts anew", words_of(e))
        return None
    if target.timed and program_digest(executable.linked) != known.program:
        verdict, before = search.judged(executable), known.plan.accuracy
        if before and before.passed and not verdict.passed:
            log.warning("the program of an earlier search has other code, and errs: the search starts anew")
            executable.close()
            return None
        dropped = before.dropped if before else ()
        executable.plan = replace(known.plan, accuracy=Accuracy(**asdict(verdict), dropped=dropped))
        _keep(recall, target, executable, patience, facts)
    return executable, facts


def _keep(recall: Recall, target: Target, executable: Executable, patience: float, facts: Facts) -> None:
    """Remembers the program, which was judged."""
    with _not_lost():
        program = program_digest(executable.linked) if target.timed else ""  # a plan of a model's costs is no program
        recall.keep(executable.plan, patience, asdict(facts), program)
        target.keep(executable, recall)
        trim(recall.database)


@contextmanager
def _not_lost() -> Generator[None]:
    """A program that cannot be remembered is a program all the same."""
    try:
        yield
    except (CacheError, ArchiveError) as e:
        log.warning("the program is not remembered: %s", e)


def _timed(target: Target, executable: Executable, feeds: Mapping[str, Array], known: bool) -> float | None:
    """Milliseconds of a run, carefully where the program's kernels were not timed before; None where it cannot run."""
    if not target.timed:
        return None
    predicted = executable.plan.predicted_seconds
    profile = executable.profile(feeds, FEW) if known else in_place(executable, feeds, predicted)
    return profile.total * 1e3
