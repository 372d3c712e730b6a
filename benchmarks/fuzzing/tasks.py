"""Tasks for processes that a kernel may end, and their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fuzzing.models import Case, random_case
from fuzzing.runs import Manner, Outcome, outcomes
from fuzzing.verdict import Finding
from korch.profile.process import WorkerProcess
from korch.profile.results import Failed
from korch.system.processes import plain_environment

PATIENCE = 1200.0
"""Seconds for a task."""


@dataclass(frozen=True)
class Task:
    """Cases, or the seeds of random ones, and how their programs are made."""

    seeds: Sequence[int]
    manner: Manner
    cases: Sequence[Case] = ()


@dataclass(frozen=True)
class Answer:
    """The outcomes, and by seed the templates that wrote its case."""

    outcomes: Sequence[Outcome]
    operators: Mapping[int, Mapping[str, int]]


def answer(task: Task) -> Answer:
    """Runs the task in this process."""
    cases = [*map(random_case, task.seeds), *task.cases]
    return Answer(outcomes(cases, task.manner), {c.seed: dict(c.operators) for c in cases})


def worker() -> WorkerProcess:
    """A process that answers tasks. Several share the machine, so their threads do not wait actively."""
    environment = plain_environment(OMP_WAIT_POLICY="passive", OPENBLAS_NUM_THREADS="1")
    return WorkerProcess("fuzzing.worker", [], PATIENCE, environment)


def asked(process: WorkerProcess, task: Task) -> Answer:
    """The answer to the task; where the process crashed or hung, each case is asked for alone."""
    found = process.ask(task)
    if not isinstance(found, Failed):
        return found
    parts = [Task([s], task.manner) for s in task.seeds] + [Task([], task.manner, [c]) for c in task.cases]
    if len(parts) > 1:
        answers = [asked(process, part) for part in parts]
        operators = {s: o for a in answers for s, o in a.operators.items()}
        return Answer([o for a in answers for o in a.outcomes], operators)
    seed = [*task.seeds, *(c.seed for c in task.cases)][0]
    return Answer([Outcome(seed, Finding("crash", found.reason))], {seed: {}})
