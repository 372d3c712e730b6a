"""Builds primitive graphs: folds constants, shares equal subexpressions, drops steps that do nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from korch.ir.constants import GROWS, SMALL, Constants, Derived, Folded, source_bytes
from korch.ir.evaluate import evaluate_primitive
from korch.ir.graph import Graph, select
from korch.ir.ops.table import Array, op_named
from korch.ir.primitive import EXACT, Attrs, Primitive, freeze
from korch.ir.tensor import Tensor
from korch.limits import Allowance, check_tensor


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor inside a builder, with Python's operators; what fission rules compute with."""

    builder: Builder
    tensor: Tensor

    @property
    def shape(self) -> tuple[int, ...]:
        return self.tensor.shape

    @property
    def rank(self) -> int:
        return self.tensor.rank

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    @property
    def array(self) -> Array | None:
        """The value, where it is a constant."""
        return self.builder.constants.get(self.tensor.name) if self.tensor.const else None

    def __add__(self, other: Value | float) -> Value:
        return self.builder.op("Add", self, other)

    def __radd__(self, other: float) -> Value:
        return self.builder.op("Add", self, other)

    def __sub__(self, other: Value | float) -> Value:
        return self.builder.op("Sub", self, other)

    def __rsub__(self, other: float) -> Value:
        return self.builder.op("Sub", other, self)

    def __mul__(self, other: Value | float) -> Value:
        return self.builder.op("Mul", self, other)

    def __rmul__(self, other: float) -> Value:
        return self.builder.op("Mul", self, other)

    def __truediv__(self, other: Value | float) -> Value:
        return self.builder.op("Div", self, other)

    def __rtruediv__(self, other: float) -> Value:
        return self.builder.op("Div", other, self)

    def __neg__(self) -> Value:
        return self.builder.op("Neg", self)

    def __matmul__(self, other: Value) -> Value:
        return self.builder.op("MatMul", self, other)


class Builder:
    """Collects primitives. `origin` and `error` are stamped on what is added while they are set. With an `allowance`,
    as a model from a stranger gets it, tensors and constants that are larger are refused before they are made."""

    def __init__(self, name: str = "graph", prefix: str = "t", allowance: Allowance | None = None) -> None:
        self.allowance = allowance
        self.name = name
        self.prefix = prefix
        self.origin = ""
        self.rule = ""
        self.error = EXACT
        self.inputs: list[Tensor] = []
        self.constants = Constants()
        self.primitives: list[Primitive] = []
        self.made: dict[Tensor, Primitive] = {}
        self._known: dict[tuple[str, tuple[Tensor, ...], Attrs], Tensor] = {}
        self._constant_of: dict[tuple[str, tuple[int, ...], bytes], Tensor] = {}
        self._taken: set[str] = set()

    def input(self, name: str, dtype: str, shape: Sequence[int]) -> Value:
        """A new input of the graph."""
        t = Tensor(name, dtype, tuple(shape))
        self.inputs.append(t)
        self._taken.add(name)
        return Value(self, t)

    def reserve(self, names: Iterable[str]) -> None:
        """Keeps names (of the model's outputs) from being given to other tensors."""
        self._taken.update(names)

    def constant(self, value: Any, dtype: str | None = None, name: str | None = None) -> Value:
        """A constant; equal small ones are shared."""
        x = np.ascontiguousarray(np.asarray(value, dtype=dtype)).reshape(np.shape(value))
        key = (
            (x.dtype.name, x.shape, x.tobytes())
            if x.size <= 4096
            else (x.dtype.name, x.shape, bytes(str(id(value)), "ascii"))
        )
        if key in self._constant_of and x.size <= 4096:
            return Value(self, self._constant_of[key])
        literal = x.reshape(-1)[0].item() if x.size == 1 and x.dtype.kind in "fiub" else None
        t = Tensor(self._fresh(name or "c"), x.dtype.name, x.shape, True, literal)
        self.constants[t.name] = x
        if x.size <= 4096:
            self._constant_of[key] = t
        return Value(self, t)

    def op(self, op: str, *inputs: Value | float | int | bool, **attrs: Any) -> Value:
        """Adds a primitive (or finds the equal one, or its constant value) and returns its output.

        Python numbers become constants of the dtype of the first operand that is not bool.
        """
        operands = self._operands(inputs)
        frozen = freeze(attrs)
        same = nothing_to_do(op, operands, dict(frozen))
        if same is not None:
            return Value(self, same)
        dtype, shape = op_named(op).infer(operands, dict(frozen))
        known = self._known.get((op, operands, frozen))
        if known is not None:
            return Value(self, known)
        if all(t.const for t in operands) and op != "Opaque":
            self.check_constant(shape, dtype)
            return self._fold(op, operands, frozen, dtype, shape)
        output = Tensor(self._fresh(self.prefix), dtype, tuple(shape))
        if self.allowance:
            check_tensor(output.nbytes, self.origin or op)
        p = Primitive(
            op,
            operands,
            output,
            frozen,
            self.error,
            self.origin,
            self.rule,
        )
        return Value(self, self.append(p))

    def check_constant(self, shape: Sequence[int], dtype: str = "int64") -> None:
        """Counts a constant that is about to be computed; ModelError where the model may have no such."""
        if self.allowance:
            self.allowance.compute(Tensor("", dtype, tuple(shape)).nbytes, self.origin or "a constant")

    def positions(self, n: int) -> Array:
        """0 to n - 1, for a rule to make a constant of."""
        self.check_constant((n,))
        return np.arange(n)

    def filled(self, shape: Sequence[int], number: float | bool, dtype: str) -> Value:
        """The constant with `number` everywhere."""
        return self.op("Expand", self.constant(number, dtype), shape=tuple(shape))

    def append(self, p: Primitive) -> Tensor:
        """Adds a finished primitive."""
        self._taken.add(p.output.name)
        self.primitives.append(p)
        self.made.setdefault(p.output, p)
        self._known[(p.op, p.inputs, p.attrs)] = p.output
        return p.output

    def producer(self, v: Value) -> Primitive | None:
        """What computes `v`; None for inputs and constants."""
        return self.made.get(v.tensor)

    def graph(self, outputs: Sequence[tuple[str, Value]]) -> Graph:
        """The graph of what `outputs` (name, value) need."""
        ends = tuple(v.tensor for _, v in outputs)
        whole = Graph(self.name, tuple(self.inputs), ends, tuple(n for n, _ in outputs), (), {})
        primitives = select(whole, self.made)
        used = {t.name for p in primitives for t in p.inputs if t.const} | {t.name for t in ends if t.const}
        return Graph(self.name, whole.inputs, ends, whole.output_names, primitives, self.constants.only(used))

    def _operands(self, inputs: Sequence[Value | float | int | bool]) -> tuple[Tensor, ...]:
        dtypes = [v.dtype for v in inputs if isinstance(v, Value)]
        dtype = next((d for d in dtypes if d != "bool"), dtypes[0])  # the condition of a Where says nothing
        return tuple(v.tensor if isinstance(v, Value) else self.constant(v, dtype).tensor for v in inputs)

    def _fold(self, op: str, inputs: tuple[Tensor, ...], attrs: Attrs, dtype: str, shape: tuple[int, ...]) -> Value:
        """Folds in float64 and rounds once: now, or, what is several times larger than its sources, when it is read."""
        p = Primitive(op, inputs, Tensor("folded", dtype, tuple(shape)), attrs)
        operands = tuple(self.constants.entry(t.name) for t in inputs)

        def folded() -> Array:
            values = [x.value() if isinstance(x, Derived) else x for x in operands]
            return evaluate_primitive(p, values).astype(dtype)

        sources = sum(map(source_bytes, operands))
        if p.output.nbytes < max(SMALL, GROWS * sources):
            return self.constant(folded())
        made = self.derived(Folded(p, operands, folded, sources), p.output)
        self._known[(op, inputs, attrs)] = made.tensor
        return made

    def derived(self, entry: Derived, like: Tensor, name: str | None = None) -> Value:
        """A constant of the dtype and shape of `like`, computed when it is asked for."""
        t = Tensor(self._fresh(name or "c"), like.dtype, like.shape, True)
        self.constants[t.name] = entry
        return Value(self, t)

    def _fresh(self, stem: str) -> str:
        """A name nobody has yet: the stem itself for named things, numbered for the rest."""
        if stem not in self._taken and stem not in ("c", self.prefix):
            self._taken.add(stem)
            return stem
        number = len(self._taken)
        while f"{stem}{number}" in self._taken:
            number += 1
        self._taken.add(f"{stem}{number}")
        return f"{stem}{number}"


def nothing_to_do(op: str, operands: tuple[Tensor, ...], attrs: dict[str, Any]) -> Tensor | None:
    """The operand that the primitive would only repeat."""
    return op_named(op).idle(operands, attrs)
