"""The one contract of all backends: three questions about a cone, cheapest first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, runtime_checkable

from korch.backends.cpu.c.printing import printed
from korch.backends.cpu.c.tree import Code
from korch.ir.cone import Cone
from korch.ir.primitive import Attrs
from korch.machine import Machine


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a backend does not build a cone."""

    reason: str


@dataclass(frozen=True, slots=True)
class Variant:
    """One of the ways in which a backend computes a cone. Its text is part of keys and labels; nobody reads it back.

    `form`: words that are the same for all sizes, with a `{}` for each of the `numbers` (sides of tiles, heights of
    strips, steps, warps), in order. `precision`: of the factors of products (`precision.py`); empty where a kernel
    leaves them as they are. `stages`: of a chain, or of a kernel of several launches.
    """

    form: str = ""
    precision: str = ""
    numbers: tuple[int, ...] = ()
    stages: tuple[StageVariant, ...] = ()

    @staticmethod
    def from_json(fields: Mapping[str, Any]) -> Variant:
        """The variant that `to_json` was asked of; KeyError or TypeError where `fields` is something else."""
        stages = tuple(StageVariant(Variant.from_json(s["variant"]), s["backend"]) for s in fields["stages"])
        given: dict[str, Any] = {**fields, "numbers": tuple(fields["numbers"]), "stages": stages}
        return Variant(**given)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def unsized(self) -> Variant:
        """The variant without its numbers: equal for kernels that differ in sizes only."""
        stages = tuple(replace(s, variant=s.variant.unsized) for s in self.stages)
        return replace(self, numbers=(), stages=stages)

    def __str__(self) -> str:
        own = " ".join(filter(None, (self.precision, self.form.format(*self.numbers))))
        return ": ".join(filter(None, (own, ", ".join(map(str, self.stages)))))


@dataclass(frozen=True, slots=True)
class StageVariant:
    """The variant of a stage, and the backend of its kernel where that is another one."""

    variant: Variant
    backend: str = ""

    def __str__(self) -> str:
        return f"{self.backend} {self.variant}".strip()


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


@dataclass(frozen=True, slots=True)
class Alias:
    """Nothing runs: the root is the bytes of leaf 0."""


@dataclass(frozen=True, slots=True)
class Host:
    """An ONNX model that onnxruntime runs, the leaves in order as its inputs."""

    model: bytes


@dataclass(frozen=True, slots=True)
class Triton:
    """Triton's Python, whose functions run one after another as `launches` say, with `workspace` bytes."""

    source: str
    launches: tuple[Launch, ...]
    prepared: tuple[Prepared, ...] = ()
    workspace: int = 0


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A function of a vendor's library, by its name in the backend's table, which is given `attrs` and the kernel's
    buffers, `workspace` bytes last. It starts `count` launches, between which so many bytes pass through `temporary`
    memory."""

    function: str
    attrs: Attrs = ()
    count: int = 1
    temporary: int = 0
    prepared: tuple[Prepared, ...] = ()
    workspace: int = 0


Body = Code | Triton | LibraryCall | Host | Alias


@dataclass(frozen=True)
class Kernel:
    """One way to run a cone. `variant` tells several kernels of one backend apart."""

    cone: Cone
    backend: str
    variant: Variant
    body: Body

    @property
    def alias(self) -> bool:
        """Whether nothing runs."""
        return isinstance(self.body, Alias)

    @property
    def host(self) -> bytes | None:
        """The model that onnxruntime runs, if one does."""
        return self.body.model if isinstance(self.body, Host) else None

    @property
    def code(self) -> Code | None:
        """Its C, on a processor."""
        return self.body if isinstance(self.body, Code) else None

    @property
    def call(self) -> LibraryCall | None:
        """The call of a vendor's library, if the kernel is one."""
        return self.body if isinstance(self.body, LibraryCall) else None

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The functions that are started on a device."""
        return self.body.launches if isinstance(self.body, Triton) else ()

    @property
    def prepared(self) -> tuple[Prepared, ...]:
        """Constants that a device's kernel reads beside its leaves."""
        return self.body.prepared if isinstance(self.body, Triton | LibraryCall) else ()

    @property
    def workspace(self) -> int:
        """Bytes of memory that it uses while it runs."""
        return self.body.workspace if isinstance(self.body, Code | Triton | LibraryCall) else 0

    @property
    def libraries(self) -> tuple[str, ...]:
        """Shared libraries that its C calls."""
        return self.body.libraries if isinstance(self.body, Code) else ()

    @property
    def source(self) -> str:
        """Its text: C, or Triton's Python."""
        match self.body:
            case Code():
                return printed(self.body, "")
            case Triton():
                return self.body.source
            case _:
                return ""

    def placed(self, cone: Cone) -> Kernel:
        """The kernel for another cone of the same signature, whose tensors comments name then."""
        code = self.code
        return replace(self, cone=cone, body=code.titled(self.cone, cone) if code else self.body)


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

    def refuses(self, cone: Cone) -> Refusal | None:
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

    @property
    def precisions(self) -> tuple[str, ...]:
        """Those that it offers."""
        ...

    def under(self, numerics: str) -> Backend:
        """The backend that offers what `numerics` allow."""
        ...
