"""The process in which programs run: `python -m fuzzing.worker <pipe>` answers tasks."""

from __future__ import annotations

import sys
from multiprocessing.connection import Connection

from fuzzing.tasks import answer
from korch.profile.answering import answering

if __name__ == "__main__":
    answering(Connection(int(sys.argv[1])), lambda: answer)
