"""Stitches a plan into one native library and its weights file: kernels, tables of buffers and steps, `model.c`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, ClassVar

from korch.backends.cpu.c import Code
from korch.backends.cpu.c.printing import code_digest
from korch.backends.libraries import Library, find_libraries
from korch.backends.program import compose_units, include
from korch.backends.toolchain import SourceText, find_toolchain
from korch.backends.units import Units
from korch.errors import ArchiveError
from korch.executable import weights
from korch.executable.manifest import Manifest, check_cpu, cpu_requirements
from korch.executable.memory import ALIGNMENT, INPUT_ALIGNMENT, Location, MemoryPlan, Room, plan_memory
from korch.executable.plan import Plan, Step, check
from korch.executable.weights import WEIGHTS
from korch.ir.tensor import Tensor, printable
from korch.system.digest import digest
from korch.system.processor import processor, processors
from korch.system.threads import ThreadPool

C_TEXTS = files("korch.executable").joinpath("c")
LIBRARY, SOURCES = "program.so", "sources/"
DEFINES = ("-fvisibility=hidden",)
UNIT = 24  # kernels compiled together; the units compile side by side
Libraries = Callable[[str], bytes | None]
"""Libraries that were linked before, by `library_key`."""


@dataclass(frozen=True)
class Linked:
    """The files of a linked plan in `folder`: the library, the weights and `sources` (C texts by file name)."""

    folder: Path
    memory: MemoryPlan
    sources: dict[str, str]
    FILES: ClassVar = (LIBRARY, WEIGHTS)

    @staticmethod
    def found(plan: Plan, folder: Path, members: Mapping[str, bytes]) -> Linked:
        """The content of an archive: the large files in `folder`, the others as bytes."""
        sources = {n.removeprefix(SOURCES): x.decode() for n, x in members.items() if n.startswith(SOURCES)}
        return Linked(folder, plan_memory(plan), sources)

    @staticmethod
    def check(about: Manifest, path: Path) -> None:
        """ArchiveError where the library of the archive at `path` cannot run here."""
        check_cpu(about, path)

    @property
    def members(self) -> dict[str, bytes]:
        return {SOURCES + n: s.encode() for n, s in self.sources.items()}

    @property
    def files(self) -> tuple[Path, ...]:
        return self.library, self.weights

    def requirements(self, plan: Plan) -> dict[str, Any]:
        """System, instruction sets and versions of libraries."""
        return cpu_requirements(plan)

    @property
    def library(self) -> Path:
        return self.folder / LIBRARY

    @property
    def code(self) -> bytes:
        """The library's bytes; ArchiveError where they cannot be read."""
        try:
            return self.library.read_bytes()
        except OSError as e:
            raise ArchiveError(f"cannot read the program {self.library}: {e.strerror or e}") from None

    @property
    def weights(self) -> Path:
        return self.folder / WEIGHTS


def link(
    plan: Plan, folder: Path, known: Libraries | None = None, units: Units | None = None, trial: bool = False
) -> Linked:
    """Writes the library and the weights of `plan` into `folder`: compiles nothing where `known` has the library, and
    of its kernels those that `units` do not have. There are no sources of a `trial`.

    Error where the plan is not sound, BackendError where the compiler fails, ArchiveError where the disk is full.
    """
    check(plan)
    memory, jobs = plan_memory(plan), min(plan.threads, processors())
    with ThreadPool(1) as pool:  # kernels are compiled while the weights are written
        checksum = pool.submit(_write_weights, plan, folder)
        sources = {} if trial else write_program(plan, memory, checksum.result)
        if kept := known and known(library_key(plan, sources)):
            _write(kept, folder / LIBRARY)
        elif units:
            units.compile_library(
                find_toolchain(),
                _native(plan.steps),
                folder / LIBRARY,
                UNIT,
                jobs,
                lambda table: _with_tables(table, plan, memory, checksum.result),
                DEFINES,
            )
        else:
            find_toolchain().compile_library(sources, folder / LIBRARY, _libraries(plan), jobs=jobs, defines=DEFINES)
    return Linked(folder, memory, _whole(sources))


def _write(library: bytes, file: Path) -> None:
    try:
        file.write_bytes(library)
    except OSError as e:
        raise ArchiveError(f"cannot write the program to {file.parent}: {e.strerror or e}") from None


def library_key(plan: Plan, sources: Mapping[str, SourceText]) -> str:
    """Of all that goes into the plan's library: C texts, compiler, the processor that it compiles for, libraries and
    where they are."""
    toolchain = find_toolchain()
    files = [str(library.file) for library in _libraries(plan)]
    return digest("library", *_whole(sources).items(), toolchain, processor(), *files, *DEFINES)


def _libraries(plan: Plan) -> Sequence[Library]:
    return find_libraries(n for s in plan.steps for n in s.kernel.libraries)


def _whole(sources: Mapping[str, SourceText]) -> dict[str, str]:
    return {name: text if isinstance(text, str) else text() for name, text in sources.items()}


def _write_weights(plan: Plan, folder: Path) -> int:
    """The checksum of the file."""
    written = write_weights(plan, folder)
    try:
        return weights.checksum(written)
    except OSError as e:
        raise ArchiveError(f"cannot read the weights in {folder}: {e.strerror or e}") from None


def write_weights(plan: Plan, folder: Path) -> Path:
    """The file with the plan's constants, written into `folder`; ArchiveError where the disk does not take it."""
    try:
        weights.write(folder / WEIGHTS, plan.constants, plan.graph.constants)
    except OSError as e:
        raise ArchiveError(f"cannot write the weights to {folder}: {e.strerror or e}") from None
    return folder / WEIGHTS


def write_program(plan: Plan, memory: MemoryPlan, checksum: Callable[[], int]) -> dict[str, SourceText]:
    """The C texts of the whole program by file name; steps with equal code share one kernel.

    The last text holds the tables, the weights' `checksum` among them: it comes when that is there.
    """
    units = compose_units(_native(plan.steps), UNIT, plan.threads)
    last = list(units)[-1]  # the one with the table of kernels
    return {**units, last: _with_tables(units[last], plan, memory, checksum)}


def _with_tables(table: str, plan: Plan, memory: MemoryPlan, checksum: Callable[[], int]) -> SourceText:
    """The text `table` and all of the program that is no kernel."""

    @cache
    def whole() -> str:
        number = {code_digest(code): i for i, code in enumerate(_native(plan.steps))}
        tables = _tables(plan, memory, weights.layout(plan.constants), checksum(), number)
        return "\n".join(
            (
                "#define KORCH_POOLED",
                table,
                include("korch_team.h"),
                _text("korch.h"),
                _text("tables.h"),
                tables,
                _text("pool.c"),
                _text("model.c"),
                _text("iterate.c"),
            )
        )

    return whole


def _text(name: str) -> str:
    return C_TEXTS.joinpath(name).read_text("utf-8")


def _native(steps: Iterable[Step]) -> list[Code]:
    """The code of kernels in the order of their first steps. Of equal code the first stands for all."""
    found: dict[str, Code] = {}
    for s in steps:
        if not s.idle and s.kernel.code:
            found.setdefault(code_digest(s.kernel.code), s.kernel.code)
    return list(found.values())


def _tables(
    plan: Plan, memory: MemoryPlan, layout: weights.WeightsLayout, checksum: int, number: Mapping[str, int]
) -> str:
    buffers = [t for s in plan.steps for t in (*s.reads, s.writes)]
    places = [memory.places[t] for t in buffers]
    uses = [i for i, p in enumerate(places) if p.room in (Room.INPUT, Room.OUTPUT)]
    sizes = {
        "KORCH_THREADS": plan.threads,
        "KORCH_STEP_COUNT": len(plan.steps),
        "KORCH_PLACE_COUNT": len(places),
        "KORCH_INPUT_COUNT": len(plan.graph.inputs),
        "KORCH_OUTPUT_COUNT": len(plan.graph.outputs),
        "KORCH_COPY_COUNT": len(memory.copies),
        "KORCH_PORT_USE_COUNT": len(uses),
        "KORCH_MOST_READS": max((len(s.reads) for s in plan.steps), default=0),
    }
    return "\n".join(
        (
            f"enum {{ {', '.join(f'{k} = {v}' for k, v in sizes.items())} }};",
            f"#define KORCH_BUFFER_ALIGNMENT {ALIGNMENT}",
            f"#define KORCH_INPUT_ALIGNMENT {INPUT_ALIGNMENT}",
            f"#define KORCH_ARENA_BYTES UINT64_C({memory.arena_bytes})",
            f"#define KORCH_WEIGHTS_BYTES UINT64_C({layout.size})",
            f"#define KORCH_WEIGHTS_CHECKSUM UINT64_C({checksum})",
            _array(
                "korch_place",
                "korch_places",
                [f"{_place(p, layout)},  // {printable(str(t))}" for t, p in zip(buffers, places, strict=True)],
                "{0}",
            ),
            _array("korch_step", "korch_steps", _steps(plan.steps, memory, number), "{0}"),
            _array("char *const", "korch_step_names", [f"{_quoted(s.writes.name)}," for s in plan.steps], "0"),
            _array("int", "korch_port_uses", [f"{i}," for i in uses], "0"),
            _array(
                "korch_copy",
                "korch_copies",
                [
                    f"{{{_place(memory.places[c.tensor], layout)}, {c.output}, {c.tensor.nbytes}}},"
                    for c in memory.copies
                ],
                "{0}",
            ),
            _ports("korch_inputs", [t.name for t in plan.graph.inputs], plan.graph.inputs),
            _ports("korch_outputs", plan.graph.output_names, plan.graph.outputs),
        )
    )


def _place(place: Location, layout: weights.WeightsLayout) -> str:
    at = layout.offsets[place.at] if place.room is Room.WEIGHTS else place.at
    return f"{{KORCH_{place.room.name}, {at}}}"


def _steps(steps: Sequence[Step], memory: MemoryPlan, number: Mapping[str, int]) -> list[str]:
    rows: list[str] = []
    first = 0
    for step, workspace in zip(steps, memory.workspaces, strict=True):
        kernel = 0 if step.idle or not step.kernel.code else number[code_digest(step.kernel.code)]
        rows.append(f"{{{_work(step)}, {kernel}, {first}, {len(step.reads)}, {workspace}}},  // {printable(str(step))}")
        first += len(step.reads) + 1
    return rows


def _work(step: Step) -> str:
    return "KORCH_IDLE" if step.idle else "KORCH_HOST" if step.kernel.host else "KORCH_KERNEL"


def _ports(table: str, names: Sequence[str], tensors: Sequence[Tensor]) -> str:
    shapes = [
        f"static const int64_t {table}_shape{i}[] = {{{', '.join(map(str, (*t.shape, 0)))}}};"
        for i, t in enumerate(tensors)
    ]
    rows = [
        f'{{{_quoted(n)}, "{t.dtype}", {t.rank}, {table}_shape{i}, {t.nbytes}}},'
        for i, (n, t) in enumerate(zip(names, tensors, strict=True))
    ]
    return "\n".join((*shapes, _array("korch_port", table, rows, "{0}")))


def _array(kind: str, name: str, rows: Sequence[str], empty: str) -> str:
    """A table of at least one row, as C wants it."""
    return "\n".join((f"static const {kind} {name}[] = {{", *(f"  {row}" for row in rows or (empty,)), "};"))


def _quoted(text: str) -> str:
    """A C string: bytes that are not plain ASCII as octal."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:03o}" for b in text.encode()) + '"'
