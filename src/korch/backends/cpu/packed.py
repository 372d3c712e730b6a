"""The end of a function that packs constants into a kernel's state, and the function that frees the state.

Models of one process that pack equal bytes hold them once (see `korch_pack` in `korch_rt.h`).
"""

from __future__ import annotations

FREE = "static void KERNEL_free(void *state) { korch_unpack(state); }"


def packed(size: int | str) -> str:
    """Returns from KERNEL_init with the state, all of whose `size` bytes are written and stay as they are."""
    return f"return korch_pack(state, {size});"
