"""The process in which damaged files are used: `python -m mutating.worker PIPE KIND FOLDER SEED SECONDS BYTES`.

It is asked for numbers of files, and answers how each ended: `worked`, the class of Korch's error, or `escaped: ` and
the reason.
"""

from __future__ import annotations

import logging
import random
import resource
import signal
import sys
import warnings
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

import korch
from korch.profile.answering import answering
from mutating.kinds import FileKind, kind_at

ESCAPED = "escaped: "


class Slow(BaseException):
    """A file took too long; no `except Exception` takes it."""


def damaged(kind: FileKind, place: str, seed: str, number: int) -> bytes:
    """The file of that number."""
    return kind.make(random.Random(f"{seed} {place} {number}"))


def ending(kind: FileKind, data: bytes, seconds: float) -> str:
    """How the use of a file ended."""
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        kind.use(data)
        return "worked"
    except korch.Error as e:
        return type(e).__name__
    except BaseException as e:
        return f"{ESCAPED}{type(e).__name__}: {str(e)[:200]}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main(pipe: str, place: str, folder: str, seed: str, seconds: str, room: str) -> None:
    def ring(number: int, frame: FrameType | None) -> None:
        raise Slow(f"took {seconds} s")

    signal.signal(signal.SIGALRM, ring)
    kind = kind_at(place, Path(folder))
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + int(room),) * 2)
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")

    def answer(numbers: Sequence[int]) -> list[str]:
        return [ending(kind, damaged(kind, place, seed, i), float(seconds)) for i in numbers]

    answering(Connection(int(pipe)), lambda: answer)


if __name__ == "__main__":
    main(*sys.argv[1:])
