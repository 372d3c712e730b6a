"""A primitive: the smallest piece of computation that a kernel may hold (paper section 3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from korch.ir.ops.table import Category, Op, op_named
from korch.ir.tensor import Tensor, type_text

EXACT = "exact"
REASSOCIATED = "reassociated"
APPROXIMATE = "approximate"
ERROR_CLASSES = (EXACT, REASSOCIATED, APPROXIMATE)

Attrs = tuple[tuple[str, Any], ...]


def freeze(attrs: dict[str, Any]) -> Attrs:
    """Attributes as a sorted, hashable tuple; lists become tuples."""
    return tuple(sorted((k, tuple(cast("list[Any]", v)) if isinstance(v, list) else v) for k, v in attrs.items()))


@dataclass(frozen=True, slots=True)
class Primitive:
    """Computes exactly one tensor, `output`, from `inputs`.

    `error` is the class of rounding difference against the model as written; `origin` names the operator of
    the model it came from and `rule` the rule that added it (neither takes part in comparisons).
    """

    op: str
    inputs: tuple[Tensor, ...]
    output: Tensor
    attrs: Attrs = ()
    error: str = EXACT
    origin: str = field(default="", compare=False)
    rule: str = field(default="", compare=False)

    def __hash__(self) -> int:
        """Of what tells most primitives apart."""
        return hash((self.op, self.output))

    @property
    def spec(self) -> Op:
        return op_named(self.op)

    @property
    def category(self) -> Category:
        return self.spec.category

    @property
    def intensive(self) -> bool:
        """Whether it heads a kernel: linear, but for interpolation, which is sparse and fuses with anything."""
        return self.category is Category.LINEAR and not self.spec.interpolates

    def attr(self, name: str) -> Any:
        """The attribute `name`; KeyError where the primitive has none."""
        for key, value in self.attrs:
            if key == name:
                return value
        raise KeyError(f"{self.op} has no attribute {name!r}")

    def __str__(self) -> str:
        return "".join(w if isinstance(w, str) else w.title for w in self.words())

    def words(self) -> Iterator[str | Tensor]:
        """Its text in pieces, tensors where their titles stand."""
        yield self.output
        yield f" = {_snake(self.op)}("
        args: list[str | Tensor] = [repr(t.value) if t.value is not None else t for t in self.inputs]
        args += [f"{k}={_short(v)}" for k, v in self.attrs]
        for number, arg in enumerate(args):
            yield from (", ", arg) if number else (arg,)
        yield f")  # {type_text(self.output.dtype, self.output.shape)}"


def show(primitives: Iterable[Primitive]) -> str:
    """The primitives as text that reads like Python, one a line.

    >>> from korch.ir import Builder
    >>> b = Builder()
    >>> y = b.op("ReduceSum", b.input("x", "float32", (2, 3)) * 2.0, axes=(1,), keepdims=0)
    >>> print(show(b.graph([("y", y)]).primitives))
    t2 = mul(x, 2.0)  # f32[2,3]
    t3 = reduce_sum(t2, axes=(1,), keepdims=0)  # f32[2]
    """
    return "\n".join(map(str, primitives))


def _short(value: Any) -> str:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    text = repr(value)
    return text if len(text) <= 48 else f"<{len(value)} values>"


def _snake(name: str) -> str:
    return "".join(
        f"_{c.lower()}" if c.isupper() and i and not name[i - 1].isupper() else c.lower() for i, c in enumerate(name)
    )
