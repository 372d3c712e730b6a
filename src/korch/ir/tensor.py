"""A tensor: one value of the graph."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Tensor:
    """One value: its name (unique in a graph), numpy dtype name and static shape.

    `const` marks a constant of the graph (weights, folded arithmetic). `value` is set for constants of one
    element, so that rules, patterns and generated code can see the number.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    const: bool = False
    value: float | int | bool | None = None

    def __hash__(self) -> int:
        """Of what tells most tensors apart: tensors and primitives are looked up by the million."""
        return hash((self.name, self.shape))

    @property
    def title(self) -> str:
        """The name as reports and comments in generated code have it."""
        return printable(self.name)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of a dense copy."""
        return self.size * np.dtype(self.dtype).itemsize

    @property
    def is_float(self) -> bool:
        return self.dtype in ("float16", "float32", "float64")

    def __str__(self) -> str:
        return f"{self.title}: {type_text(self.dtype, self.shape)}"


def printable(text: str) -> str:
    """The text fit for a comment: a model may put a line end into a name, and code after that, or a backslash at its
    end, which joins a comment of C with the next line."""
    if text.isprintable() and "\\" not in text:
        return text
    return "".join(c if c.isprintable() and c != "\\" else "?" for c in text)


_SHORT = {"float16": "f16", "float32": "f32", "float64": "f64", "bool": "b8"}


def type_text(dtype: str, shape: tuple[int, ...]) -> str:
    """A type as texts of Korch show it.

    >>> type_text("float32", (1, 64, 104, 104))
    'f32[1,64,104,104]'
    >>> type_text("uint8", ())
    'u8[]'
    """
    short = _SHORT.get(dtype, dtype.replace("uint", "u").replace("int", "i"))
    return f"{short}[{','.join(map(str, shape))}]"
