"""The machine's own pace beside the runtimes: multiply-adds that wait for nothing, in a process like theirs.

`python -m korch.report.pace` answers `serving`'s questions `load` and `block`, the latter with operations a second, in
units of 1e9, of all threads in each window of a few tenths of a millisecond. On a machine that others use too, the
peak of a good moment says little of a run in a bad one.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping
from typing import Any

from korch.backends.toolchain import find_toolchain
from korch.profile.database import Database
from korch.profile.timing import load, timing_library
from korch.report.serving import answer_questions
from korch.system.processes import work_folder

STEPS = 100_000  # of twelve chains of vectors


def serve() -> None:
    """Answers until stdin ends."""
    loaded: list[ctypes.CDLL] = []

    def start(_: Mapping[str, Any]) -> None:
        with Database() as database, work_folder("korch-pace-") as folder:
            library = load(timing_library(database, find_toolchain(), folder))
        library.korch_peak.restype = ctypes.c_double
        loaded[:] = [library]

    answer_questions({"load": start, "block": lambda question: _rates(loaded[0], question["seconds"])})


def _rates(library: ctypes.CDLL, seconds: float) -> list[float]:
    """The first window, which finds sleeping threads, is not among them."""
    end = time.perf_counter() + seconds
    library.korch_peak(ctypes.c_long(STEPS), 1)
    rates: list[float] = []
    while not rates or time.perf_counter() < end:
        rates.append(library.korch_peak(ctypes.c_long(STEPS), 1) / 1e9)
    return rates


if __name__ == "__main__":
    serve()
