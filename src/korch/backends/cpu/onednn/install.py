"""Where the installed oneDNN is, asked of the installed distributions (paths differ between kinds of environment)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePath

from korch.errors import BackendError

LIBRARY = "onednn-cpu-gomp"
HEADERS = "onednn-devel-cpu-gomp"
WAY_OUT = "pip install 'korch[onednn]' (x86-64 Linux)"


@dataclass(frozen=True, slots=True)
class Install:
    """An installed oneDNN: the folder of `oneapi/dnnl/dnnl.h`, the library file, and its version."""

    include: Path
    library: Path
    version: str


@cache
def find() -> Install:
    """The installed library and headers; BackendError where one is missing."""
    library = find_code()
    header = _locate(HEADERS, lambda f: f.parts[-3:] == ("oneapi", "dnnl", "dnnl.h"))
    return Install(header.parents[2], library, f"{LIBRARY} {_distribution(LIBRARY).version}")


@cache
def find_code() -> Path:
    """The installed library; BackendError where it is missing."""
    return _locate(LIBRARY, lambda f: f.name == "libdnnl.so.3")


@cache
def absence() -> str:
    """Why no kernel can be built with oneDNN here, in one line; empty where one can."""
    try:
        find()
    except BackendError as e:
        return str(e)
    return ""


def _distribution(name: str) -> Distribution:
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise BackendError(f"oneDNN is not installed: {WAY_OUT}") from None


def _locate(name: str, wanted: Callable[[PurePath], bool]) -> Path:
    """The path of a file that distribution `name` installed, under the name that it was installed by."""
    for f in _distribution(name).files or ():
        path = Path(str(f.locate()))
        if wanted(f) and path.is_file():
            return path.parent.resolve() / path.name
    raise BackendError(f"the distribution {name} lacks the file Korch needs: pip install --force-reinstall {name}")
