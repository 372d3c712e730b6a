"""One specialisation: searched, judged against onnxruntime in accuracy and speed, and kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from korch.errors import CacheError, Error, ModelError, NeedsSegments, UnreadableModel, line_of
from korch.options import Options
from korch.session.archives import Outcome, ProgramFiles, archives_folder
from korch.session.race import race
from korch.system.locks import locked
from korch.system.sessions import SILENT, dtype_of, inference_session, session_options

if TYPE_CHECKING:
    from korch.executable import Executable
    from korch.search.transfer import Sketch

LONGEST, BESIDES = 2.0, 120.0
"""How many times its budget another process may take for the same program, and how many seconds besides."""
BETTER = 1.02
"""A program of a longer search replaces the one before unless it takes longer by more than that: times that are taken
one after the other differ by a hundredth or two."""
MAX_SLOWDOWN = 3.0
"""How many times as long as onnxruntime a program may take here to be tried where it would be used."""

Feeds = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Request:
    """A specialisation to be made: of the model in the file `model` with that digest, for the shapes in `options`, kept
    in the cache folder `folder`. `session`: settings of onnxruntime's session beside which it is judged. `near`: the
    archive for other shapes whose plan is taken over, instead of a search; empty for none."""

    model: str
    digest: str
    options: Options
    folder: str
    session: Mapping[str, Any]
    near: str = ""

    @property
    def place(self) -> ProgramFiles:
        return ProgramFiles.of(self.digest, self.options, Path(self.folder))

    def within(self, budget: float) -> Request:
        """With another time budget, in seconds."""
        return replace(self, options=replace(self.options, time_budget=budget))


def make(request: Request) -> Outcome:
    """Makes the program and keeps it where it is right and not too slow; of several processes that want
    it, one makes it.

    Raises nothing that the search may raise: the outcome says why there is no program.
    """
    budget, place = request.options.patience, request.place
    try:
        archives_folder(Path(request.folder))
    except (CacheError, OSError) as e:
        return Outcome(budget, reason=line_of(e))
    with locked(place.lock, patience=LONGEST * budget + BESIDES):
        if (known := place.outcome()) and known.suffices(budget):
            return known
        return _made(request, known, place)


def _made(request: Request, known: Outcome | None, place: ProgramFiles) -> Outcome:
    from korch.fission.importer import structural_inputs
    from korch.fission.importer.load import load
    from korch.profile.database import Database
    from korch.profile.retention import trim

    budget = request.options.patience
    try:
        if needs := tuple(set(structural_inputs(load(request.model))) - set(request.options.values)):
            place.keep(lacking := Outcome(budget, reason=f"the value of {', '.join(needs)} is needed", needs=needs))
            return lacking
        near = ProgramFiles(Path(request.near)).sketch() if request.near else ()
        executable, sketch = _program(request, near)
        with executable:
            outcome = judged(executable, budget, lambda: base_session(request), request.options.values)
            if known and known.usable and not outcome.share <= BETTER * known.share:
                outcome = replace(known, budget=budget)  # and its program stays
                place.keep(outcome)
            else:
                place.keep(outcome, executable if outcome.usable else None, sketch)
        with suppress(CacheError), Database(Path(request.folder)) as database:  # the program is kept all the same
            trim(database)
        return outcome
    except UnreadableModel as e:
        return Outcome(budget, reason=line_of(e))
    except ModelError as e:
        place.keep(failed := Outcome(budget, reason=line_of(e)))
        return failed
    except (Error, OSError, MemoryError) as e:  # a full disk, no compiler: another day it may work
        return Outcome(budget, reason=line_of(e))


def _program(request: Request, near: Sketch) -> tuple[Executable, Sketch]:
    """One program, or one in segments where the model is no static program."""
    from korch.optimize import optimized
    from korch.session.segmenting import segmented

    def quiet(state: object) -> None:
        pass

    try:
        executable, _, sketch = optimized(request.model, request.options, quiet, Path(request.folder), near)
        return executable, sketch
    except NeedsSegments:
        return segmented(request.model, request.options, quiet, Path(request.folder), near)


def judged(
    executable: Executable, budget: float, beside: Callable[[], Any], values: Mapping[str, Any] | None = None
) -> Outcome:
    """Whether the program keeps to its numerics and is not much slower than onnxruntime, which is given `values` that
    are constants in the program."""
    from korch.executable.feeds import port_feeds, random_feeds
    from korch.executable.segmented import Segmented

    segmented = isinstance(executable, Segmented)
    accuracy = None if segmented else executable.plan.accuracy
    if accuracy and not accuracy.passed:
        return Outcome(budget, reason=accuracy.text(executable.plan.numerics))
    feeds = port_feeds(executable.inputs) if segmented else random_feeds(executable.plan.graph)
    program_ms, base_ms = raced(executable, beside(), feeds, values or {})
    too_slow = 0 < MAX_SLOWDOWN * base_ms < program_ms
    slower = f"onnxruntime takes {base_ms:.3f} ms, the program {program_ms:.3f} ms" if too_slow else ""
    varies = segmented or any(step.kernel.host is not None for step in executable.plan.steps)
    return Outcome(budget, base_ms, program_ms, slower, varies=varies)


def raced(executable: Executable, session: Any, feeds: Feeds, values: Mapping[str, Any]) -> tuple[float, float]:
    """Milliseconds of a run by the program and by onnxruntime, in alternating blocks; 0 for onnxruntime where it
    refuses random inputs."""
    runs: list[Callable[[], Any]] = [lambda: executable.run(feeds)]
    with suppress(Exception):  # whatever it raises, there is nothing to compare with
        arrays = {
            a.name: np.asarray(values[a.name], dtype_of(a.type)) for a in session.get_inputs() if a.name in values
        }
        session.run(None, {**feeds, **arrays})
        runs.append(lambda: session.run(None, {**feeds, **arrays}))
    program, *base = race(runs)
    return program, base[0] if base else 0.0


def base_session(request: Request) -> Any:
    """A session of onnxruntime for the model, with the request's settings."""
    options = session_options(0, SILENT)
    for name, value in request.session.items():
        setattr(options, name, value)
    return inference_session()(request.model, options, providers=["CPUExecutionProvider"])
