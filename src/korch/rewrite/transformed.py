"""What chains in the place of a primitive are put together with: operands on the way, products, what follows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from korch.ir.constants import Derived
from korch.ir.graph import Graph
from korch.ir.ops.table import Array, op_named
from korch.ir.primitive import APPROXIMATE, Primitive, freeze
from korch.ir.tensor import Tensor
from korch.rewrite.names import names_of, new_name


@dataclass
class Transformed:
    """What the rewrite called `rule` adds to `graph`, with so much of an `error`."""

    graph: Graph
    rule: str
    error: str = APPROXIMATE
    added: list[Primitive] = field(default_factory=list[Primitive])
    constants: dict[str, Derived] = field(default_factory=dict[str, Derived])
    _made: dict[tuple[object, ...], Tensor] = field(default_factory=dict[tuple[object, ...], Tensor])
    _taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._taken = names_of(self.graph)

    @property
    def result(self) -> Graph:
        """The graph with all that was added."""
        return self.graph.add(self.added, self.constants)

    def add(self, p: Primitive, op: str, inputs: tuple[Tensor, ...], output: str | Tensor, **attrs: object) -> Tensor:
        """The output of a new primitive, a new tensor of that name or the one given; it comes from where `p` does."""
        if isinstance(output, str):
            output = Tensor(new_name(output, self._taken), *op_named(op).infer(inputs, dict(attrs)))
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
            number = sum(q.spec.is_product for q in self.added)
            self._made[a, b] = self.add(p, "MatMul", (a, b), f"{p.output.name}_{form}_{number}")
        return self._made[a, b]

    def given(self, name: str, value: Array) -> Tensor:
        """A new constant."""
        number = value.item() if value.size == 1 else None
        t = Tensor(new_name(name, self._taken), value.dtype.name, value.shape, True, number)
        self.constants[t.name] = Derived(lambda: value)
        return t

    def constant(self, w: Tensor, form: str, shape: tuple[int, ...], made: Callable[[Array], Array]) -> Tensor:
        """`made` of the constant w, of that shape, computed when it is asked for: one for all that take this `form`."""
        if (w, form) not in self._made:
            t = Tensor(new_name(f"{w.name}_{form}", self._taken), w.dtype, shape, True)
            self.constants[t.name] = Derived(lambda: made(self.graph.constants[w.name]))
            self._made[w, form] = t
        return self._made[w, form]
