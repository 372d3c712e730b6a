"""A process that measures on a GPU: `python -m korch.profile.cuda.worker <pipe> <number> <bytes of cache> <lock>`.

It answers each task with a result, and holds the lock while the GPU is at work; when a kernel hangs, or breaks the
device's context, its parent starts another.
"""

from __future__ import annotations

import sys
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from korch.profile.answering import answering
from korch.profile.cuda.torch_board import TorchBoard
from korch.profile.cuda.trial import PATIENCE, KernelTrials
from korch.system.locks import locked


def main(pipe: int, ordinal: int, cache: int, lock: Path) -> None:
    answering(
        Connection(pipe),
        lambda: KernelTrials(TorchBoard(ordinal, cache), partial(locked, lock, patience=PATIENCE + 1)).answer,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
