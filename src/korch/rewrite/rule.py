"""Algebraic rules: each says of one primitive what else its output equals."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from korch.ir.primitive import REASSOCIATED, Primitive
from korch.ir.tensor import Tensor
from korch.rewrite.space import Space

RuleFunction = Callable[[Space, Primitive], Iterable[Tensor | None]]


@dataclass(frozen=True)
class Rule:
    """`fn(space, p)` gives tensors, built in `space`, of the value of `p.output`; None where a form has no primitive.

    What a rule with `pays` gives is kept because the rule says so; of all else, what `estimate` says is cheaper.
    """

    name: str
    fn: RuleFunction
    pays: bool = False
    counts: bool = True
    """Whether what it adds counts as growth of the graph; what can only make a layer cheaper need not."""
    error: str = REASSOCIATED
    laws: tuple[str, ...] = ()
    """Those it applies, as `korch rules discover` writes them."""
    proved: bool = True
    """Whether it looks at all it needs; what is not proved may break on values that are out of the ordinary."""

    def __call__(self, space: Space, p: Primitive) -> list[Tensor]:
        """The equal tensors, stamped with this rule's name."""
        with space.stamped(self.name, p.origin, self.error):
            return [t for t in self.fn(space, p) if t is not None]


RULES: dict[str, Rule] = {}


def algebra(
    pays: bool = False,
    *,
    counts: bool = True,
    error: str = REASSOCIATED,
    laws: tuple[str, ...] = (),
    proved: bool = True,
) -> Callable[[RuleFunction], Rule]:
    """Enters a function into the table of algebraic rules."""

    def enter(fn: RuleFunction) -> Rule:
        RULES[fn.__name__] = Rule(fn.__name__, fn, pays, counts, error, laws, proved)
        return RULES[fn.__name__]

    return enter
