"""One runtime on a GPU in a process of its own: `python -m cuda_peers.serving RUNTIME`, asked as
`korch.report.serving`.

A block's times are those of single runs, from before the start to after the end, inputs and outputs on the device.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from cuda_peers.runtimes import RUNTIMES, Loaded
from korch.report.serving import answer_questions


class Server:
    """Answers questions about one runtime."""

    def __init__(self, runtime: str) -> None:
        self.runtime = runtime
        self.loaded: Loaded | None = None

    def load(self, question: Mapping[str, Any]) -> None:
        feeds = {name: np.load(path) for name, path in question["inputs"].items()}
        subject = question["subject"]
        self.loaded = RUNTIMES[self.runtime](Path(subject["onnx"]), Path(subject["korch"]), feeds)

    def outputs(self, question: Mapping[str, Any]) -> list[str]:
        assert self.loaded
        paths = [str(Path(question["folder"]) / f"{self.runtime}{i}.npy") for i in range(len(self.loaded.outputs()))]
        for path, array in zip(paths, self.loaded.outputs(), strict=True):
            np.save(path, array)
        return paths

    def block(self, question: Mapping[str, Any]) -> list[float]:
        """Milliseconds of each run but the first."""
        assert self.loaded
        end, times = time.perf_counter() + question["seconds"], list[float]()
        while len(times) < 3 or time.perf_counter() < end:
            start = time.perf_counter()
            self.loaded.run()
            self.loaded.wait()
            times.append((time.perf_counter() - start) * 1e3)
        return times[1:]


if __name__ == "__main__":
    server = Server(sys.argv[1])
    answer_questions({"load": server.load, "outputs": server.outputs, "block": server.block})
