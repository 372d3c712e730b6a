"""Programs that are tuned, each from an empty cache, and timed side by side: what other scripts compare them with.

As a script, `python benchmarks/racing.py ARCHIVE`, the process of one program in a race.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx

from korch.report.bench import feeds_of, race
from korch.report.peers import ModelRun, Subject, known_peers
from korch.report.runtime_process import module_command
from korch.report.serving import serve

REFERENCE = "reference"


def tune(model: Path, archive: Path, *options: str) -> dict[str, Any]:
    """What `korch optimize --json` says of the program that it leaves at `archive`; its cache was empty before."""
    from run import korch  # what a race starts finds no other script

    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "model.korch"
        told = korch("optimize", str(model), "-o", str(made), *options, cache=str(Path(folder) / "cache"))
        shutil.move(made, archive)
    return told | {"model": model.stem, "output": archive.name}


def side_by_side(model: Path, archives: Mapping[str, Path], threads: int, rounds: int) -> dict[str, float]:
    """Median milliseconds of each program: every one has a process of its own, and blocks of runs alternate."""
    outputs = tuple(output.name for output in onnx.load(model, load_external_data=False).graph.output)
    reference = module_command(sys.executable, "korch.report.serving", REFERENCE)
    programs = {name: [sys.executable, __file__, str(archive.resolve())] for name, archive in archives.items()}
    commands: dict[str, Sequence[str]] = {REFERENCE: reference, **programs}
    found = race(commands, Subject(model, outputs), feeds_of(model), threads=threads, rounds=rounds)
    if found["skipped"]:
        raise SystemExit("; ".join(f"{name}: {why}" for name, why in found["skipped"].items()))
    return {name: figures["median_ms"] for name, figures in found["runtimes"].items()}


class Results:
    """A JSON file of figures, written whenever one is added, so that no later run measures it again."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}

    def archive(self, name: str) -> Path:
        """Where a program is kept."""
        return self._file.with_suffix(".archives") / f"{name}.korch"

    def add(self, name: str, value: Any) -> None:
        self.known[name] = value
        partial = self._file.with_suffix(".partial")
        partial.write_text(json.dumps(self.known, indent=1) + "\n")
        partial.replace(self._file)


def main(archive: Path) -> None:
    """Answers until standard input ends."""
    peer = known_peers()["korch"]

    def load(subject: Subject, threads: int) -> ModelRun:
        return peer.load(replace(subject, korch=archive), threads)

    serve(replace(peer, load=load))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
