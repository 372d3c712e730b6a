"""The vendor libraries that kernels link with: a backend's folder that has an `install.py` provides one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from korch.errors import BackendError

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Library:
    """`dnnl`: the folder of its headers and the file of its code."""

    name: str
    include: Path
    file: Path


@cache
def find_library(name: str) -> Library:
    """The library that kernels call `name`; BackendError where it is not installed.

    An `install.py` offers `find()`, whose result has `include` and `library`.
    """
    reasons: list[str] = []
    for path in sorted(HERE.rglob("install.py")):
        try:
            found = import_module(module_of(path)).find()
        except BackendError as e:
            reasons.append(str(e))
            continue
        if found.library.name.split(".")[0] == f"lib{name}":
            return Library(name, found.include, found.library)
    raise BackendError("; ".join(reasons) or f"no backend provides the library {name}")


def find_libraries(names: Iterable[str]) -> tuple[Library, ...]:
    """Each library of `names` once."""
    return tuple(find_library(name) for name in dict.fromkeys(names))


def code_digest(folder: Path) -> str:
    """Of the code of a backend, and of the analysis, the C runtime and the way to compile that kernels stand on."""
    files = [
        *folder.rglob("*.py"),
        *folder.rglob("*.h"),
        *HERE.joinpath("maps").glob("*.py"),
        *HERE.joinpath("linear").glob("*.py"),
        *HERE.glob("cpu/runtime/*.h"),
        *(HERE / name for name in ("program.py", "shared.py", "toolchain.py")),
    ]
    joined = b"".join(file.read_bytes() for file in sorted(set(files)))
    return hashlib.sha256(joined).hexdigest()[:12]


def module_of(path: Path) -> str:
    """`korch.backends.cpu.onednn.install` of a file below this folder."""
    return ".".join(("korch", "backends", *path.relative_to(HERE).with_suffix("").parts))
