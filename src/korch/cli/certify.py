"""`korch certify`: a program, and a proof for strangers that no plan of its candidates is much cheaper."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from korch.cli.files import folder_for, write_whole
from korch.cli.printing import print_json
from korch.errors import Error, SolverError

if TYPE_CHECKING:
    from korch.solve.certificate import Certificate

FILES = ("program.mps", "certificate.json", "candidates.json")


def certify(
    model: Annotated[Path, typer.Argument(help="The ONNX model.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="A folder; MODEL-certificate by default.")
    ] = None,
    threads: ThreadsOption = 0,
    time_budget: TimeBudgetOption = None,
    numerics: NumericsOption = "default",
    shape: ShapesOption = None,
    value: ValuesOption = None,
    target: TargetOption = "cpu",
    device: DeviceOption = "",
    costs: CostsOption = "measured",
    proof_budget: Annotated[float, typer.Option(help="About how many seconds the proof may take.", min=0.0)] = 60.0,
    physics: Annotated[
        bool,
        typer.Option("--physics", help="Kernels not measured cost what physics allow, not as the best of their kind."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Write a program and a proof, checked in exact arithmetic, of how much cheaper a plan can be."""
    from korch.options import Options
    from korch.report.progress import progress

    bindings = bindings_of(shape)
    if len(bindings) > 1:
        raise Error("a certificate is for one binding: give one --shape for each input")
    options = Options(threads, time_budget, numerics, bindings[0], target, costs, device, values_of(value))
    folder = folder_for(output or Path(f"{model.stem}-certificate"))
    from korch.optimize import certify as certified

    with progress(quiet=json) as report:
        executable, certificate, kernels = certified(model, options, report, proof_budget, physics)
    executable.save(folder / "model.korch")
    lines = _written(folder, certificate, kernels)
    if json:
        facts = {"cost_us": float(certificate.cost), "bound_us": certificate.bound, "gap": certificate.gap}
        sizes = {"candidates": len(certificate.problem.candidates), "leaves": certificate.leaves}
        print_json({"model": str(model), "output": str(folder), **facts, **sizes})
    else:
        typer.echo("\n".join([f"{folder}: {', '.join(('model.korch', *FILES, 'checker.py'))}", *lines]))


def _written(folder: Path, certificate: Certificate, kernels: dict[int, str]) -> list[str]:
    """Writes the certificate with its checker, which has confirmed the files; what it says."""
    from korch.solve import checker
    from korch.solve.certificate import candidates_text, program_text, proof_text

    texts = program_text(certificate), proof_text(certificate), candidates_text(certificate, kernels)
    for name, text in zip(FILES, texts, strict=True):
        write_whole(folder / name, text.encode())
    shutil.copyfile(checker.__file__, folder / "checker.py")
    lines = checker.checked(*(str(folder / name) for name in FILES))
    if lines[-1].startswith("REJECTED"):
        raise SolverError(f"the certificate in {folder} does not hold: {lines[-1]}")
    return lines
