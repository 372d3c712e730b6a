"""A process that answers with what it is asked, hangs (and makes a file then), dies, or says its last word."""

from __future__ import annotations

import os
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path

from korch.profile.answering import answering
from korch.profile.results import Failed, Last


def answer(task: str) -> object:
    if task.startswith("hang"):
        for file in task.split()[1:]:
            Path(file).touch()
        time.sleep(3600)
    if task == "starve":
        raise MemoryError
    if task == "die":
        print("dying", file=sys.stderr, flush=True)
        os._exit(3)
    return Last(Failed("lost")) if task == "lose" else (task, os.getpid())


if __name__ == "__main__":
    answering(Connection(int(sys.argv[1])), lambda: answer)
