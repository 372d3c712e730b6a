"""The process that makes specialisations in the background.

`python -m korch.session.worker PARENT FLAG`: reads requests from stdin, a line of JSON each, and writes the outcome of
each as a line to stdout before it reads the next. It runs at a low priority, rests while the file FLAG exists, and ends
with all that it has started when the process PARENT is gone.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from korch.options import Options
from korch.session.making import Request, make
from korch.system.throttle import follow

NICENESS = 5
"""A third of a normal weight. Rests keep calls quick (see `throttle.py`); at the lowest priority nothing would
ever be made beside a server that keeps all processors busy."""
WATCH_SECONDS = 0.5
"""Between two looks at whether the parent lives."""


def request_from_json(d: dict[str, Any]) -> Request:
    options = d.pop("options")
    options["shapes"] = {name: tuple(shape) for name, shape in options["shapes"].items()}
    return Request(**d, options=Options(**options))


def _end_with(parent: int) -> None:
    """Kills this process's group once the parent is gone. (Its death cannot be read from a pipe: its forks hold the
    other end.)"""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main() -> None:
    threading.Thread(target=_end_with, args=(int(sys.argv[1]),), daemon=True).start()
    with suppress(OSError):
        os.nice(NICENESS)
    follow(Path(sys.argv[2]))
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print, too
    for line in sys.stdin:
        print(make(request_from_json(json.loads(line))).to_json(), file=answers, flush=True)


if __name__ == "__main__":
    main()
