"""The loop of a process that answers its parent's questions."""

from __future__ import annotations

import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from threading import Thread
from typing import Any


def answering(connection: Connection, start: Callable[[], Callable[[Any], object]]) -> None:
    """Answers by what `start` makes, until the parent has no more questions."""
    Thread(target=_end_with_parent, daemon=True).start()
    answer = start()
    connection.send("ready")
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        connection.send(answer(task))


def _end_with_parent() -> None:
    """Standard input ends when the parent does; so does this process, whatever a kernel is doing."""
    os.read(0, 1)
    os._exit(1)
