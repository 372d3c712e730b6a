"""`korch verify`: is an archive the model it was made from?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from korch.cli.arguments import InputsOption, JsonOption, SeedOption, feeds_of
from korch.cli.printing import print_json, print_table

if TYPE_CHECKING:
    from korch.report.verify import Verification


def verify(
    archive: Annotated[Path, typer.Argument(help="What `korch optimize` made.")],
    model: Annotated[Path, typer.Argument(help="The ONNX model that it was made from.")],
    input: InputsOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Compare a program's outputs with onnxruntime's and with a float64 evaluation of the model."""
    from korch.executable import load
    from korch.report.verify import verify as compared

    with load(archive) as executable:
        result = compared(executable, model, feeds_of(executable, input, seed) if input else None, seed)
    if json:
        print_json(result.to_json())
    else:
        _show(result)
    result.require()


def _show(result: Verification) -> None:
    columns = ["output", ">korch", ">onnxruntime", ">ratio", ">bound", ">tolerance", ""]
    rows = (
        [
            o.name,
            f"{o.korch_error:.2e}",
            f"{o.onnxruntime_error:.2e}",
            f"{o.ratio:.2f}",
            "" if o.bound is None else f"{o.bound:.2e}",
            f"{o.tolerance:.2e}",
            o.verdict,
        ]
        for o in result.outputs
    )
    print_table(columns, rows, f"errors against float64, of the largest magnitude; numerics {result.numerics}")
    if result.by_step:
        typer.echo(
            "ok by its steps: each is right on what those before it made, and bytes fall to either side of a step"
        )
    typer.echo("tolerance: the smallest that holds against both float64 and onnxruntime without optimisations")
