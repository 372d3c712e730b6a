"""`korch optimize`: a model becomes an archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from korch.cli.arguments import (
    CostsOption,
    DeviceOption,
    JsonOption,
    NumericsOption,
    ShapesOption,
    TargetOption,
    ThreadsOption,
    TimeBudgetOption,
    ValuesOption,
    bindings_of,
    values_of,
)
from korch.cli.files import writable
from korch.cli.printing import count, print_json
from korch.errors import Error, NeedsSegments, VerificationError
from korch.limits import size_text

if TYPE_CHECKING:
    from korch.executable.plan import Accuracy
    from korch.optimize import Summary
    from korch.options import Options


def optimize(
    model: Annotated[Path, typer.Argument(help="The ONNX model.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="MODEL.korch by default.")] = None,
    threads: ThreadsOption = 0,
    time_budget: TimeBudgetOption = None,
    numerics: NumericsOption = "default",
    shape: ShapesOption = None,
    value: ValuesOption = None,
    target: TargetOption = "cpu",
    device: DeviceOption = "",
    costs: CostsOption = "measured",
    frontier: Annotated[
        bool, typer.Option("--frontier", help="Also list plans that err less and take longer; nothing is recalled.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Find the cheapest kernels for a model and link them into one program."""
    from korch.options import Options
    from korch.report.progress import progress

    bindings = bindings_of(shape)
    options = Options(threads, time_budget, numerics, bindings[0], target, costs, device, values_of(value))
    path = writable(output or Path(f"{model.stem}.korch"))
    from korch.optimize import optimized

    if frontier and len(bindings) > 1:
        raise Error("--frontier is for one binding: give one --shape for each input")
    with progress(quiet=json) as report:
        try:
            if frontier:
                return _frontier(model, options, path, report, json)
            if len(bindings) > 1:
                return _for_several(model, options, bindings, path, report, json)
            executable, summary, _ = optimized(model, options, report)
        except NeedsSegments as e:
            if len(bindings) > 1:
                raise Error(f"{e}; such a model takes one --shape for each input") from None
            return _in_segments(model, options, path, report, str(e), json)
    executable.save(path)
    if json:
        print_json(
            {
                "model": str(model),
                "output": str(path),
                "threads": executable.plan.threads,
                "numerics": numerics,
                **asdict(summary),
            }
        )
    else:
        typer.echo(_text(path, summary))
    _require(executable.plan.accuracy, numerics)


def _frontier(model: Path, options: Options, path: Path, report: Any, json: bool) -> None:
    """Writes the program of the first plan, and latency against error of all."""
    from korch.optimize import frontier
    from korch.report.tradeoffs import chart, table

    executable, found = frontier(model, options, report)
    executable.save(path)
    if json:
        plans = [asdict(x) for x in found]
        print_json({"model": str(model), "output": str(path), "numerics": options.numerics, "frontier": plans})
    else:
        typer.echo(f"{path}: the fastest of {count(len(found), 'plan')}\n\n{table(found)}\n\n{chart(found)}")
    _require(executable.plan.accuracy, options.numerics)


def _in_segments(model: Path, options: Options, path: Path, report: Any, why: str, json: bool) -> None:
    """Writes a program in segments, for a model that is no static program."""
    from korch.session.segmenting import segmented

    with segmented(model, options, report)[0] as program:
        program.save(path)
        if json:
            segments = str(program).splitlines()[1:]
            print_json({"model": str(model), "output": str(path), "segments": segments, "why": why})
        else:
            typer.echo(f"{path}: {program}\n{why}")


def _for_several(
    model: Path, options: Options, bindings: Sequence[Mapping[str, Sequence[int]]], path: Path, report: Any, json: bool
) -> None:
    """Writes one archive with a program for each binding."""
    from korch.session.segmenting import for_several

    with for_several(model, options, bindings, report) as program:
        program.save(path)
        each = {str(b): p.plan.predicted_seconds * 1e3 for b, p in program.parts[0].programs.items()}
        if json:
            print_json({"model": str(model), "output": str(path), "predicted_ms": each})
        else:
            lines = (f"{binding}: {ms:.3f} ms predicted" for binding, ms in each.items())
            typer.echo("\n".join([f"{path}: a program for each of {len(each)} shapes", *lines]))


BUSY = 0.05
"""The share of disturbed samples from which on the summary says so; a hundredth on a quiet machine."""


WORTH_SAYING = 0.01
"""The share of the time that looser numerics must save for the summary to say so."""


def _require(accuracy: Accuracy | None, numerics: str) -> None:
    """VerificationError where the program errs more than it may, or nobody can tell."""
    from korch.numerics.bounds import BOUNDS

    if accuracy is None or accuracy.passed:
        return
    if accuracy.allowed is None:
        raise VerificationError(f"the program is written, but {accuracy.text(numerics)}: `korch verify --input`")
    enough = [f"--numerics {n} allow {bound:.1e}" for n, bound in BOUNDS.items() if accuracy.error <= bound]
    way = enough[0] if enough else "no other numerics allow so much; `korch verify` shows the error of every output"
    raise VerificationError(
        f"the program is written, but output {accuracy.output!r} errs by {accuracy.error:.1e}, "
        f"numerics {numerics} allow {accuracy.allowed:.1e}: {way}"
    )


def _text(path: Path, s: Summary) -> str:
    measured = "none measured" if s.actual_ms is None else f"{s.measured} measured"
    kernels = f"{count(s.kernels, 'kernel')} of {s.candidates} candidates ({s.distinct} distinct, {measured})"
    from korch.report.explain import gap_text

    times = f"{_times(s)}, {gap_text(s.gap, s.gap_physical)}"
    spent = f"{s.tuning_s:.1f} s of tuning, {size_text(s.peak_bytes)} at the peak"
    error = [_error_text(s), *_looser_text(s)]
    lines = [f"{path}: {kernels}", f"{times}; {spent}", _growth_text(s), *error, *_disturbance(s)]
    return "\n".join(lines)


def _disturbance(s: Summary) -> list[str]:
    """Lines on disturbed and rejected samples; none for a quiet machine."""
    busy = [f"a busy machine: {s.busy:.0%} of the samples were disturbed and do not count"] if s.busy > BUSY else []
    rejected = [f"{count(s.rejected_samples, 'sample')} below what the machine can do, rejected"]
    return busy + (rejected if s.rejected_samples else [])


def _times(s: Summary) -> str:
    """What a run takes, or that nobody has seen that."""
    if s.actual_ms is None:
        return f"costs are those of a model of the {s.device}, not measurements: {s.predicted_ms:.3f} ms predicted"
    return f"{s.actual_ms:.3f} ms a run{f' on {s.device}' if s.device else ''}, {s.predicted_ms:.3f} ms predicted"


def _growth_text(s: Summary) -> str:
    """How large the problem became, and what it took to make and to solve it."""
    graph = f"{count(s.primitives, 'primitive')} grew by {count(s.choices, 'choice')} to {count(s.tensors, 'tensor')}"
    program = f"{count(s.cones, 'cone')}, a program of {count(s.columns, 'column')} and {count(s.rows, 'row')}"
    spent = f"{s.saturation_s:.1f} s for choices, {s.enumeration_s:.1f} s for cones, {s.solver_s:.1f} s for solving"
    return f"{graph}, {program}; {spent}"


def _error_text(s: Summary) -> str:
    allowed = "which cannot be judged" if s.error_bound is None else f"{s.error_bound:.1e} allowed"
    allowed = "every step right by itself" if s.by_step else allowed
    dropped = f"; {len(s.dropped)} choices or kernels dropped that erred too much" if s.dropped else ""
    emulated = ", emulated" if s.actual_ms is None else ""
    return f"error {s.error:.1e} of the largest magnitude{emulated}, {allowed}{dropped}"


def _looser_text(s: Summary) -> list[str]:
    """A line where the next looser numerics would save time."""
    saved = 1 - s.looser_ms / s.predicted_ms if s.looser and s.predicted_ms else 0.0
    text = f"--numerics {s.looser} would save {saved:.1%}: {s.looser_ms:.3f} ms predicted"
    return [text] if saved >= WORTH_SAYING else []
