"""`korch explain`: what runs, why, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from korch.cli.arguments import JsonOption
from korch.cli.printing import print_json


def explain(
    archive: Annotated[Path, typer.Argument(help="What `korch optimize` made.")], json: JsonOption = False
) -> None:
    """Show the kernels of a program in order: what is in them, their costs and alternatives."""
    from korch.executable import load
    from korch.executable.segmented import Segmented
    from korch.report.explain import explain as explained

    with load(archive, runs=False) as executable:
        if isinstance(executable, Segmented):
            return print_json({"segments": str(executable).splitlines()}) if json else typer.echo(str(executable))
        result = explained(executable)
    print_json(result.to_json()) if json else typer.echo(str(result))
