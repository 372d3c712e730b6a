"""An export of a program for several shapes: each program's library, and one that finds the program for a run."""

from __future__ import annotations

import filecmp
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from korch.backends.toolchain import find_toolchain
from korch.errors import ArchiveError
from korch.executable.cpu import LIBRARY
from korch.executable.link import C_TEXTS, DEFINES
from korch.executable.runtime import Executable
from korch.executable.weights import WEIGHTS

HEADERS = ("korch.h", "korch_shapes.h")
SHAPES_LIBRARY = "libshapes.so"


def export_several(programs: Sequence[Executable], folder: Path) -> Path:
    """Writes `korch.h`, `korch_shapes.h`, `libshapes.so` and a folder for each program; equal weights once.

    ArchiveError where it cannot, BackendError where the compiler fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        places = {f"{n}": program.export(folder / f"{n}") for n, program in enumerate(programs)}
        weights = _once({name: place / WEIGHTS for name, place in places.items()})
        texts = {name: C_TEXTS.joinpath(name).read_text("utf-8") for name in HEADERS}
        for name, text in texts.items():
            (folder / name).write_text(text)
            for place in places.values():
                (place / name).unlink(missing_ok=True)
        libraries = [f"{name}/{LIBRARY}" for name in places]
        table = _table(programs, libraries, [f"{weights[name]}/{WEIGHTS}" for name in places])
        code = C_TEXTS.joinpath("shapes.c").read_text("utf-8")
        texts["shapes.c"] = "\n".join(('#include "korch_shapes.h"', table, code))
        find_toolchain().compile_library(texts, folder / SHAPES_LIBRARY, (), defines=DEFINES)
    except OSError as e:
        raise ArchiveError(f"cannot export to {folder}: {e.strerror or e}") from None
    return folder


def _once(files: Mapping[str, Path]) -> dict[str, str]:
    """Removes files that are equal to earlier ones; for each name, the one whose file is there."""
    kept = dict[str, str]()
    for name, file in files.items():
        kept[name] = next((n for n in dict.fromkeys(kept.values()) if filecmp.cmp(files[n], file, shallow=False)), name)
        if kept[name] != name:
            file.unlink()
    return kept


def _table(programs: Sequence[Executable], libraries: Iterable[str], weights: Iterable[str]) -> str:
    """C: the shapes of the inputs of each program, and its files."""
    ports = programs[0].inputs
    most = max([len(p.shape) for p in ports], default=0) + 1
    rows = [
        f'  {{"{library}", "{file}", {{{", ".join(_row(p.shape) for p in program.inputs) or "{0}"}}}}},'
        for program, library, file in zip(programs, libraries, weights, strict=True)
    ]
    return "\n".join(
        (
            f"enum {{ KORCH_PROGRAMS = {len(programs)}, KORCH_INPUTS = {len(ports)} }};",
            f"static const int korch_ranks[] = {_row([len(p.shape) for p in ports])};",
            "typedef struct {",
            "    const char *library, *weights;",
            f"    int64_t shapes[{max(len(ports), 1)}][{most}];",
            "} korch_program;",
            "static const korch_program korch_programs[] = {",
            *rows,
            "};",
        )
    )


def _row(numbers: Iterable[int]) -> str:
    return f"{{{', '.join(map(str, (*numbers, 0)))}}}"
