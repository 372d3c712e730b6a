"""`korch fission`: a model as plain ONNX made of primitives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from korch.cli.arguments import ShapesOption, shapes_of
from korch.cli.files import writable, write_whole
from korch.cli.printing import count
from korch.errors import Error


def fission(
    model: Annotated[Path, typer.Argument(help="The ONNX model.")],
    output: Annotated[Path, typer.Argument(help="The ONNX file to write.")],
    shape: ShapesOption = None,
) -> None:
    """Take a model's operators apart into primitives; the result runs in any ONNX runtime."""
    from google.protobuf.message import EncodeError

    from korch.fission import fission as fissioned
    from korch.fission.importer import read
    from korch.ir.onnx_write import graph_to_onnx

    shapes, path = shapes_of(shape), writable(output)
    source = read(model, shapes)
    graph = fissioned(source)
    try:
        data = graph_to_onnx(graph).SerializeToString()
    except (EncodeError, ValueError) as e:
        raise Error(f"cannot write {path}: {e}; ONNX files hold 2 GB at most") from None
    write_whole(path, data)
    typer.echo(f"{path}: {count(len(source.graph.node), 'operator')}, {count(len(graph.primitives), 'primitive')}")
