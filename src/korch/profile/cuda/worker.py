"""The process that has a GPU: `python -m korch.profile.cuda.worker <pipe> <number> <bytes of cache>`.

It answers each task with a result; when a kernel hangs, or breaks the device's context, its parent starts another.
"""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection

from korch.profile.answering import answering
from korch.profile.cuda.torch_board import TorchBoard
from korch.profile.cuda.trial import Trial


def main(pipe: int, ordinal: int, cache: int) -> None:
    answering(Connection(pipe), lambda: Trial(TorchBoard(ordinal, cache)).answer)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
