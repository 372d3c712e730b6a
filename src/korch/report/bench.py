"""Korch beside other runtimes on one model, compared so that none disturbs another.

Every runtime has a process of its own; blocks of runs alternate between them, with a rest between blocks, as
threads of some runtimes go on spinning after a run. First of all the outputs are compared: who computes something else
does not race.
"""

from __future__ import annotations

import contextlib
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from korch.errors import Error, ModelError
from korch.executable.feeds import count_of
from korch.fission import fission
from korch.fission.importer import read
from korch.fission.importer.inputs import fix_shapes
from korch.fission.importer.load import load, tensors_of, with_data
from korch.report.peers import FLOAT32, Subject, known_peers
from korch.report.runtime_process import RuntimeFailed, RuntimeProcess, module_command
from korch.system.processes import work_folder
from korch.system.threads import ThreadPool

BLOCK_SECONDS, REST_SECONDS = 0.3, 0.05
LOAD_LIMIT, RUN_LIMIT = 900.0, 300.0
OURS, REFERENCE, MACHINE = "korch", "reference", "machine"
BOUND, COARSE_BOUND = 1e-2, 0.25
"""Errors of floats beyond which a runtime computes something else; the second for models and runtimes that round
coarsely."""
_TYPES = onnx.TensorProto.DataType
COARSE = {_TYPES.Value(name) for name in ("FLOAT16", "BFLOAT16", "INT8", "UINT8", "INT4", "UINT4")}
"""The elements of weights, inputs or outputs that tell such models."""

Progress = Callable[[str], None]
Commands = Mapping[str, Sequence[str]]


@dataclass
class Contest:
    """The runtimes in the race so far, their precisions and the errors of their outputs, and why others are not in
    it."""

    subject: Subject
    threads: int
    say: Progress
    folder: Path
    racing: dict[str, RuntimeProcess] = field(default_factory=dict[str, RuntimeProcess])
    errors: dict[str, float] = field(default_factory=dict[str, float])
    precisions: dict[str, str] = field(default_factory=dict[str, str])
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    bound: float = BOUND
    load_limit: float = LOAD_LIMIT

    def leave(self, process: RuntimeProcess, why: RuntimeFailed) -> None:
        """Takes a runtime out of the race and ends it, so that it disturbs no other; raises if it is korch itself."""
        name = process.name
        if name == OURS:
            raise why
        process.close(patience=0)
        self.racing.pop(name, None)
        self.errors.pop(name, None)
        self.precisions.pop(name, None)
        self.skipped[name] = str(why).removeprefix(f"{name}: ")
        self.say(f"{name} is left out: {self.skipped[name]}")


def compare(
    model_path: Path | str,
    *,
    korch_path: Path | str | None,
    against: tuple[str, ...],
    threads: int,
    rounds: int,
    torch_models: Path | str | None = None,
    progress: Progress | None = None,
    python: str = sys.executable,
) -> dict[str, Any]:
    """Medians and minima in milliseconds of korch and the runtimes named in `against`.

    `korch_path` None leaves korch out. `torch_models` is the folder with torch definitions (see `Subject`),
    `python` the interpreter for the runtimes other than korch. Keys of the result: model, threads, rounds,
    runtimes {name: {median_ms, min_ms}}, best_peer, speedup_vs_best_peer: of those that compute in float32;
    fastest_peer, speedup_vs_fastest_peer: of all; precisions {name: in what it computes}, errors {name: see
    `relative_error`, against onnxruntime without optimisations}, skipped {name: why}, peak_gflops: the median rate of
    multiply-adds alone in blocks between theirs, None where that cannot be had. A runtime that is missing, fails or has
    wrong outputs is skipped; korch raises RuntimeFailed then.
    """
    check_named(against)
    model = load(model_path)
    outputs = tuple(output.name for output in model.graph.output)
    subject = Subject(Path(model_path), outputs, _path(korch_path), _path(torch_models))
    names = ([] if korch_path is None else [OURS]) + [name for name in against if name != OURS]
    interpreters = {name: sys.executable if name in (OURS, REFERENCE) else python for name in [*names, REFERENCE]}
    commands = {name: module_command(used, "korch.report.serving", name) for name, used in interpreters.items()}
    pace = module_command(sys.executable, "korch.report.pace")
    return race(
        commands,
        subject,
        feeds_of(subject.onnx),
        threads=threads,
        rounds=rounds,
        say=progress,
        pace=pace,
    )


def check_named(runtimes: Sequence[str]) -> None:
    """Error where one of these is no runtime that is known here."""
    known = known_peers()
    if unknown := [name for name in runtimes if name not in known]:
        raise Error(f"no runtime is named {', '.join(unknown)}; there are {', '.join(sorted(known))}")


def _path(given: Path | str | None) -> Path | None:
    return None if given is None else Path(given)


def race(
    commands: Commands,
    subject: Subject,
    feeds: Mapping[str, np.ndarray],
    *,
    threads: int,
    rounds: int,
    say: Progress | None = None,
    pace: Sequence[str] | None = None,
    together: int = 1,
    load_limit: float = LOAD_LIMIT,
) -> dict[str, Any]:
    """`compare` for commands that speak `serving`'s protocol: runtimes, one of them `reference`, and `report.pace`.

    So many load `together`, each within `load_limit` seconds; none runs while one loads.
    """
    with work_folder("korch-bench-") as folder, contextlib.ExitStack() as stack:
        contest = Contest(subject, threads, say or _silent, folder, bound=_bound(subject.onnx), load_limit=load_limit)
        files = _save(feeds, contest.folder)
        with RuntimeProcess(REFERENCE, commands[REFERENCE], threads) as process:
            expected = _first_outputs(contest, process, files)

        def enter(name: str) -> None:
            process = stack.enter_context(RuntimeProcess(name, commands[name], threads))
            _enter(contest, process, files, expected)

        with ThreadPool(together) as pool:
            list(pool.map(enter, [name for name in commands if name != REFERENCE]))
        if pace:
            _enter_machine(contest, stack.enter_context(RuntimeProcess(MACHINE, pace, threads)))
        times = _alternate(contest, rounds)
    return _result(contest, times, rounds)


def _bound(path: Path) -> float:
    """The error of floats that the model at `path` leaves to a runtime."""
    graph = load(path).graph
    ports = {port.type.tensor_type.elem_type for port in (*graph.input, *graph.output)}
    return COARSE_BOUND if COARSE & (ports | {tensor.data_type for tensor in tensors_of(graph)}) else BOUND


def _silent(_: str) -> None:
    """Says nothing."""


def _save(feeds: Mapping[str, np.ndarray], folder: Path) -> dict[str, str]:
    files = {name: str(folder / f"input{index}.npy") for index, name in enumerate(feeds)}
    for name, file in files.items():
        np.save(file, feeds[name])
    return files


def _first_outputs(contest: Contest, process: RuntimeProcess, files: dict[str, str]) -> list[np.ndarray]:
    """Loads the model and runs it once."""
    contest.say(f"{process.name}: loading")
    given = contest.subject
    subject = {
        "onnx": str(given.onnx.resolve()),
        "outputs": given.outputs,
        "korch": given.korch and str(given.korch.resolve()),
        "torch_models": given.torch_models and str(given.torch_models.resolve()),
    }
    precision = process.ask("load", limit=contest.load_limit, subject=subject, threads=contest.threads, inputs=files)
    contest.precisions[process.name] = precision or FLOAT32
    folder = contest.folder / process.name
    folder.mkdir()
    # torch.compile compiles at the first run: this one has the time to load, too
    return [np.load(path) for path in process.ask("outputs", limit=contest.load_limit, folder=str(folder))]


def _enter(contest: Contest, process: RuntimeProcess, files: dict[str, str], expected: list[np.ndarray]) -> None:
    """Puts a runtime into the race once its outputs are compared."""
    try:
        found = _first_outputs(contest, process, files)
        contest.errors[process.name] = _error(contest, process.name, found, expected)
        contest.racing[process.name] = process
        contest.say(f"{process.name}: error {contest.errors[process.name]:.1e} of the largest output")
    except RuntimeFailed as why:
        contest.leave(process, why)


def _enter_machine(contest: Contest, process: RuntimeProcess) -> None:
    """Puts in among the runtimes what tells how fast the processors are meanwhile."""
    try:
        process.ask("load", limit=LOAD_LIMIT)
        contest.racing[MACHINE] = process
    except RuntimeFailed as why:
        contest.leave(process, why)


def _error(contest: Contest, name: str, found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest error of an output; RuntimeFailed where one is not the model's."""
    shapes, wanted = [array.shape for array in found], [array.shape for array in expected]
    if shapes != wanted:
        raise RuntimeFailed(f"{name}: its outputs have the shapes {shapes}, the model's have {wanted}")
    errors = [relative_error(a, b) for a, b in zip(found, expected, strict=True)]
    for output, error, array in zip(contest.subject.outputs, errors, expected, strict=True):
        if error > (contest.bound if contest.precisions[name] == FLOAT32 else COARSE_BOUND) and array.dtype.kind == "f":
            raise RuntimeFailed(f"{name}: {_wrong(output, error)}")
    return max(errors, default=0.0)


def _wrong(output: str, error: float) -> str:
    if not np.isfinite(error):
        return f"output {output!r} is not finite where that of onnxruntime without optimisations is"
    return f"output {output!r} errs by {error:.1e} of its largest magnitude from onnxruntime without optimisations"


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest |found - expected| by the largest |expected|; infinite where only `expected` is finite.

    Where `expected` is not, any value passes: it may be single precision that has overflowed. Of outputs that are no
    floats, the share of elements that differ.
    """
    if expected.dtype.kind != "f":
        return float((found != expected).mean()) if expected.size else 0.0
    a, b = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    if not np.isfinite(a[finite]).all():
        return float("inf")
    difference = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
    largest = float(np.abs(b[finite]).max(initial=0.0))
    return difference / largest if largest else difference


def _alternate(contest: Contest, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of all timed runs, and rates of the machine.

    Each round starts with another runtime, so that none is always first.
    """
    times: dict[str, list[float]] = {name: [] for name in contest.racing}
    for turn in range(rounds):
        contest.say(f"round {turn + 1} of {rounds}")
        names = list(contest.racing)
        first = turn % max(1, len(names))
        for name in names[first:] + names[:first]:
            time.sleep(REST_SECONDS)
            try:
                times[name] += contest.racing[name].ask("block", limit=RUN_LIMIT, seconds=BLOCK_SECONDS)
            except RuntimeFailed as why:
                contest.leave(contest.racing[name], why)
    return times


def _result(contest: Contest, times: dict[str, list[float]], rounds: int) -> dict[str, Any]:
    rates = times.pop(MACHINE, [])
    runtimes = {
        name: {"median_ms": statistics.median(times[name]), "min_ms": min(times[name])}
        for name in contest.racing
        if times.get(name)
    }
    medians = {name: figures["median_ms"] for name, figures in runtimes.items()}
    ours = medians.pop(OURS, None)
    best = min((n for n in medians if contest.precisions[n] == FLOAT32), key=medians.__getitem__, default=None)
    fastest = min(medians, key=medians.__getitem__, default=None)
    return {
        "model": contest.subject.onnx.stem,
        "threads": contest.threads,
        "rounds": rounds,
        "runtimes": runtimes,
        "best_peer": best,
        "speedup_vs_best_peer": medians[best] / ours if best and ours else None,
        "fastest_peer": fastest,
        "speedup_vs_fastest_peer": medians[fastest] / ours if fastest and ours else None,
        "precisions": {name: contest.precisions[name] for name in runtimes},
        "errors": contest.errors,
        "skipped": contest.skipped,
        "peak_gflops": statistics.median(rates) if rates else None,
    }


def feeds_of(path: Path) -> dict[str, np.ndarray]:
    """Seeded arrays for the inputs of the model at `path`, of which those that are indices point anywhere."""
    model = load(path)
    return inputs_of(model, _counts(path, model))


def fixed(path: Path, shapes: Mapping[str, Sequence[int]], folder: Path) -> Path:
    """The model at `path`, or a copy in `folder` whose open lengths are those of `shapes`."""
    model = load(path)
    dims = [d for i in _inputs(model) for d in i.type.tensor_type.shape.dim]
    wanted = {i.name: shapes[i.name] for i in _inputs(model) if i.name in shapes}
    if not wanted or all(d.HasField("dim_value") for d in dims):
        return path
    model = with_data(model, path)
    fix_shapes(model, wanted)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / path.name).write_bytes(model.SerializeToString())
    return folder / path.name


def check_fixed(path: Path) -> None:
    """ModelError where there is no model at `path`, or an input of it has no fixed shape."""
    for given in _inputs(load(path)):
        _shape_of(given, f"{path}: ")


def _counts(path: Path, model: onnx.ModelProto) -> dict[str, int]:
    """How many integers each input may hold, as far as that can be told: those that are indices point anywhere."""
    types = (onnx.helper.tensor_dtype_to_np_dtype(given.type.tensor_type.elem_type) for given in model.graph.input)
    if all(np.issubdtype(dtype, np.floating) for dtype in types):
        return {}
    try:
        graph = fission(read(path, {}))
    except Error:
        return {}
    return {t.name: count_of(t, graph) for t in graph.inputs if not t.is_float}


def inputs_of(model: onnx.ModelProto, counts: Mapping[str, int] | None = None, seed: int = 0) -> dict[str, np.ndarray]:
    """Seeded arrays for the model's inputs: standard normal, or integers from 0 to below their `counts`, 2 by default,
    where integers or booleans are wanted.

    ModelError for an input whose shape is not fixed.
    """
    generator = np.random.default_rng(seed)
    return {given.name: _random(given, generator, (counts or {}).get(given.name, 2)) for given in _inputs(model)}


def _inputs(model: onnx.ModelProto) -> list[onnx.ValueInfoProto]:
    constants = {constant.name for constant in model.graph.initializer}
    return [given for given in model.graph.input if given.name not in constants]


def _shape_of(given: onnx.ValueInfoProto, where: str = "") -> tuple[int, ...]:
    kind = given.type.tensor_type
    fixed = kind.HasField("shape") and all(size.dim_value > 0 for size in kind.shape.dim)
    if not fixed:
        raise ModelError(f"{where}input {given.name} has no fixed shape; export the model with static shapes")
    return tuple(size.dim_value for size in kind.shape.dim)


def _random(given: onnx.ValueInfoProto, generator: np.random.Generator, count: int) -> np.ndarray:
    shape = _shape_of(given)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(given.type.tensor_type.elem_type)
    if np.issubdtype(dtype, np.floating):
        return np.asarray(generator.standard_normal(shape)).astype(dtype)
    return np.asarray(generator.integers(0, count, shape)).astype(dtype)
