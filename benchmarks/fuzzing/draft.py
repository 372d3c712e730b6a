"""A random model under construction, whose values are all known: each node runs by onnxruntime as it is written."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from korch.ir.opsets import own_domain
from korch.system.sessions import plain_session

Array = np.ndarray[Any, Any]

FLOATS = ("float16", "float32", "float64")
INTS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
LENGTHS = (1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8, 8, 9, 11, 13, 16, 16, 17, 19, 31, 32, 33, 64)
LONG = (65, 100, 127, 128, 129, 200, 256)
MOST, MANY = 3000, 40_000
"""Elements of a value, and of one of a large model."""
LARGEST = 1e4
"""Magnitude of a float: products of larger ones leave what float16 and float32 hold."""
TIES = 0.12
"""The share of new floats that are halves: many are equal, which decides between the first and the last."""
IR_VERSION = 10
MICROSOFT = "com.microsoft"


class Rejected(Exception):
    """A node that onnxruntime does not run, or whose result is of no use to others."""


@dataclass(frozen=True)
class Setting:
    """Of a model. `dtype`: of its new floats; `special`: inputs hold NaN and infinities; `symbolic`:
    lengths of inputs have names instead of numbers."""

    opset: int
    dtype: str
    special: bool = False
    symbolic: bool = False
    most: int = MOST


@dataclass
class Draft:
    """The nodes so far, and the values of all names."""

    rng: Random
    setting: Setting
    arrays: dict[str, Array] = field(default_factory=dict[str, Array])
    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    made: list[str] = field(default_factory=list[str])
    """The results of nodes, and inputs that may be read again."""
    inputs: list[str] = field(default_factory=list[str])
    weights: list[str] = field(default_factory=list[str])
    count: int = 0

    def name(self, prefix: str = "v") -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # Values

    def array(self, dtype: str, shape: Sequence[int], low: float | None = None, high: float | None = None) -> Array:
        """Random numbers: floats from N(0, 1), or evenly between `low` and `high`, integers from there."""
        r = np.random.default_rng(self.rng.getrandbits(32))
        if dtype == "bool":
            return r.random(shape) < 0.5
        if dtype in FLOATS:
            if low is None and self.chance(0.04):
                return np.full(shape, self.rng.choice([0.0, 1.0, -1.0, 0.5]), dtype)
            x = r.standard_normal(shape) if low is None or high is None else r.uniform(low, high, shape)
            if low is None and self.chance(TIES):
                x = np.round(2 * x) / 2
            return np.asarray(x, dtype)
        limits = np.iinfo(dtype)
        low, high = (-9 if limits.min else 0, 9) if low is None or high is None else (low, high)
        return np.asarray(
            r.integers(int(max(low, limits.min)), int(min(high, limits.max)), shape, endpoint=True), dtype
        )

    def weight(self, array: Any, dtype: str | None = None) -> str:
        """A constant."""
        name = self.name("w")
        self.arrays[name] = np.asarray(array, dtype)
        self.weights.append(name)
        return name

    def input(self, array: Array) -> str:
        """An input of the model."""
        name = self.name("x")
        if self.setting.special and array.dtype.kind == "f" and array.size:
            r = np.random.default_rng(self.rng.getrandbits(32))
            places = r.integers(0, array.size, max(array.size // 20, 1))
            array.reshape(-1)[places] = r.choice([np.nan, np.inf, -np.inf, -0.0], places.size)
        self.arrays[name] = array
        self.inputs.append(name)
        self.made.append(name)
        return name

    def fresh(
        self,
        dtype: str,
        shape: Sequence[int],
        low: float | None = None,
        high: float | None = None,
        constant: bool | None = None,
    ) -> str:
        """A new input or constant."""
        if constant is None:
            constant = self.rng.random() < 0.45
        array = self.array(dtype, shape, low, high)
        return self.weight(array) if constant else self.input(array)

    def some(
        self,
        kinds: Sequence[str] | None = None,
        rank: tuple[int, int] = (0, 5),
        fits: Callable[[Array], bool] = lambda x: True,
        new: float = 0.25,
        shape: Callable[[], Sequence[int]] | None = None,
    ) -> str:
        """A value of one of the dtypes `kinds`, this model's floats by default, and of a rank in `rank`."""
        wanted = kinds or self.floats
        known = [
            n
            for n in self.made
            if self.arrays[n].dtype.name in wanted
            and rank[0] <= self.arrays[n].ndim <= rank[1]
            and fits(self.arrays[n])
        ]
        if known and self.rng.random() >= new:
            return self.rng.choice(known[-6:] if self.rng.random() < 0.7 else known)
        for _ in range(20):
            dtype = self.setting.dtype if self.setting.dtype in wanted else self.rng.choice(wanted)
            lengths = shape() if shape else self.shape(self.rng.randint(*rank))
            array = self.array(dtype, lengths)
            if fits(array):
                return self.input(array)
        raise Rejected("no value fits")

    @property
    def floats(self) -> tuple[str, ...]:
        return (self.setting.dtype,)

    def shape(self, rank: int, most: int | None = None) -> tuple[int, ...]:
        """Random lengths, seldom with a zero."""
        most = most or self.setting.most
        while True:
            lengths = [self.length() for _ in range(rank)]
            if rank and self.rng.random() < 0.01:
                lengths[self.rng.randrange(rank)] = 0
            if math.prod(lengths) <= most:
                return tuple(lengths)

    def length(self, most: int = 64) -> int:
        if self.setting.most > MOST and most >= LENGTHS[-1] and self.chance(0.2):
            return self.rng.choice(LONG)
        return self.rng.choice([n for n in LENGTHS if n <= most])

    def partner(self, name: str, kinds: Sequence[str] | None = None, **limits: Any) -> str:
        """A value that broadcasts with another of the same dtype."""
        x = self.arrays[name]
        kinds = kinds or (x.dtype.name,)

        def fits(y: Array) -> bool:
            try:
                return math.prod(np.broadcast_shapes(x.shape, y.shape)) <= self.setting.most
            except ValueError:
                return False

        if not limits and self.rng.random() < 0.5:
            known = [n for n in self.made if self.arrays[n].dtype.name in kinds and fits(self.arrays[n])]
            if known:
                return self.rng.choice(known)
        return self.fresh(self.rng.choice(kinds), self.narrowed(x.shape), **limits)

    def narrowed(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape that broadcasts to `shape`: some lengths 1, the first ones left out, or as it is."""
        draw = self.rng.random()
        if draw < 0.35:
            return tuple(shape)
        if draw < 0.45:
            return ()
        kept = self.rng.randint(0, len(shape))
        return tuple(1 if self.rng.random() < 0.35 else n for n in shape[len(shape) - kept :])

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    # Nodes

    def node(self, op: str, inputs: Sequence[str], outputs: int = 1, domain: str = "", **attrs: Any) -> str:
        """The first output of a node; Rejected where onnxruntime does not run it."""
        return self.nodes_of(op, inputs, outputs, domain, **attrs)[0]

    def nodes_of(self, op: str, inputs: Sequence[str], outputs: int = 1, domain: str = "", **attrs: Any) -> list[str]:
        """All outputs of a node."""
        names = [self.name() for _ in range(outputs)]
        given = {k: v for k, v in attrs.items() if v is not None and v != []}
        node = helper.make_node(op, list(inputs), names, domain=domain, **given)
        self.add(node)
        return names

    def add(self, node: onnx.NodeProto) -> None:
        """Runs the node and keeps what it makes."""
        if self.setting.special and "Quantize" in node.op_type:
            raise Rejected("nothing says which byte NaN is")
        arrays = self._run(node)
        for name, x in arrays.items():
            self._check(x)
            self.arrays[name] = x
        self.nodes.append(node)
        self.made += arrays

    def _check(self, x: Array) -> None:
        if x.size > 3 * self.setting.most or x.ndim > 6:
            raise Rejected("its result is large")
        if x.dtype.kind == "f" and x.size and not self.setting.special:
            if not np.isfinite(x).all():
                raise Rejected("its result is not finite")
            if np.abs(x.astype(np.float64)).max() > LARGEST:
                raise Rejected("its result is large")

    def _run(self, node: onnx.NodeProto) -> dict[str, Array]:
        """The outputs by onnxruntime."""
        read = [n for n in dict.fromkeys(reads(node)) if n in self.arrays]
        graph = helper.make_graph(
            [node],
            "node",
            [typed(n, self.arrays[n]) for n in read if n not in self.weights],
            [onnx.ValueInfoProto(name=n) for n in node.output if n],
            [numpy_helper.from_array(self.arrays[n], n) for n in read if n in self.weights],
        )
        try:
            session = plain_session(model_of(graph, self.setting.opset).SerializeToString(), 1)
            found = session.run(None, {n: self.arrays[n] for n in read if n not in self.weights})
        except Exception as e:  # onnxruntime's own exceptions share no base
            raise Rejected(f"{node.op_type}: {e}") from None
        if not all(isinstance(x, np.ndarray) for x in found):
            raise Rejected("its result is no array")
        return dict(zip((n for n in node.output if n), map(np.asarray, found), strict=True))


def reads(node: onnx.NodeProto) -> list[str]:
    """The names that a node reads, in its bodies too."""
    names = [n for n in node.input if n]
    for a in node.attribute:
        for inner in a.g.node if a.HasField("g") else ():
            names += reads(inner)
        if a.HasField("g"):
            names += [o.name for o in a.g.output]
    return names


def typed(name: str, array: Array, named: bool = False) -> onnx.ValueInfoProto:
    """An input or output of that name; `named`: lengths above one are symbols."""
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    shape = [f"n{n}" if named and n > 1 else n for n in array.shape]
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(graph: onnx.GraphProto, opset: int) -> onnx.ModelProto:
    """A model with that graph."""
    domains = {own_domain(n.domain) for n in graph.node} - {""}
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in sorted(domains))]
    return helper.make_model(graph, opset_imports=imports, ir_version=8 if opset < 21 else IR_VERSION)
