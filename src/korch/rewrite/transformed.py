"""What chains in the place of a primitive are put together with: operands on the way, products, what follows them."""

from __future__ import annotations

from dataclasses import dataclass, field

from korch.ir.constants import Derived
from korch.ir.graph import Graph
from korch.ir.ops.table import op_named
from korch.ir.primitive import APPROXIMATE, Primitive, freeze
from korch.ir.tensor import Tensor


@dataclass
class Transformed:
    """What the rewrite called `rule` adds to `graph`, with so much of an `error`."""

    graph: Graph
    rule: str
    error: str = APPROXIMATE
    added: list[Primitive] = field(default_factory=list)
    constants: dict[str, Derived] = field(default_factory=dict)
    _made: dict[tuple[object, ...], Tensor] = field(default_factory=dict)

    @property
    def result(self) -> Graph:
        """The graph with all that was added."""
        return self.graph.add(self.added, self.constants)

    def add(self, p: Primitive, op: str, inputs: tuple[Tensor, ...], output: str | Tensor, **attrs: object) -> Tensor:
        """The output of a new primitive, by name or as it is; it comes from where `p` does."""
        if isinstance(output, str):
            output = Tensor(output, *op_named(op).infer(inputs, dict(attrs)))
        self.added.append(Primitive(op, inputs, output, freeze(dict(attrs)), self.error, p.origin, self.rule))
        return output

    def operand(self, p: Primitive, op: str, x: Tensor, name: str, **attrs: object) -> Tensor:
        """`op` of x on the way to p's output: one tensor for all that take the same."""
        key = (op, x, *attrs.items())
        if key not in self._made:
            self._made[key] = self.add(p, op, (x,), name, **attrs)
        return self._made[key]

    def product(self, p: Primitive, a: Tensor, b: Tensor, form: str) -> Tensor:
        """a b, a tensor for each pair of operands: two ways to compute p's output need not have one product."""
        if (a, b) not in self._made:
            number = sum(q.op == "MatMul" for q in self.added)
            self._made[a, b] = self.add(p, "MatMul", (a, b), f"{p.output.name}_{form}_{number}")
        return self._made[a, b]
