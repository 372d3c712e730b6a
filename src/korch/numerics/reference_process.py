"""A model's float64 outputs from a process of its own: large models take half a minute, in which another processor may
have nothing to do. Nothing is timed beside that.

`python -m korch.numerics.reference_process` reads a pickled (model, feeds) from standard input and writes the outputs.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from typing import IO

import numpy as np
import onnx
from google.protobuf.message import EncodeError

from korch.numerics.exact import Arrays, float64_outputs
from korch.system.locks import locked, machine_lock
from korch.system.processes import Child, end, plain_environment, start

Outputs = dict[str, np.ndarray]
_FAILURES = (OSError, ValueError, EOFError, MemoryError, pickle.PickleError, EncodeError)  # a model of more than 2 GB


@contextmanager
def evaluated_meanwhile(model: onnx.ModelProto, feeds: Arrays) -> Generator[Callable[[], Outputs | None]]:
    """Evaluates the model until the end of the block; the function waits for the outputs, None where the other process
    fails.

    Both processes write files: through pipes, a part at a time, megabytes take seconds while this one is busy."""
    with TemporaryFile() as question, TemporaryFile() as answer:
        process = _asked(model, feeds, question, answer)
        try:
            yield lambda: _received(answer) if process and process.wait() == 0 else None
        finally:
            if process:
                end(process)
                process.wait()


def _asked(model: onnx.ModelProto, feeds: Arrays, question: IO[bytes], answer: IO[bytes]) -> Child | None:
    with suppress(*_FAILURES):
        pickle.dump((model.SerializeToString(), dict(feeds)), question)
        question.seek(0)
        variables = plain_environment(OPENBLAS_NUM_THREADS="1")  # others are busy
        return start([sys.executable, "-m", __name__], variables, stdin=question, stdout=answer)
    return None


def _received(answer: IO[bytes]) -> Outputs | None:
    with suppress(*_FAILURES):
        answer.seek(0)
        return pickle.load(answer)
    return None


def main() -> None:
    model, feeds = pickle.load(sys.stdin.buffer)
    with locked(machine_lock(), shared=True):  # nobody times a kernel beside this
        outputs = float64_outputs(onnx.load_from_string(model), feeds)
    pickle.dump(outputs, sys.stdout.buffer)


if __name__ == "__main__":
    main()
