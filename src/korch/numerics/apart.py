"""A model's float64 outputs from a process of its own: large models take half a minute, in which another processor may
have nothing to do.

`python -m korch.numerics.apart` reads a pickled (model, feeds) from standard input and writes the outputs.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress

import numpy as np
import onnx

from korch.numerics.exact import Arrays, float64_outputs

Outputs = dict[str, np.ndarray]


@contextmanager
def evaluated_meanwhile(model: onnx.ModelProto, feeds: Arrays, keep: Callable[[Outputs], None]) -> Iterator[None]:
    """Calls `keep` with the outputs at the end of the block; not where the other process fails."""
    paths = os.pathsep.join(p or os.getcwd() for p in sys.path)
    process = subprocess.Popen([sys.executable, "-m", __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": paths},
                               start_new_session=True)  # fmt: skip
    with process, ThreadPoolExecutor(1) as pool:
        try:
            told = pool.submit(_asked, process, model, feeds)
            yield
            if outputs := told.result():
                keep(outputs)
        finally:
            process.kill()


def _asked(process: subprocess.Popen[bytes], model: onnx.ModelProto, feeds: Arrays) -> Outputs | None:
    with suppress(OSError, ValueError, EOFError, MemoryError, pickle.PickleError):  # e.g. a model of more than 2 GB
        answer, _ = process.communicate(pickle.dumps((model.SerializeToString(), dict(feeds))))
        return pickle.loads(answer) if process.returncode == 0 else None


def main() -> None:
    model, feeds = pickle.load(sys.stdin.buffer)
    pickle.dump(float64_outputs(onnx.load_from_string(model), feeds), sys.stdout.buffer)


if __name__ == "__main__":
    main()
