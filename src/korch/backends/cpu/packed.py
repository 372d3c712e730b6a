"""The end of a function that packs constants into a kernel's state, and the function that frees the state.

Models of one process that pack equal bytes hold them once (see `korch_pack` in `korch_rt.h`).
"""

from __future__ import annotations

from korch.backends.cpu.c.tree import free_function

FREE_PACKED = free_function(("korch_unpack(state);",))


def packed(size: int | str) -> str:
    """Ends the function that makes a state, all of whose `size` bytes are written and stay as they are."""
    return f"return korch_pack(state, {size});"
