"""The C compiler of this machine: found once, tried once, and what it is asked to do."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from korch.backends.compilers import Compilers
from korch.backends.libraries import Library
from korch.errors import BackendError
from korch.system.processes import work_folder
from korch.system.processor import computes_512_bits_at_once

WANTED = ("-O3", "-march=native", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
WHOLE_VECTORS = "-mprefer-vector-width=512"
"""For loops that compilers vectorise: on Intel's processors they take halves of registers unasked, as early ones slowed
down with whole ones. (Softmax of 256 channels 2.4 -> 1.5 of a copy's time, layer norm 1.6 -> 1.3.)"""
NEEDED = ("-std=gnu11", "-fPIC", "-Werror=implicit-function-declaration", "-ffunction-sections", "-fdata-sections")
SHARED = ("-shared", "-Wl,--gc-sections")
"""A library of what it hands out and what that calls; what else its objects hold is left out, and asks for nothing."""
OPENMP = "-fopenmp"

_PROBE = """\
#ifdef _OPENMP
#include <omp.h>
#endif
#include <math.h>
float korch_probe(float x) { return sqrtf(x); }
"""
SourceText = str | Callable[[], str]


@dataclass(frozen=True)
class Toolchain:
    """A compiler that works here.

    `command` starts it, `flags` are those of the wanted ones that it accepts. Without `openmp` kernels run on one
    thread. `version` is the first line it says of itself.
    """

    command: tuple[str, ...]
    flags: tuple[str, ...]
    openmp: bool
    version: str

    def compile_library(
        self,
        sources: Mapping[str, SourceText],
        output: Path,
        libraries: Sequence[Library] = (),
        jobs: int = 1,
        defines: Sequence[str] = (),
        objects: Sequence[Path] = (),
        keep: Path | None = None,
        limit: float | None = None,
        beside: Path | None = None,
    ) -> None:
        """Makes the shared library `output` from C texts by file name, `jobs` of them compiled at a time; those that
        come late are asked for when their turn has come.

        `libraries` give headers, and are found again where they are now. `objects` of earlier calls are linked as they
        are; those of this one stay in the folder `keep`. Each compiler shares the lock `beside`.

        BackendError has the first complaint, or says that a compiler took longer than `limit` seconds. A program that
        is handed out has none: each of its kernels has been compiled within one before, and giving up would lose the
        whole search.
        """
        own = [*defines, *(f"-I{library.include}" for library in libraries)]
        tail = _link_flags(libraries)
        try:
            with work_folder("korch-cc-") as folder, Compilers(jobs, limit, beside, folder) as compilers:
                new = self._objects(sources, folder, own, compilers, keep)
                made = folder / "library.so"
                parts = map(str, (*objects, *new))
                compilers.run(self._command(*SHARED, *own, "-o", str(made), *parts, *tail, "-lm"))
                _place(made, output)
        except OSError as e:
            raise BackendError(f"cannot write {e.filename or output}: {e.strerror or e}") from None

    def _objects(
        self,
        sources: Mapping[str, SourceText],
        folder: Path,
        own: Sequence[str],
        compilers: Compilers,
        keep: Path | None,
    ) -> Sequence[Path]:
        """One source goes straight to the linker."""
        for name, text in sources.items():
            if not name.endswith(".c"):
                _write(folder / name, text)
        units = [(folder / name, text) for name, text in sources.items() if name.endswith(".c")]
        if len(units) == 1:
            return [_write(*units[0])]

        def compiled(unit: tuple[Path, SourceText]) -> Path:
            source = _write(*unit)
            target = (keep or folder) / f"{source.stem}.o"
            compilers.run(self._command("-c", *own, "-o", str(target), str(source)))
            return target

        return compilers.map(compiled, units)

    def _command(self, *arguments: str) -> list[str]:
        return [*self.command, *self.flags, *arguments]


def _write(path: Path, text: SourceText) -> Path:
    path.write_text(text if isinstance(text, str) else text())
    return path


def _link_flags(libraries: Sequence[Library]) -> list[str]:
    """Libraries are found beside the program, where it was exported with them, else where they are now."""
    if not libraries:
        return []
    found = (flag for library in libraries for flag in (str(library.file), f"-Wl,-rpath,{library.file.parent}"))
    return ["-Wl,-rpath,$ORIGIN", *found]


def _place(made: Path, output: Path) -> None:
    """Puts the library at `output` in one step, so that nobody loads half of one."""
    opened, partial = tempfile.mkstemp(prefix=f".{output.name}.", dir=output.parent)
    os.close(opened)
    try:
        shutil.copy(made, partial)  # with its mode
        os.replace(partial, output)
    except BaseException:
        os.unlink(partial)
        raise


def _run(command: Sequence[str]) -> str:
    """What a compiler says; BackendError where it fails."""
    with Compilers() as compilers:
        return compilers.run(command)


@cache
def find_toolchain() -> Toolchain:
    """The first compiler that works: $CC and nothing else where it is set, else cc, gcc, clang, the ziglang wheel.

    BackendError says what was tried and the way out.
    """
    tried: list[str] = []
    for command in _candidates():
        try:
            return probe(command)
        except BackendError as e:
            tried.append(str(e))
    if os.environ.get("CC"):
        raise BackendError(f"the C compiler named by $CC does not work: {tried[0]}")
    found = "; ".join(tried) or "none found"
    raise BackendError(f"no C compiler works here ({found}): install gcc, or `pip install ziglang`")


def _candidates() -> Iterator[tuple[str, ...]]:
    if named := os.environ.get("CC"):
        yield tuple(shlex.split(named))
        return
    yield from ((path,) for name in ("cc", "gcc", "clang") if (path := shutil.which(name)))
    if find_spec("ziglang"):
        yield ziglang()


def ziglang() -> tuple[str, ...]:
    """The compiler of the ziglang wheel; it has no OpenMP."""
    return (sys.executable, "-m", "ziglang", "cc")


def probe(command: tuple[str, ...]) -> Toolchain:
    """What the compiler `command` can do, tried with a tiny program; BackendError where that fails."""
    with work_folder("korch-cc-") as folder:
        source = _write(folder / "probe.c", _PROBE)

        def accepts(*flags: str) -> bool:
            try:
                _run([*command, *NEEDED, *flags, *SHARED, "-o", f"{folder}/probe.so", str(source), "-lm"])
            except BackendError:
                return False
            return True

        wanted = (*WANTED, WHOLE_VECTORS) if computes_512_bits_at_once() else WANTED
        if accepts(*wanted, OPENMP):
            return Toolchain(command, (*NEEDED, *wanted, OPENMP), True, _version(command))
        _run([*command, *NEEDED, *SHARED, "-o", f"{folder}/probe.so", str(source), "-lm"])
        wanted = wanted if accepts(*wanted) else tuple(flag for flag in wanted if accepts(flag))
        openmp = accepts(*wanted, OPENMP)
        return Toolchain(command, (*NEEDED, *wanted, *([OPENMP] if openmp else [])), openmp, _version(command))


def _version(command: tuple[str, ...]) -> str:
    lines = _run([*command, "--version"]).splitlines()
    return lines[0].strip() if lines else " ".join(command)
