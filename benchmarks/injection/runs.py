"""Runs scenarios in forks of this process, which has imported Korch once, and judges how each of them ended."""

from __future__ import annotations

import ctypes
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from .hook import ERRORS, FIRED, LASTING, PLAN, Plan, arm
from .scenarios import SCENARIOS, Scenario, copied, known_machine, write_model

LONGEST, SETTLING, GUARDING = 180.0, 3.0, 20.0
"""Seconds that a run may take; within which its processes end after it; and within which the guardian does."""
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_OTHERS = {".ses"}
"""Files that other packages leave."""
_COMPLAINTS = ("Traceback (most recent call last)", "Exception ignored", "Fatal Python error")


@dataclass(frozen=True)
class Fault:
    """One call that fails in one scenario; see `Plan`."""

    scenario: str
    site: str
    number: int
    error: int
    lasting: bool

    def __str__(self) -> str:
        lasting = " and all later ones" if self.lasting else ""
        return f"{self.scenario}: call {self.number}{lasting} of {self.site}: {os.strerror(self.error)}"


@dataclass
class Ended:
    """How a fault's run ended. `outcome`: `ok`, or the line of an error of Korch. `losses`: what it broke."""

    fault: Fault
    fired: bool = False
    outcome: str = ""
    losses: list[str] = field(default_factory=list)


@dataclass
class _Run:
    folder: Path
    pid: int
    deadline: float
    plan: Plan


class Runs:
    """Forks of this process, each with a folder of its own in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
        self._number = 0
        self._living = set[int]()
        self._known: dict[str, Path] = {}

    def calls(self, name: str) -> Counter[str]:
        """How many calls could fail at each site of a scenario's run, which must be whole."""
        run = self._start(SCENARIOS[name])
        result = self._awaited(run)
        if losses := self._losses(run, result) + self._next(SCENARIOS[name], run):
            raise SystemExit(f"{name} fails without a fault: {'; '.join(losses)}")
        _imported(result["modules"])
        sites = Counter(Path(run.plan.log).read_text().splitlines())
        shutil.rmtree(run.folder, ignore_errors=True)
        return sites

    def all(self, faults: Sequence[Fault], jobs: int) -> Iterator[Ended]:
        """How each ended, `jobs` of them at a time."""
        waiting, running = list(reversed(faults)), dict[int, tuple[Fault, _Run]]()
        while waiting or running:
            while waiting and len(running) < jobs:
                fault = waiting.pop()
                run = self._start(SCENARIOS[fault.scenario], fault)
                running[run.pid] = fault, run
            for pid, (fault, run) in list(running.items()):
                if (result := self._result(run)) is not None:
                    del running[pid]
                    yield self._judged(fault, run, result)
            time.sleep(0.01)

    def guardians(self) -> str:
        """A complaint about processes that are left at the end; empty where there are none."""
        end = time.monotonic() + GUARDING
        while (left := _processes(self.folder, guardians=True)) and time.monotonic() < end:
            time.sleep(0.1)
        return f"{len(left)} guardians stay" if left else ""

    def _judged(self, fault: Fault, run: _Run, result: dict[str, Any]) -> Ended:
        log = Path(run.plan.log)
        fired = any(line.startswith(FIRED) for line in log.read_text().splitlines()) if log.exists() else False
        ended = Ended(fault, fired, result["outcome"], self._losses(run, result))
        ended.losses += self._next(SCENARIOS[fault.scenario], run)
        if not ended.losses:
            shutil.rmtree(run.folder, ignore_errors=True)
        return ended

    def _next(self, scenario: Scenario, before: _Run) -> list[str]:
        """Faults of the next run over the same files."""
        run = self._start(scenario, folder=before.folder, undisturbed=True)
        result = self._awaited(run)
        losses = self._losses(run, result)
        if result["outcome"] != "ok":
            losses.append(result["outcome"])
        return [f"the next run: {loss}" for loss in losses]

    def _losses(self, run: _Run, result: dict[str, Any]) -> list[str]:
        losses = [result["loss"]] if result["loss"] else []
        losses += [f"{name} stays open" for name in result["descriptors"]]
        end = time.monotonic() + SETTLING
        while (left := _processes(run.folder)) and time.monotonic() < end:
            time.sleep(0.05)
        losses += [f"process {left[pid]} stays" for pid in left]
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        text = (run.folder / "stderr").read_text(errors="replace")
        losses += [text[text.index(c) :][:2000] for c in _COMPLAINTS if c in text][:1]
        root = run.folder / "root"
        while (names := _folders(root)) and time.monotonic() < end + GUARDING:  # of a worker that was killed at the end
            time.sleep(0.05)
        losses += [f"{name} stays in TMPDIR" for name in names]
        losses += [
            f"{p.relative_to(root)} is half a file"
            for part in ("cache", "out")
            for p in (root / part).rglob(".*")
            if p.is_file()
        ]
        return losses

    def _template(self, scenario: Scenario) -> Path:
        """The files that runs of a scenario start from."""
        name = scenario.prepare.__name__
        if name not in self._known:
            template = self.folder / f"template-{name}"
            for part in ("tmp", "out"):
                (template / part).mkdir(parents=True)
            write_model(template)
            run = self._fork(scenario.prepare, template.parent / f"of-{name}", None, root=template)
            if (result := self._awaited(run))["outcome"] != "ok":
                raise SystemExit(f"{name} fails without a fault: {result}")
            _imported(result["modules"])
            self._known[name] = template
        return self._known[name]

    def _start(
        self, scenario: Scenario, fault: Fault | None = None, folder: Path | None = None, undisturbed: bool = False
    ) -> _Run:
        template = self._template(scenario)
        if folder is None:
            self._number += 1
            folder = self.folder / f"run-{self._number}"
            folder.mkdir()
            copied(template, folder / "root")
        plan = Plan(str(folder / "root"), str(folder / "calls.log"), role=scenario.role)
        if fault:
            plan = replace(plan, site=fault.site, number=fault.number, error=fault.error, lasting=fault.lasting)
        work = scenario.run
        if undisturbed:

            def work(root: Path) -> None:
                scenario.run(root)
                if wrong := scenario.whole(root):
                    raise AssertionError(wrong)

        return self._fork(work, folder, None if undisturbed else plan)

    def _fork(self, work: Callable[[Path], None], folder: Path, plan: Plan | None, root: Path | None = None) -> _Run:
        folder.mkdir(exist_ok=True)
        (folder / "result").unlink(missing_ok=True)
        sys.stdout.flush()
        pid = os.fork()
        if not pid:
            _child(work, folder, root or folder / "root", plan, self.folder)
        self._living.add(pid)
        unplanned = Plan(str(folder / "root"), str(folder / "calls.log"))
        return _Run(folder, pid, time.monotonic() + LONGEST, plan or unplanned)

    def _awaited(self, run: _Run) -> dict[str, Any]:
        while (result := self._result(run)) is None:
            time.sleep(0.01)
        return result

    def _result(self, run: _Run) -> dict[str, Any] | None:
        """The last words of the run's process; None while it runs."""
        pid, status = os.waitpid(run.pid, os.WNOHANG)
        if not pid and time.monotonic() < run.deadline:
            return None
        lost = {"outcome": "", "descriptors": []}
        if not pid:
            os.kill(run.pid, signal.SIGABRT)  # faulthandler says where it is
            os.waitpid(run.pid, 0)
            self._living.discard(run.pid)
            said = (run.folder / "stderr").read_text(errors="replace")[-3000:]
            return lost | {"loss": f"did not end within {LONGEST:g} s: {said}"}
        self._living.discard(run.pid)
        _reap(self._living)
        if not (run.folder / "result").exists():
            return lost | {"loss": f"ended with status {status} and said nothing"}
        return lost | json.loads((run.folder / "result").read_text())


def faults_of(name: str, sites: Counter[str], all_calls: bool = True) -> list[Fault]:
    """The faults of a scenario: each call with each of its errors, once and lasting; else the first call of each site,
    once with one error."""
    found = list[Fault]()
    for site, count in sorted(sites.items()):
        errors = ERRORS[site.partition(" ")[0]]
        for number in range(1, count + 1) if all_calls else (1,):
            for error in errors if all_calls else errors[:1]:
                found += [Fault(name, site, number, error, lasting) for lasting in _lasting(error, all_calls)]
    return found


def _lasting(error: int, all_calls: bool) -> tuple[bool, ...]:
    return (False, True) if all_calls and error in LASTING else (False,)


def _imported(modules: Sequence[str]) -> None:
    """Imports modules here, and looks for a compiler, so that forks need not."""
    for module in modules:
        with suppress(Exception):
            import_module(module)
    if toolchain := sys.modules.get("korch.backends.toolchain"):
        toolchain.find_toolchain()


def _child(work: Callable[[Path], None], folder: Path, root: Path, plan: Plan | None, base: Path) -> None:
    """Does the work and ends this process as an interpreter ends."""
    import faulthandler

    os.setsid()
    output = os.open(folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    faulthandler.enable()
    os.environ |= {"TMPDIR": str(root / "tmp"), "KORCH_CACHE_DIR": str(root / "cache")}
    tempfile.tempdir = None
    known_machine(base)
    import atexit

    if plan and plan.role:
        os.environ[PLAN] = plan.to_json()
    disarm = arm(plan) if plan and not plan.role else None
    result = _outcome(work, root)
    gc.collect()
    if disarm:
        disarm()
    result["descriptors"] = _open_files(root)
    result["modules"] = sorted(n for n in sys.modules if n.partition(".")[0] in ("korch", "onnx", "onnxruntime"))
    (folder / "result").write_text(json.dumps(result))
    threading._shutdown()
    atexit._run_exitfuncs()
    os._exit(0)


def _open_files(root: Path) -> list[str]:
    """The files below `root` that this process has open, without locks of folders and files that have no name."""
    found = list[str]()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            name = os.readlink(descriptor)
            if name.startswith(f"{root}/") and ".korch-owner" not in name and not name.endswith("(deleted)"):
                found.append(name.removeprefix(f"{root}/"))
    return found


def _outcome(work: Callable[[Path], None], root: Path) -> dict[str, Any]:
    import traceback

    from korch.errors import Error

    try:
        work(root)
        return {"outcome": "ok", "loss": ""}
    except Error as e:
        text = str(e)
        return {"outcome": text, "loss": "" if text and "\n" not in text else f"an error of several lines: {text}"}
    except BaseException as e:
        return {"outcome": "", "loss": "".join(traceback.format_exception(e))[-3000:]}


def _folders(root: Path) -> list[str]:
    """The files that are left among the temporary ones, but locks."""
    return [p.name for p in (root / "tmp").iterdir() if p.suffix != ".lock" and p.name not in _OTHERS]


def _processes(folder: Path, guardians: bool = False) -> dict[int, str]:
    """The commands of processes that were started for runs in `folder`, by number."""
    found = dict[int, str]()
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if f"{folder}/".encode() in (place / "environ").read_bytes():
                command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if command and ("guardian.py" in command) <= guardians:
                    found[int(place.name)] = command[:200]
    return found


def _reap(running: Collection[int]) -> None:
    """Takes leave of orphans that have ended; `running` are waited for by their numbers."""
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, IndexError):
            state, parent = (place / "stat").read_text().rpartition(")")[2].split()[:2]
            if state == "Z" and int(parent) == os.getpid() and int(place.name) not in running:
                os.waitpid(int(place.name), os.WNOHANG)
