"""The far side of a comparison: one runtime in a process of its own, asked over its standard streams.

`python -m korch.report.serving NAME`. Each question is a line of JSON on stdin, each answer one on stdout:

    {"ask": "load", "subject": {...}, "threads": 2, "inputs": {name: file.npy}}   -> {"value": precision}
    {"ask": "outputs", "folder": directory}                                       -> {"value": [file.npy, ...]}
    {"ask": "block", "seconds": 0.3}                                              -> {"value": [milliseconds, ...]}

or, where that failed, `{"reason": text}`. The process ends when stdin does.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from korch.report.peers import ModelRun, NotOffered, Peer, Subject, known_peers

LEAST_RUNS = 2
"""Timed runs in a block, however long they take."""

_Loaded = tuple[ModelRun, dict[str, np.ndarray]]


Answers = Mapping[str, Callable[[Mapping[str, Any]], Any]]
"""By the word that asks for it: what makes the answer's value of a question."""


def serve(peer: Peer) -> None:
    """Answers questions about `peer` until stdin ends."""
    loaded: list[_Loaded] = []

    def load(question: Mapping[str, Any]) -> str:
        loaded[:] = [_load(peer, question)]
        return peer.precision()

    answer_questions(
        {
            "load": load,
            "outputs": lambda question: _outputs(loaded[0], question),
            "block": lambda question: _block(loaded[0], question),
        }
    )


def answer_questions(answers: Answers) -> None:
    """Answers until stdin ends, each question with the function that is named in it."""
    stdout = _own_stdout()
    for line in sys.stdin:
        question = json.loads(line)
        try:
            reply: dict[str, Any] = {"value": answers[question["ask"]](question)}
        except NotOffered as why:
            reply = {"reason": str(why)}
        except Exception as error:  # whatever a runtime raises is its own affair: it is left out, with this text
            reply = {"reason": _one_line(error)}
        stdout.write(json.dumps(reply) + "\n")
        stdout.flush()


def _own_stdout() -> TextIO:
    """The real stdout; file descriptor 1 becomes stderr, as native libraries print what they like."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return answers


def _one_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no text'}"


def _load(peer: Peer, question: Mapping[str, Any]) -> _Loaded:
    if reason := peer.available():
        raise NotOffered(reason)
    given = question["subject"]
    paths = {name: Path(given[name]) if given[name] else None for name in ("korch", "torch_models")}
    subject = Subject(Path(given["onnx"]), tuple(given["outputs"]), **paths)
    feeds = {name: np.load(path) for name, path in question["inputs"].items()}
    return peer.load(subject, question["threads"]), feeds


def _outputs(loaded: _Loaded, question: Mapping[str, Any]) -> list[str]:
    run, feeds = loaded
    paths: list[str] = []
    for index, array in enumerate(run(feeds)):
        paths.append(str(Path(question["folder"]) / f"{index}.npy"))
        np.save(paths[-1], array)
    return paths


def _block(loaded: _Loaded, question: Mapping[str, Any]) -> list[float]:
    """Milliseconds of each run; the first, which finds cold caches and sleeping threads, is not among them."""
    run, feeds = loaded
    end = time.perf_counter() + question["seconds"]
    run(feeds)
    times: list[float] = []
    while len(times) < LEAST_RUNS or time.perf_counter() < end:
        start = time.perf_counter()
        run(feeds)
        times.append((time.perf_counter() - start) * 1e3)
    return times


if __name__ == "__main__":
    serve(known_peers()[sys.argv[1]])
