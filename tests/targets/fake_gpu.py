"""A backend for a GPU that only looks like one, programs that nobody linked, GPUs that are not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from korch.backends import table
from korch.backends.contract import Alias, Backend, Kernel, Launch, LibraryCall, Refusal, Triton, Variant
from korch.backends.footprint import footprint
from korch.backends.precision import THRICE, allowed, peak
from korch.devices import Device
from korch.executable.plan import Plan
from korch.executable.runtime import Port, Profile
from korch.ir import Category, Cone
from korch.ir.macs import total
from korch.machine import Machine
from korch.profile.cuda.installed import Installed
from korch.targets import gpu

H200 = Installed(0, "NVIDIA H200", 90, 132, 227 << 10, 50 << 20, 1.98e9, 4.8e12, "580.1")
TILE, ROWS = 64, 1024


@dataclass(frozen=True)
class Toy:
    """At most one product, and what is elementwise or moves around it, in every precision that is allowed and
    takes one product."""

    precisions: tuple[str, ...] = ("ieee",)
    name: str = "toy"
    version: str = "1"
    fallback: bool = False

    def under(self, numerics: str) -> Backend:
        return Toy(tuple(p for p in allowed(numerics) if p not in THRICE))

    def refuses(self, cone: Cone) -> Refusal | None:
        fine = all(p.category is not Category.OPAQUE for p in cone.primitives)
        return None if fine and len(cone.linear) < 2 else Refusal("is no toy")

    def bound(self, cone: Cone, machine: Machine) -> float:
        if is_view(cone):
            return 0.0
        return max(2 * total(cone.primitives) / peak(machine, self.precisions), machine.moving(footprint(cone)[0]))

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        if is_view(cone):
            return (Kernel(cone, self.name, Variant(), Alias()),)
        if not cone.linear:
            blocks = -(-cone.root.size // ROWS)
            return (Kernel(cone, self.name, Variant(), Triton("moves", (Launch("moves", (blocks, 1, 1), (0,)),))),)
        return tuple(self._product(cone, p, side) for p in self.precisions for side in (TILE, 2 * TILE))

    def _product(self, cone: Cone, precision: str, side: int) -> Kernel:
        blocks = max(cone.root.size // side**2, 1)
        launch = Launch("product", (blocks, 1, 1), (0,))
        return Kernel(cone, self.name, Variant("{}x{}", precision, (side, side)), Triton(f"product {side}", (launch,)))


def is_view(cone: Cone) -> bool:
    return all(p.op == "Reshape" for p in cone.primitives)


def vendor(cone: Cone) -> Kernel:
    return Kernel(cone, "vendor", Variant(precision="tf32"), LibraryCall("matmul"))


@dataclass
class Unlinked:
    """What stands for a linked program: it cannot run."""

    plan: Plan
    device: Device
    peak_bytes: int = 0
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    saved: list[Path] = field(default_factory=list)

    def run(self, *_: object) -> dict:
        raise AssertionError("nothing can run here")

    def profile(self, *_: object) -> Profile:
        raise AssertionError("nothing can be timed here")

    def save(self, path: str | Path) -> Path:
        Path(path).write_text(f"{self.device.name} {self.device.arch}")
        return Path(path)

    def close(self) -> None:
        pass

    def __enter__(self) -> Unlinked:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def pretend(patch: pytest.MonkeyPatch, here: tuple[Installed, ...] = (), missing: tuple[str, ...] = ()) -> None:
    """The toy is the only backend for GPUs; those that are `here` are installed, modules in `missing` are not."""
    known = [e for e in table.entries() if e.target != "cuda"]
    toy = table.BackendEntry("toy", Toy(), "1", target="cuda")
    patch.setattr(table, "entries", lambda: (*known, toy))
    patch.setattr(gpu, "installed", lambda: here)
    patch.setattr(gpu, "linked", lambda plan, device, made=None: Unlinked(plan, device))
    patch.setattr(gpu, "unfit", lambda kernels, device: [])
    patch.setattr(gpu, "find_spec", lambda name: None if name in missing else object())


def texts(plan: Plan) -> Mapping[str, str]:
    return dict(plan.options)
