"""The one contract of all backends: three questions about a cone, cheapest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from korch.ir.cone import Cone
from korch.ir.primitive import Attrs
from korch.machine import Machine


@dataclass(frozen=True, slots=True)
class Declined:
    """Why a backend does not build a cone."""

    reason: str


@dataclass(frozen=True, slots=True)
class Launch:
    """A function of a kernel's source, started once on a device.

    `buffers` are its arguments, as numbers into the kernel's buffers: leaves, root, what is prepared, and the
    workspace last. `warps` a block of threads and the pipeline `stages` are Triton's. `tile`: rows, columns and depth
    of a product's tile that a block computes; empty where the function computes no product in tiles.
    """

    function: str
    grid: tuple[int, int, int]
    buffers: tuple[int, ...]
    warps: int = 4
    stages: int = 2
    tile: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A function of a vendor's library, by its name in the backend's table, which is given `attrs` and the kernel's
    buffers. It starts so many `launches`, between which so many bytes pass through `temporary` memory."""

    function: str
    attrs: Attrs = ()
    launches: int = 1
    temporary: int = 0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A constant that a kernel reads beside its leaves, made once when a program is linked.

    The constant leaf number `leaf` with its axes in the order `perm`, then reshaped to `shape` and rounded to `dtype`;
    or, without a leaf, a table of `values`.
    """

    dtype: str
    shape: tuple[int, ...]
    leaf: int | None = None
    perm: tuple[int, ...] = ()
    values: tuple[float, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """One way to run a cone.

    On a processor, `source` is C for one kernel, every global name starting with the token `KERNEL_` (see
    `program.py`): `KERNEL_run`, which one thread calls, or `KERNEL_team`, which every thread of a parallel region
    calls. Its `in` points to the leaves, then the root; `out` is the root. `host`: an ONNX model
    that onnxruntime runs, leaves in order as its inputs.

    On a device, `source` is Triton, whose functions run one after another as `launches` say; or a library is asked for
    a `call`. Either may read what is `prepared`.

    `alias`: nothing runs, the root is the bytes of leaf 0. `workspace` is in bytes. `variant` tells several kernels of
    one backend apart.
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
    launches: tuple[Launch, ...] = ()
    call: LibraryCall | None = None
    prepared: tuple[Prepared, ...] = ()


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
        """The kernels worth measuring, at least one; `threads` of a processor, or multiprocessors of a device."""
        ...


@runtime_checkable
class Graded(Backend, Protocol):
    """A backend whose kernels differ by what the numerics allow: TF32, FP16, BF16."""

    def under(self, numerics: str) -> Backend:
        """The backend that offers what `numerics` (strict, default, fast) allow."""
        ...
