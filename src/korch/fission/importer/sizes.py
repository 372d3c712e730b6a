"""How large the tensors are that a model declares, before any is made."""

from __future__ import annotations

import math
from collections.abc import Sequence

from onnx import helper

from korch.errors import ModelError


def dense_bytes(name: str, element: int, shape: Sequence[int]) -> int:
    """The most bytes that initializer `name` takes, of an element type of ONNX; ModelError where there is no such type
    or shape."""
    if any(n < 0 for n in shape):
        raise ModelError(f"initializer {name!r} is malformed: its shape {list(shape)} has a negative length")
    try:
        return math.prod(shape) * helper.tensor_dtype_to_np_dtype(element).itemsize
    except (KeyError, TypeError):
        raise ModelError(f"initializer {name!r} is malformed: its element type {element} is unknown") from None
