"""A kernel while it is being written: its functions, what they keep for each other, and the constants they read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from korch.backends import contract
from korch.backends.contract import Kernel, Launch, Prepared, Variant
from korch.backends.cuda.triton.blocks import BlockTrace
from korch.backends.cuda.triton.elementwise import TYPES
from korch.backends.cuda.triton.language import TritonLanguage
from korch.backends.cuda.triton.names import names_in
from korch.backends.cuda.triton.tiles import Tile
from korch.backends.cuda.triton.windows import is_depthwise
from korch.backends.maps.index import Index, flat
from korch.backends.maps.trace import ReadStage
from korch.ir.cone import Cone
from korch.ir.primitive import Primitive
from korch.ir.tensor import Tensor

ALIGNMENT = 256


@dataclass
class TritonModule:
    """The functions of one kernel. `stored` are tensors that earlier launches have written, with their arrays."""

    cone: Cone
    stored: dict[Tensor, str] = field(default_factory=dict[Tensor, str])
    tables: dict[tuple[float, ...], str] = field(default_factory=dict[tuple[float, ...], str])
    packed: dict[Tensor, Prepared] = field(default_factory=dict[Tensor, Prepared])
    places: dict[str, str] = field(default_factory=dict[str, str])
    functions: list[str] = field(default_factory=list[str])
    launches: list[tuple[str, list[str], int, int]] = field(default_factory=list[tuple[str, list[str], int, int]])
    workspace: int = 0

    def __post_init__(self) -> None:
        for p in self.cone.primitives:
            if is_depthwise(p) and p.inputs[1].const and p.inputs[1] in self.cone.leaves:
                self.packed[p.inputs[1]] = _taps_first(p, self.cone.leaves.index(p.inputs[1]))

    def trace(self, tile: Tile, held: dict[Tensor, str], stem: str = "v") -> BlockTrace:
        """A trace on `tile`, of leaves and of what is stored."""
        arrays = {t: f"in{i}" for i, t in enumerate(self.cone.leaves)}
        language = TritonLanguage(tile.masks, self.tables)
        return BlockTrace(self.cone.makers, arrays, self._readers(), language, tile.dims, held, stem)

    def _readers(self) -> dict[Tensor, ReadStage]:
        def reader(array: str) -> ReadStage:
            return lambda t, idx: (array, flat(idx, t.shape))

        def packed(array: str) -> ReadStage:
            return lambda t, idx: (array, flat((*idx[2:], idx[0]), (*t.shape[2:], t.shape[0])))

        weights = {t: packed(f"packed{i}") for i, t in enumerate(self.packed)}
        return weights | {t: reader(array) for t, array in self.stored.items()}

    def target(self, t: Tensor) -> str:
        """The array that holds the root `t`, or a place in the workspace for another tensor."""
        return "out" if t == self.cone.root else self.place(t.dtype, t.size)

    def place(self, dtype: str, size: int) -> str:
        """A new array in the workspace."""
        name = f"kept{len(self.places)}"
        self.places[name] = f"{name} = (workspace + {self.workspace}).to(tl.pointer_type({_stored_type(dtype)}))"
        nbytes = size * np.dtype(dtype).itemsize
        self.workspace += -(-nbytes // ALIGNMENT) * ALIGNMENT
        return name

    def function(self, shown: Iterable[Primitive], tile: Tile, body: Sequence[str], warps: int) -> None:
        """Adds a function that runs `body` on every tile, and its launch."""
        name = f"part{len(self.functions)}"
        read = names_in("\n".join(body))
        lines = [*(line for place, line in self.places.items() if place in read), *tile.header(), *body]
        read = names_in("\n".join(lines))
        used = [array for array in self._arrays() if array in read]
        comments = [f"# {p}" for p in shown]
        self.functions.append("\n    ".join((f"def {name}({', '.join(used)}):", *comments, *lines)) + "\n")
        self.launches.append((name, used, tile.programs, warps))

    def _arrays(self) -> list[str]:
        """All buffers by name, numbered as in `Launch.buffers`."""
        leaves = [f"in{i}" for i in range(len(self.cone.leaves))]
        made = [f"packed{i}" for i in range(len(self.packed))] + list(self.tables.values())
        return [*leaves, "out", *made, "workspace"]

    def kernel(self, backend: str, variant: Variant) -> Kernel:
        read = {array for _, used, _, _ in self.launches for array in used}
        self.tables = {values: name for values, name in self.tables.items() if name in read}
        number = {array: i for i, array in enumerate(self._arrays())}
        launches = tuple(
            Launch(name, (programs, 1, 1), tuple(number[a] for a in used), warps)
            for name, used, programs, warps in self.launches
        )
        made = (*self.packed.values(), *TritonLanguage(tables=self.tables).prepared())
        body = contract.Triton("\n\n".join(self.functions), launches, made, self.workspace)
        return Kernel(self.cone, backend, variant, body)

    def reach(self, targets: Iterable[Tensor]) -> list[Primitive]:
        """The primitives that compute `targets` from leaves and from what is stored, in order."""
        needed = set(targets)
        found: list[Primitive] = []
        for p in reversed(self.cone.primitives):
            if p.output in needed and p.output not in self.stored:
                found.append(p)
                needed.update(p.inputs)
        return found[::-1]


def store(trace: BlockTrace, array: str, at: Index, value: str) -> str:
    """The statement that writes `value` where `at` says."""
    return f"tl.store({array} + ({trace.language.index(at)}), {value}{trace.language.masked(at)})"


def heavy(lines: Sequence[str]) -> int:
    """How many values a thread should hold of each name, by how many names there are: 8 down to 1."""
    return next((n for most, n in ((48, 8), (120, 4), (400, 2)) if len(lines) <= most), 1)


def _taps_first(p: Primitive, leaf: int) -> Prepared:
    """The weights of a depthwise convolution, the channels last."""
    w = p.inputs[1]
    shape = (*w.shape[2:], w.shape[0], 1)
    return Prepared(w.dtype, shape, leaf, perm=(*range(2, w.rank), 0, 1))


def _stored_type(dtype: str) -> str:
    return "tl.int8" if dtype == "bool" else TYPES[dtype]
