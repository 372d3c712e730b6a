"""Statements in the order in which a generator writes them; blocks close themselves."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from korch.backends.cpu.c.tree import Block, Statement


@dataclass(eq=False)
class Statements:
    """The body of a function, so far. `steals`: whether a loop's threads take turns from each other."""

    items: list[Statement] = field(default_factory=list[Statement])
    steals: bool = False

    def add(self, *statements: Statement) -> None:
        """Adds statements to the innermost open block."""
        self.items += statements

    @contextmanager
    def block(self, head: str = "") -> Generator[None]:
        """A block for what is added within."""
        outer, self.items = self.items, []
        try:
            yield
        finally:
            outer.append(Block(head, tuple(self.items)))
            self.items = outer

    @contextmanager
    def nest(self, heads: Iterable[str]) -> Generator[None]:
        """Blocks within each other, outermost first, for what is added within."""
        with ExitStack() as blocks:
            for head in heads:
                blocks.enter_context(self.block(head))
            yield

    @property
    def body(self) -> tuple[Statement, ...]:
        """All statements, where every block is closed."""
        return tuple(self.items)
