"""Compiles the kernels of a device plan, in processes of their own, and keeps what an archive holds of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from korch.backends.contract import Kernel
from korch.backends.cuda.triton.compile import Compiled, CompiledLaunch, compile_kernel, compilers, identity
from korch.devices import Device
from korch.errors import Error
from korch.executable.cuda.requirements import check, requirements
from korch.executable.cuda.schedule import StepSchedule, schedule
from korch.executable.link import write_weights
from korch.executable.manifest import Manifest
from korch.executable.memory import MemoryPlan
from korch.executable.plan import Plan, Step
from korch.executable.plan import check as check_plan
from korch.executable.weights import WEIGHTS
from korch.system.processor import processors

SOURCES, KERNELS, TABLE = "sources/", "kernels/", "kernels.json"


@dataclass(frozen=True)
class DeviceLinked:
    """A plan compiled for devices of `capability`, with its weights in `folder`.

    `binaries` are those of each step's launches, none where it is idle or calls a library; `sources` Triton texts by
    file name.
    """

    folder: Path
    capability: int
    schedule: StepSchedule
    binaries: tuple[tuple[CompiledLaunch, ...], ...]
    sources: Mapping[str, str]
    FILES: ClassVar = (WEIGHTS,)

    @staticmethod
    def found(plan: Plan, folder: Path, members: Mapping[str, bytes]) -> DeviceLinked:
        """The content of an archive: the weights in `folder`, the others as bytes."""
        table = json.loads(members[TABLE])
        binaries = [_binary(row, members) for row in table["binaries"]]
        sources = {n.removeprefix(SOURCES): x.decode() for n, x in members.items() if n.startswith(SOURCES)}
        rows: list[list[int]] = table["steps"]
        steps = tuple(tuple(binaries[i] for i in row) for row in rows)
        return DeviceLinked(folder, table["capability"], schedule(plan), steps, sources)

    @staticmethod
    def check(about: Manifest, path: Path) -> None:
        """ArchiveError where there is no device that the archive at `path` runs on."""
        check(about.device, path)

    @property
    def memory(self) -> MemoryPlan:
        return self.schedule.memory

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.folder / WEIGHTS,)

    @property
    def members(self) -> dict[str, bytes]:
        """Sources, binaries, and the table that says which step has which."""
        number = {b: n for n, b in enumerate(dict.fromkeys(b for row in self.binaries for b in row))}
        table = {
            "capability": self.capability,
            "binaries": [_row(b, n) for b, n in number.items()],
            "steps": [[number[b] for b in row] for row in self.binaries],
        }
        return {
            **{SOURCES + n: s.encode() for n, s in self.sources.items()},
            **{_file(n): b.cubin for b, n in number.items()},
            TABLE: json.dumps(table, separators=(",", ":")).encode(),
        }

    def requirements(self, plan: Plan) -> dict[str, Any]:
        """Device, driver and versions of libraries."""
        return requirements(plan, self.capability)


def _file(number: int) -> str:
    return f"{KERNELS}{number:03}.cubin"


def _row(binary: CompiledLaunch, number: int) -> dict[str, Any]:
    return {**asdict(binary), "cubin": _file(number)}


def _binary(row: Mapping[str, Any], members: Mapping[str, bytes]) -> CompiledLaunch:
    fields: dict[str, Any] = {**row, "cubin": members[row["cubin"]]}
    return CompiledLaunch(**fields)


def link_device(plan: Plan, folder: Path, device: Device, jobs: int = 0, made: Compiled | None = None) -> DeviceLinked:
    """Compiles what of `plan` is not `made`, and enters it there, for `device`, which need not be there, by `jobs`
    processes (0: one a processor), and writes the weights into `folder`.

    Error where the plan is not sound, BackendError where a kernel does not compile, ArchiveError where the disk is
    full.
    """
    _check(plan)
    made = {} if made is None else made
    launched = [() if s.idle or not s.kernel.launches else (s.kernel,) for s in plan.steps]
    missing = {identity(k): k for own in launched for k in own if identity(k) not in made}
    made.update(zip(missing, _compiled(list(missing.values()), device.capability, jobs), strict=True))
    write_weights(plan, folder)
    binaries = tuple(made[identity(own[0])] if own else () for own in launched)
    return DeviceLinked(folder, device.capability, schedule(plan), binaries, _sources(plan.steps))


def _check(plan: Plan) -> None:
    check_plan(plan)
    for number, step in enumerate(plan.steps):
        if not (step.idle or step.kernel.launches or step.kernel.call):
            raise Error(
                f"step {number} ({step.writes.name}) has a kernel of {step.kernel.backend!r}, which runs on no GPU"
            )


def _compiled(kernels: Sequence[Kernel], capability: int, jobs: int) -> list[tuple[CompiledLaunch, ...]]:
    if not kernels:
        return []
    with compilers(min(jobs or processors(), len(kernels))) as pool:
        return list(pool.map(compile_kernel, kernels, [capability] * len(kernels)))


def _sources(steps: Iterable[Step]) -> dict[str, str]:
    """Each text once, by the number of its first step and its backend."""
    texts: dict[str, str] = {}
    for number, step in enumerate(steps):
        if step.kernel.source and not step.idle:
            texts.setdefault(step.kernel.source, f"{number:03}_{step.kernel.backend}.py")
    return {name: text for text, name in texts.items()}
