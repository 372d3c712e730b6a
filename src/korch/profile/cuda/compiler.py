"""A process that compiles: `python -m korch.profile.cuda.compiler <pipe>`. Compiling needs no device."""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection

from korch.backends.cuda.triton.compile import CompiledLaunch, compile_kernel
from korch.errors import BackendError
from korch.profile.answering import answering
from korch.profile.cuda.tasks import Compile
from korch.profile.fault import failure_of
from korch.profile.results import Failed


def answer(task: Compile) -> tuple[CompiledLaunch, ...] | Failed:
    """The binaries of a kernel's launches, or why there are none."""
    try:
        return compile_kernel(task.kernel, task.capability)
    except (BackendError, ArithmeticError, ValueError, RuntimeError, MemoryError) as e:
        return failure_of(e)


if __name__ == "__main__":
    answering(Connection(int(sys.argv[1])), lambda: answer)
