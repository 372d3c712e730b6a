"""Whether a program on a device gives the same bits for the same input, run after run."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from korch.executable.runtime import Executable
from korch.ir.ops.table import Array

REPLAYS = 100


def changed_bits(
    executable: Executable, one: Mapping[str, Array], other: Mapping[str, Array], replays: int = REPLAYS
) -> str:
    """The first difference in one line, empty where there is none. Two inputs alternate, so that a kernel that reads
    something of the run before, or that nobody has written, is seen."""
    feeds = (one, other)
    expected = [executable.run(own) for own in feeds]
    for k in range(replays):
        found = executable.run(feeds[k % 2])
        for name, y in expected[k % 2].items():
            if y.tobytes() != np.ascontiguousarray(found[name]).tobytes():
                return f"replay {k + 1} gives output {name!r} other bits than the first run of the same input"
    return ""
