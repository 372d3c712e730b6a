"""The meaning of each row of the program, as data: a row is found again by its key, and searched by its kind.

Tensors may have any name, so a key is compared and never read as text; `str` of a key is for people.
"""

from __future__ import annotations

from dataclasses import dataclass

EdgeChoice = tuple[str, bool] | None
"""Of a producer: one of its input classes, and whether the walk goes on there; None for the producer itself."""


@dataclass(frozen=True, slots=True)
class Output:
    """Some kernel makes the graph output `tensor`."""

    tensor: str

    def __str__(self) -> str:
        return f"output {self.tensor}"


@dataclass(frozen=True, slots=True)
class Once:
    """One kernel at most makes `tensor`."""

    tensor: str

    def __str__(self) -> str:
        return f"once {self.tensor}"


@dataclass(frozen=True, slots=True)
class Dependency:
    """Where a kernel that makes `made` reads `read`, some kernel makes `read`."""

    made: str
    read: str

    def __str__(self) -> str:
        return f"dependency {self.made} <- {self.read}"


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a kernel that makes `made` reads a tensor of the class `of`, some kernel enters that class."""

    made: str
    of: str

    def __str__(self) -> str:
        return f"entry {self.made} <- {self.of}"


@dataclass(frozen=True, slots=True)
class OutputError:
    """The error of the graph output `tensor` stays within its budget."""

    tensor: str

    def __str__(self) -> str:
        return f"error {self.tensor}"


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge row (`rows.edge_row`) of the class `of`, by the choice at each producer on the way, by primitive."""

    of: str
    choices: tuple[tuple[int, EdgeChoice], ...]

    def __str__(self) -> str:
        stops = {str(q) if choice is None else choice[0] for q, choice in self.choices if not choice or not choice[1]}
        return f"edge {self.of} <- {','.join(sorted(stops))}"


@dataclass(frozen=True, slots=True)
class FirstOfCycle:
    """Where `made` is made, some kernel makes a tensor of `passed` and reads none (`cycles.py`)."""

    made: str
    passed: frozenset[str]

    def __str__(self) -> str:
        return f"cycle {self.made} of {','.join(sorted(self.passed))}"


@dataclass(frozen=True, slots=True)
class NotTogether:
    """Not all of the candidates `ids` run, unless another one makes what they wait for (`cycles.py`)."""

    ids: frozenset[int]

    def __str__(self) -> str:
        return f"not together {','.join(map(str, sorted(self.ids)))}"


RowKey = Output | Once | Dependency | Entry | OutputError | Edge | FirstOfCycle | NotTogether
