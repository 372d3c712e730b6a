"""`korch run`: runs an archive on given or random inputs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from korch.cli.arguments import InputsOption, JsonOption, SeedOption, ShapesOption, feeds_of, shapes_of
from korch.cli.files import folder_for
from korch.cli.printing import print_json
from korch.errors import Error

if TYPE_CHECKING:
    import numpy as np

    from korch.executable import Executable

Arrays = Mapping[str, "np.ndarray"]


def run(
    archive: Annotated[Path, typer.Argument(help="What `korch optimize` made.")],
    input: InputsOption = None,
    shape: ShapesOption = None,
    output_dir: Annotated[Path | None, typer.Option(help="Write every output there as NAME.npy.")] = None,
    runs: Annotated[int, typer.Option(help="Timed runs.", min=1)] = 20,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Run a program; prints the shapes of its inputs and outputs and the latency."""
    from korch.executable import load

    with load(archive) as executable:
        feeds = feeds_of(executable, input, seed, shapes_of(shape))
        outputs = executable.run(feeds)
        files = _store(outputs, folder_for(output_dir)) if output_dir else {}
        times = [_milliseconds(executable, feeds) for _ in range(runs)]
        facts = {
            "inputs": _ports(executable.inputs),
            "outputs": _ports(executable.outputs),
            "files": files,
            "runs": runs,
            "median_ms": median(times),
            "min_ms": min(times),
        }
        print_json(facts) if json else typer.echo(_text(executable, facts))


def _milliseconds(executable: Executable, feeds: Arrays) -> float:
    start = time.perf_counter()
    executable.run(feeds)
    return (time.perf_counter() - start) * 1e3


def _store(outputs: Arrays, folder: Path) -> dict[str, str]:
    """Writes the outputs; the file of each."""
    import numpy as np

    files = {name: folder / f"{stem}.npy" for name, stem in _stems(outputs).items()}
    try:
        for name, file in files.items():
            np.save(file, outputs[name])
    except OSError as e:
        raise Error(f"cannot write to {folder}: {e.strerror or e}") from None
    return {name: str(file) for name, file in files.items()}


def _stems(names: Iterable[str]) -> dict[str, str]:
    """A file's name for each output; where an earlier one has it (`a/b` and `a_b`), with the output's number."""
    stems: dict[str, str] = {}
    for number, name in enumerate(names):
        stem = name.strip("/").replace("/", "_")
        while stem in stems.values():
            stem += f"_{number}"
        stems[name] = stem
    return stems


def _ports(ports: Any) -> list[dict[str, Any]]:
    return [{"name": p.name, "dtype": p.dtype, "shape": list(p.shape)} for p in ports]


def _text(executable: Executable, facts: Mapping[str, Any]) -> str:
    lines = [f"{kind} {port}" for kind in ("input", "output") for port in getattr(executable, f"{kind}s")]
    lines += [f"wrote {file}" for file in facts["files"].values()]
    times = f"{facts['median_ms']:.3f} ms median, {facts['min_ms']:.3f} ms at best"
    return "\n".join([*lines, f"{times}, {facts['runs']} runs, threads: {executable.threads}"])
