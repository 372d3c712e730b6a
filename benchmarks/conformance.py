"""Fails where Korch does not pass a case of onnx's own suite that onnxruntime passes.

    python benchmarks/conformance.py [--only PATTERN] [--every 1] [--jobs 2] [-o results.json]

Each node case of the installed onnx runs by onnxruntime, by a session before it has a program, and by the program.
The table says how many ran as a program without onnxruntime, as one with steps of onnxruntime, and by onnxruntime
alone, and why. Cases that may fail stand in `conformance_exceptions.json`, each with its reason: there may only be
fewer.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import onnxruntime
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase
from onnx.backend.test.runner import Runner
from rich.console import Console
from rich.progress import Progress

EXCEPTIONS = Path(__file__).with_name("conformance_exceptions.json")
SECONDS = 120.0
"""For one case."""
PROGRAM, MIXED, BASE = "program", "program with onnxruntime", "onnxruntime"


def cases() -> list[TestCase]:
    """The node cases, in an order that does not change."""
    return sorted((c for c in collect_testcases(None) if c.model is not None), key=lambda c: c.name)


def passed(case: TestCase, run: Callable[[list[Any]], Any]) -> str:
    """Empty where all outputs are right, else what is wrong."""
    try:
        for inputs, outputs in case.data_sets:
            found = list(run(list(inputs)))
            Runner.assert_similar_outputs(list(outputs), found, case.rtol, case.atol)
    except Exception as e:
        return " ".join(f"{type(e).__name__}: {e}".split())[:160]
    return ""


def examined(case: TestCase) -> dict[str, Any]:
    """The results of one case."""
    import korch
    from korch.integrations.onnx_backend import KorchBackendRep

    model = case.model.SerializeToString()
    try:
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        theirs = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        names = [a.name for a in theirs.get_inputs()]
        peer = passed(case, lambda xs: theirs.run(None, {n: x for n, x in zip(names, xs) if x is not None}))
    except Exception as e:
        peer = " ".join(f"{type(e).__name__}: {e}".split())[:160]
    if peer:
        return {"name": case.name, "onnxruntime": peer}
    session = korch.InferenceSession(model, options, tune="now", threads=1, time_budget=0.5)
    rep = KorchBackendRep(session)
    first, second = passed(case, rep.run), passed(case, rep.run)
    status = session.status()
    ready = [s for s in session.programs._known.values() if s.program]
    ran = (MIXED if any(asks_onnxruntime(s.program) for s in ready) else PROGRAM) if ready else BASE
    why = status.reason or next((s.reason for s in status.specialisations if s.reason), "")
    return {"name": case.name, "onnxruntime": "", "first": first, "second": second, "ran": ran, "why": why}


def asks_onnxruntime(program: Any) -> bool:
    """Whether the program has steps or segments that onnxruntime runs."""
    from korch.executable.control import Control
    from korch.executable.segmented import Segmented

    if not isinstance(program, Segmented):
        return any(step.kernel.host for step in program.plan.steps)
    parts = [inner for part in program.parts for inner in part.parts()]
    left = any(p.host or p.reason or not (p.programs or isinstance(p, Control)) for p in parts)
    return left or any(asks_onnxruntime(inner) for p in parts for inner in p.programs.values())


def serve() -> None:
    """Examines the cases whose names come on stdin."""
    from korch.session import making

    making.raced = lambda *_: (1.0, 2.0)  # kernels of microseconds lose against a call: here it matters what is right
    known = {c.name: c for c in cases()}
    for line in sys.stdin:
        print(json.dumps(examined(known[line.strip()])), flush=True)


class Examiner:
    """A process that examines cases, and starts again after one that it does not survive."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def ask(self, name: str) -> dict[str, Any]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, __file__, "--serve"],
                stdin=subprocess.PIPE,
                text=True,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        assert self._process.stdin and self._process.stdout
        with ThreadPoolExecutor(1) as pool:
            self._process.stdin.write(f"{name}\n")
            self._process.stdin.flush()
            line = pool.submit(self._process.stdout.readline)
            try:
                return json.loads(line.result(SECONDS))
            except (TimeoutError, ValueError) as e:
                self._process.kill()
                lost = f"no answer: {type(e).__name__}"
                return {"name": name, "onnxruntime": "", "first": lost, "second": "", "ran": BASE, "why": ""}


def all_examined(names: list[str], jobs: int) -> Iterator[dict[str, Any]]:
    with ThreadPoolExecutor(jobs) as pool, Progress(console=Console(stderr=True)) as bar:
        shares, shown = [names[i::jobs] for i in range(jobs)], bar.add_task("cases", total=len(names))

        def work(share: list[str]) -> list[dict[str, Any]]:
            examiner, found = Examiner(), list[dict[str, Any]]()
            for name in share:
                found.append(examiner.ask(name))
                bar.advance(shown)
            return found

        for found in pool.map(work, shares):
            yield from found


def table(results: list[dict[str, Any]]) -> str:
    """Counts, and the reasons why onnxruntime ran cases."""
    judged = [r for r in results if not r["onnxruntime"]]
    right = [r for r in judged if not r["first"] and not r["second"]]
    ran = Counter(r["ran"] for r in right)
    head = ("cases", "passed by onnxruntime", "by Korch", "as a program", "with steps of onnxruntime", "by onnxruntime")
    counts = (len(results), len(judged), len(right), ran[PROGRAM], ran[MIXED], ran[BASE])
    lines = [f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), counts)] + [""]
    reasons = Counter(re.sub(r"'[^']*'|\[.*?\]|\d+", "…", r["why"])[:90] for r in right if r["ran"] == BASE)
    return "\n".join([*lines, *(f"- {n} by onnxruntime: {why or 'not said'}" for why, n in reasons.most_common(12))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="a regular expression of names")
    parser.add_argument("--every", type=int, default=1, help="of so many cases one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    if arguments.serve:
        return serve()
    names = [c.name for c in cases() if re.search(arguments.only, c.name)][:: arguments.every]
    results = sorted(all_examined(names, arguments.jobs), key=lambda r: r["name"])
    if arguments.output:
        arguments.output.write_text(json.dumps(results, indent=1))
    print(table(results))
    excused = json.loads(EXCEPTIONS.read_text())
    wrong = [r for r in results if not r["onnxruntime"] and (r["first"] or r["second"]) and r["name"] not in excused]
    for r in wrong:
        print(f"WRONG {r['name']}: {r['first'] or r['second']}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
