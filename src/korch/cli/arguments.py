"""What several commands take: options, and how their texts become values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from korch.errors import Error, InputError
from korch.options import PATIENCE

if TYPE_CHECKING:
    import numpy as np

    from korch.executable import Executable

_TIME = f"About how many seconds of tuning, {PATIENCE:g} by default; what has begun then is finished."

_SHAPE = "NAME=1,3,224,224 for an input of dynamic shape; several for one input make a program for each."
_VALUE = "NAME=16000 or NAME=[1,2]: makes an input a constant."

ThreadsOption = Annotated[int, typer.Option(help="Threads of the program; 0 is one for every processor.", min=0)]
TimeBudgetOption = Annotated[float | None, typer.Option(help=_TIME)]
NumericsOption = Annotated[str, typer.Option(help="Bound of the error: strict, default, fast, relaxed, or a number.")]
TargetOption = Annotated[str, typer.Option(help="Where the program runs: cpu, or cuda for an NVIDIA GPU.")]
DeviceOption = Annotated[
    str, typer.Option(help="A GPU: A100, H100, H200 or, with --costs model, the number of one here.")
]
CostsOption = Annotated[str, typer.Option(help="What kernels cost: measured, or a model's of the device.")]
ShapesOption = Annotated[list[str] | None, typer.Option("--shape", help=_SHAPE)]
ValuesOption = Annotated[list[str] | None, typer.Option("--value", help=_VALUE)]
InputsOption = Annotated[list[str] | None, typer.Option("--input", help="NAME=file.npy; other inputs are random.")]
SeedOption = Annotated[int, typer.Option(help="Of the random inputs.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]


def shapes_of(texts: Iterable[str] | None) -> dict[str, tuple[int, ...]]:
    """Shapes by input name, of texts like `x=1,3,224,224`."""
    pairs = (_pair("--shape", text, text.rpartition("=")[0]) for text in texts or ())
    return {name: _shape(name, text) for name, text in pairs}


def bindings_of(texts: Iterable[str] | None) -> list[dict[str, tuple[int, ...]]]:
    """Shapes by input name, for each binding: an input that is named several times has as many; the last counts on."""
    given: dict[str, list[tuple[int, ...]]] = {}
    for text in texts or ():
        for name, shape in shapes_of([text]).items():
            given.setdefault(name, []).append(shape)
    count = max(map(len, given.values()), default=1)
    return [{name: some[min(k, len(some) - 1)] for name, some in given.items()} for k in range(count)]


def values_of(texts: Iterable[str] | None) -> dict[str, Any]:
    """Values by input name, of texts like `sr=16000`, `axes=[0,1]`."""
    pairs = (_pair("--value", text, text.partition("=")[0] if "=" in text else "") for text in texts or ())
    return {name: _value(name, text) for name, text in pairs}


def _value(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise Error(f"--value {name}={text}: expected a number or a list, as in {name}=[1,2]") from None


def _shape(name: str, text: str) -> tuple[int, ...]:
    try:
        return tuple(int(n) for n in text.replace("x", ",").split(",") if n.strip())
    except ValueError:
        raise Error(f"--shape {name}={text}: the lengths must be whole numbers, as in {name}=1,3,224,224") from None


def _pair(option: str, text: str, name: str) -> tuple[str, str]:
    """The name, and what stands behind its `=`."""
    if not name:
        raise Error(f"{option} {text}: expected NAME=VALUE")
    return name, text[len(name) + 1 :]


def _input_of(text: str, names: Iterable[str]) -> str:
    """The longest of `names` before a `=` in the text, else what stands before the first; files may have it too."""
    before, equals, _ = text.partition("=")
    return max((n for n in names if text.startswith(f"{n}=")), key=len, default=before if equals else "")


def feeds_of(
    executable: Executable, texts: Iterable[str] | None, seed: int, shapes: Mapping[str, tuple[int, ...]] | None = None
) -> dict[str, np.ndarray]:
    """Arrays for all inputs: those given as NAME=file.npy, seeded random ones for the rest, of other `shapes` where the
    program takes several."""
    from korch.executable.feeds import port_feeds, random_feeds
    from korch.executable.segmented import Segmented

    names = [port.name for port in executable.inputs]
    pairs = (_pair("--input", text, _input_of(text, names)) for text in texts or ())
    given = {name: _array(name, Path(file)) for name, file in pairs}
    if isinstance(executable, Segmented):
        ports = [replace(p, shape=(shapes or {}).get(p.name, p.shape)) for p in executable.inputs]
        return _checked(executable, port_feeds(ports, seed) | given)
    own = random_feeds(executable.plan.graph, seed)
    return _checked(executable, own | given)


def _checked(executable: Executable, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """`feeds`; InputError for names that the model does not have."""
    names = [port.name for port in executable.inputs]
    if unknown := [name for name in feeds if name not in names]:
        raise InputError(f"the model has no input {unknown[0]!r}; it has {', '.join(names) or 'none'}")
    return dict(feeds)


def _array(name: str, file: Path) -> np.ndarray:
    import numpy as np

    from korch.ir.ops.table import is_array

    try:
        array = np.load(file, allow_pickle=False)
    except OSError as e:
        raise InputError(f"input {name!r}: cannot read {file}: {e.strerror or e}") from None
    except (ValueError, EOFError) as e:
        raise InputError(f"input {name!r}: {file} is no .npy file: {e}") from None
    if not is_array(array):
        raise InputError(f"input {name!r}: {file} holds several arrays; give a .npy file with one")
    return array
