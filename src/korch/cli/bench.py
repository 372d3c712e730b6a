"""`korch bench`: Korch beside other runtimes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from korch.cli.arguments import JsonOption, NumericsOption, ShapesOption, ThreadsOption, TimeBudgetOption, shapes_of
from korch.cli.printing import print_json, print_table
from korch.errors import Error

PEERS = "onnxruntime,openvino,openvino-default,torch,torch-bf16"
GivenOption = Annotated[list[Path] | None, typer.Option(help="Archives made before, one a model, in their order.")]


def bench(
    models: Annotated[list[Path], typer.Argument(help="ONNX models; those of open lengths with --shape.")],
    against: Annotated[str, typer.Option(help="Runtimes, separated by commas.")] = PEERS,
    threads: ThreadsOption = 0,
    rounds: Annotated[int, typer.Option(help="Blocks of runs for each runtime.", min=1)] = 10,
    time_budget: TimeBudgetOption = None,
    numerics: NumericsOption = "default",
    torch_models: Annotated[Path | None, typer.Option(help="Folder where NAME.py has the torch module.")] = None,
    korch: GivenOption = None,
    python: Annotated[str, typer.Option(help="The interpreter that has the other runtimes.")] = sys.executable,
    shape: ShapesOption = None,
    json: JsonOption = False,
) -> None:
    """Time models in Korch and other runtimes, each in a process of its own, in turn."""
    from korch.fission.importer import read
    from korch.options import Options
    from korch.report.bench import check_fixed, check_named, compare
    from korch.system.processes import work_folder

    if korch and len(korch) != len(models):
        raise Error(f"{len(korch)} archives are given for {len(models)} models")
    if korch and (time_budget is not None or numerics != "default"):
        raise Error(
            "--time-budget and --numerics are for programs that are made now, not for archives given by --korch"
        )
    options = Options(threads, time_budget, numerics)
    names = tuple(name.strip() for name in against.split(",") if name.strip())
    check_named(names)
    with work_folder("korch-bench-") as folder:
        models = _with_shapes(models, korch, shapes_of(shape), folder)
        for model in models:
            check_fixed(model)
        for model in models[1:]:  # before minutes go into the first
            read(model)
        results = [
            compare(
                model,
                korch_path=archive,
                against=names,
                threads=options.thread_count,
                rounds=rounds,
                torch_models=torch_models,
                progress=_teller(json),
                python=python,
            )
            for model, archive in zip(models, _archives(models, korch, options, folder, json), strict=True)
        ]
    if json:
        print_json(results if len(results) > 1 else results[0])
    else:
        for result in results:
            _show(result)


def _with_shapes(
    models: Sequence[Path], archives: Sequence[Path] | None, given: Mapping[str, tuple[int, ...]], folder: Path
) -> list[Path]:
    """The models, those of open lengths as copies with the shapes that are `given`, or that their archives have."""
    from korch.executable.archive import read_manifest
    from korch.report.bench import fixed

    known = [{str(i["name"]): tuple(i["shape"]) for i in read_manifest(a).inputs} for a in archives or ()]
    shapes = [{**own, **given} for own in known] or [dict(given)] * len(models)
    return [fixed(model, own, folder / str(n)) for n, (model, own) in enumerate(zip(models, shapes, strict=True))]


def _archives(
    models: Sequence[Path], given: Sequence[Path] | None, options: Any, folder: Path, quiet: bool
) -> list[Path]:
    """The archive of each model: as given, or made now."""
    from korch.executable.archive import read_manifest
    from korch.optimize import optimized
    from korch.report.progress import progress
    from korch.targets import target_of

    for archive, about in ((a, read_manifest(a)) for a in given or ()):
        if about.target != "cpu":
            raise Error(f"{archive} was made for a GPU, and these runtimes are for processors: see benchmarks/cuda.py")
        if (own := about.threads) != options.thread_count:
            raise Error(f"{archive} was made for {own} threads, not {options.thread_count}: give --threads {own}")
    if given:
        return list(given)
    if (own := target_of(options).options.thread_count) != (asked := options.thread_count):
        raise Error(
            f"a program would run on {own} threads, not {asked}: the compiler has no OpenMP; give --threads "
            f"{own}, or install gcc or clang with OpenMP"
        )
    archives = [folder / f"{number}.korch" for number in range(len(models))]
    for model, archive in zip(models, archives, strict=True):
        with progress(quiet) as report, optimized(model, options, report)[0] as executable:
            executable.save(archive)
    return archives


def _teller(quiet: bool) -> Callable[[str], None] | None:
    """Where the comparison says what it does."""
    if quiet and not sys.stderr.isatty():
        return None
    return lambda text: typer.echo(text, err=True)


def _show(result: dict[str, Any]) -> None:
    rows = (
        [
            name,
            result["precisions"][name],
            f"{t['median_ms']:.3f}",
            f"{t['min_ms']:.3f}",
            f"{result['errors'].get(name, 0.0):.1e}",
        ]
        for name, t in sorted(result["runtimes"].items(), key=lambda item: item[1]["median_ms"])
    )
    title = f"{result['model']}: {result['threads']} threads, {result['rounds']} rounds"
    print_table(["runtime", "precision", ">median ms", ">min ms", ">error"], rows, title)
    for name, why in result["skipped"].items():
        typer.echo(f"{name} is left out: {why}")
    if result["speedup_vs_best_peer"] is not None:
        typer.echo(f"korch is {result['speedup_vs_best_peer']:.2f}x as fast as {result['best_peer']}")
    if (fastest := result["fastest_peer"]) != result["best_peer"] and result["speedup_vs_fastest_peer"] is not None:
        times, precision = result["speedup_vs_fastest_peer"], result["precisions"][fastest]
        typer.echo(f"and {times:.2f}x as fast as {fastest}, which computes in {precision}")
    if result["peak_gflops"] is not None:
        typer.echo(f"multiply-adds alone ran at {result['peak_gflops']:.0f} GFLOP/s meanwhile")
