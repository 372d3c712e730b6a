"""A process that answers with what it is asked, hangs (and makes a file then), dies, or says its last word."""

from __future__ import annotations

import os
import struct
import sys
import time
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Thread

from korch.profile.answering import answering
from korch.profile.results import Failed, Last

TEAM = 8


def _spin() -> None:
    while True:
        sum(range(1000))


def answer(task: str) -> object:
    if task.startswith("hang"):
        for file in task.split()[1:]:
            Path(file).touch()
        time.sleep(3600)
    if task.startswith("signal"):
        os.kill(os.getpid(), int(task.split()[1]))
    if task == "half":
        os.write(int(sys.argv[1]), struct.pack("!i", 1000) + b"half")
        time.sleep(3600)
    if task == "team":
        for _ in range(TEAM):
            Thread(target=_spin, daemon=True).start()
        time.sleep(3600)
    if task == "spin":
        _spin()
    if task == "starve":
        raise MemoryError
    if task == "die":
        print("dying", file=sys.stderr, flush=True)
        os._exit(3)
    return Last(Failed("lost")) if task == "lose" else (task, os.getpid())


if __name__ == "__main__":
    answering(Connection(int(sys.argv[1])), lambda: answer)
