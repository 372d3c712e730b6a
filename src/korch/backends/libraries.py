"""The vendor libraries that kernels link with: a backend's folder that has an `install.py` provides one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from korch.errors import BackendError
from korch.system.digest import code_digest

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Library:
    """`dnnl`: the folder of its headers and the file of its code."""

    name: str
    include: Path
    file: Path


@cache
def find_library(name: str) -> Library:
    """The library that kernels call `name`; BackendError where it, or what compilers need of it, is not installed.

    An `install.py` offers `find()`, whose result has `include` and `library`, and `find_code()`.
    """
    found = _install(name).find()
    return Library(name, found.include, found.library)


def require_library(folder: Path) -> None:
    """BackendError where the backend in `folder` has an `install.py` and its library, or the headers, are missing."""
    path = folder / "install.py"
    if path.is_file():
        import_module(module_of(path)).find()


def find_code(name: str) -> Path:
    """The file of the library's code, under the name that the loader knows: all that a program needs once it is
    compiled. BackendError where it is not installed."""
    return _install(name).find_code()


@cache
def _install(name: str) -> Any:
    """The `install.py` of the backend that has the library."""
    reasons: list[str] = []
    for path in sorted(HERE.rglob("install.py")):
        module = import_module(module_of(path))
        try:
            if module.find_code().name.split(".")[0] == f"lib{name}":
                return module
        except BackendError as e:
            reasons.append(str(e))
    raise BackendError("; ".join(reasons) or f"no backend provides the library {name}")


def find_libraries(names: Iterable[str]) -> tuple[Library, ...]:
    """Each library of `names` once."""
    return tuple(find_library(name) for name in dict.fromkeys(names))


def backend_digest(folder: Path) -> str:
    """Of the code of a backend, and of all that its kernels stand on: what primitives mean, the analysis, the C
    runtime, what is asked of the processor, and the way to compile."""
    return code_digest(
        [
            *folder.rglob("*.py"),
            *folder.rglob("*.h"),
            *folder.parent.glob("*.py"),
            *HERE.glob("*.py"),
            *HERE.joinpath("maps").glob("*.py"),
            *HERE.joinpath("linear").glob("*.py"),
            *HERE.glob("cpu/c/*.py"),
            *HERE.glob("cpu/runtime/*.h"),
            *HERE.parent.joinpath("ir").rglob("*.py"),
            *(HERE.parent / "system" / name for name in ("processor.py", "sessions.py")),
        ]
    )


def module_of(path: Path) -> str:
    """`korch.backends.cpu.onednn.install` of a file below this folder."""
    return ".".join(("korch", "backends", *path.relative_to(HERE).with_suffix("").parts))
