"""Random models by random plans: does any choice give the same answer? Exit status 1 where one does not.

    python benchmarks/fuzz.py [--models 10000] [--seed 0] [-o results.json] [--jobs 2] [--faults DIR]

Each model is imported, taken apart, rewritten and enumerated. Random costs force a plan among all candidates, and each
cone has a random one of its kernels. The program runs, and is compared with float64, with onnxruntime and, in a quarter
of the runs, step by step. A model whose program is wrong is shrunk and written as ONNX text. Seeds that `results.json`
has are not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from fuzzing.models import Case, random_case
from fuzzing.runs import Manner, Outcome
from fuzzing.shrink import shrunk
from fuzzing.tasks import Answer, Task, asked, worker
from fuzzing.texts import text_of
from fuzzing.verdict import WRONG
from workers import Workers

BATCH = 25
"""Models of one program: a compiler starts once for all of them."""
AGAIN = 6
"""Plans of a smaller case that are tried."""
MANNERS = (Manner(), Manner(stepwise=True), Manner(threads=2), Manner(level="3"))
"""By turns: fast ones, each step compared, a team of threads, and as users compile."""


@dataclass
class Results:
    """Facts of each seed, in a file that is written after each batch."""

    file: Path | None
    known: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    def __post_init__(self) -> None:
        if self.file and self.file.exists():
            self.known = json.loads(self.file.read_text())

    def add(self, answer: Answer) -> None:
        for o in answer.outcomes:
            facts = {"kind": o.finding.kind, "reason": o.finding.reason, "kernels": dict(o.kernels)}
            facts |= {"choices": o.choices, "segments": o.segments, "operators": dict(answer.operators[o.seed])}
            self.known[str(o.seed)] = facts

    def save(self) -> None:
        if self.file:
            made = self.file.with_suffix(".part")
            made.write_text(json.dumps(self.known))
            os.replace(made, self.file)


def manner_of(seed: int) -> Manner:
    """By the first seed of a batch."""
    return MANNERS[seed // BATCH % len(MANNERS)]


def batches(seeds: Sequence[int]) -> Iterator[list[int]]:
    """Seeds that are run together."""
    for first in range(seeds[0] // BATCH * BATCH, seeds[-1] + 1, BATCH) if seeds else ():
        if some := [s for s in seeds if first <= s < first + BATCH]:
            yield some


def run(seeds: Sequence[int], results: Results, jobs: int, faults: Path | None = None) -> list[Outcome]:
    """Runs the seeds; the outcomes that are wrong."""
    wrong, bar = list[Outcome](), Progress(console=Console(stderr=True))
    with Workers(jobs, worker) as workers, bar:
        shown = bar.add_task("models", total=len(seeds))
        tasks = [Task(some, manner_of(some[0])) for some in batches(seeds)]
        waiting = {workers.submit(lambda p, task=task: asked(p, task)): task for task in tasks}
        for future in as_completed(waiting):
            found, task = future.result(), waiting.pop(future)
            results.add(found)
            results.save()
            bar.advance(shown, len(task.seeds))
            for outcome in (o for o in found.outcomes if o.finding.wrong):
                wrong.append(outcome)
                print(f"WRONG {outcome.seed} ({outcome.finding.kind}): {outcome.finding.reason}", flush=True)
                if faults:
                    write(workers, outcome, task.manner, faults)
    return wrong


def write(workers: Workers, outcome: Outcome, manner: Manner, folder: Path) -> Path:
    """The case as text in `folder`, as small as a few tries make it."""
    case = random_case(outcome.seed)

    def kind(case: Case, manner: Manner) -> str:
        found = workers.run(lambda p: asked(p, Task([], manner, [case]))).outcomes
        return next((o.finding.kind for o in found if o.finding.wrong), "")

    several = replace(manner, plans=AGAIN)
    if kind(case, manner):
        case = shrunk(case, lambda smaller: kind(smaller, several) == outcome.finding.kind)
        manner = several
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{outcome.seed}.txt"
    file.write_text(text_of(case, manner, f"{outcome.finding.kind}: {outcome.finding.reason}"))
    return file


def table(known: Mapping[str, Mapping[str, Any]]) -> str:
    """Counts: verdicts, kernels by backend, operators."""
    kinds = Counter(str(facts["kind"]) or "right" for facts in known.values())
    kernels, operators = Counter[str](), Counter[str]()
    for facts in known.values():
        kernels.update(facts["kernels"])
        operators.update(facts["operators"].keys())
    choices = sum(facts["choices"] for facts in known.values())
    segments = sum(bool(facts["segments"]) for facts in known.values())
    return "\n".join(
        (
            f"{len(known)} models: " + ", ".join(f"{n} {kind}" for kind, n in kinds.most_common()),
            f"{kernels.total()} kernels: " + ", ".join(f"{n} {name}" for name, n in kernels.most_common()),
            f"{choices} primitives that a rewrite made; {segments} models in segments",
            f"{len(operators)} templates: " + ", ".join(f"{name} {n}" for name, n in sorted(operators.items())),
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first model; each has the next one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--faults", type=Path, help="a folder for the text of cases that are wrong")
    parser.add_argument("-o", "--output", type=Path)
    asked_for = parser.parse_args()
    results = Results(asked_for.output)
    seeds = range(asked_for.seed, asked_for.seed + asked_for.models)
    faults = asked_for.faults or (asked_for.output.with_suffix(".faults") if asked_for.output else None)
    run([s for s in seeds if str(s) not in results.known], results, asked_for.jobs, faults)
    known = {str(s): results.known[str(s)] for s in seeds}
    print(table(known))
    wrong = {s: facts for s, facts in known.items() if facts["kind"] in WRONG}
    for s, facts in wrong.items():
        print(f"WRONG {s} ({facts['kind']}): {facts['reason']}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
