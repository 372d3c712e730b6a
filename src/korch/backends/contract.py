"""The one contract of all backends: three questions about a cone, cheapest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from korch.ir.cone import Cone
from korch.machine import Machine


@dataclass(frozen=True, slots=True)
class Declined:
    """Why a backend does not build a cone."""

    reason: str


@dataclass(frozen=True)
class Kernel:
    """One way to run a cone.

    `source` is C for one kernel, every global name starting with the token `KERNEL_` (see `program.py`). Its `in`
    points to the leaves, then the root, then the exports; `out` is the root.
    `alias`: nothing runs, the root is the bytes of leaf 0. `host`: an ONNX model that onnxruntime runs, leaves
    in order as its inputs. `workspace` is in bytes. `variant` tells several kernels of one backend apart.
    """

    cone: Cone
    backend: str
    source: str = ""
    workspace: int = 0
    variant: str = ""
    alias: bool = False
    host: bytes | None = None
    headers: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


class Backend(Protocol):
    """What the search asks of a backend."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Part of the key under which costs are remembered."""
        ...

    @property
    def fallback(self) -> bool:
        """Whether the backend takes any single primitive, slowly: asked only where no other takes the cone."""
        ...

    def declines(self, cone: Cone) -> Declined | None:
        """Why this backend cannot build `cone`; None if it can. Cheap."""
        ...

    def bound(self, cone: Cone, machine: Machine) -> float:
        """A lower bound of the cone's run time in seconds."""
        ...

    def build(self, cone: Cone, threads: int) -> tuple[Kernel, ...]:
        """The kernels worth measuring, at least one."""
        ...
