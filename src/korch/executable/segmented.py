"""A program in segments: compiled islands, each for the shapes it was made for, and parts that onnxruntime runs."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from korch.errors import ArchiveError, Error, InputError
from korch.executable.ports import Port
from korch.executable.runtime import Executable, Profile, load, new_folder
from korch.ir.ops.table import Array
from korch.system.folders import discard, removed_with, replaced
from korch.system.sessions import inference_session

SEGMENTS = "segments.json"
FORMAT = 1
Binding = tuple[Any, ...]
"""Of each input of an island the shape, and of inputs that decide what is computed the values."""


@dataclass
class Part:
    """One segment: `onnx` in the program's folder for onnxruntime, and for islands the `programs` by binding.

    `structural`: inputs whose values belong to a binding. `reason`: why an island has no program for a binding.
    """

    host: bool
    onnx: Path
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    operators: int
    structural: tuple[str, ...] = ()
    programs: dict[Binding, Executable] = field(default_factory=dict[Binding, Executable])
    reason: str = ""
    _session: Any = None

    def binding(self, values: Mapping[str, Any]) -> Binding:
        """Of the values that the segment reads."""
        arrays = [(n, np.asarray(values[n])) for n in self.reads]
        return tuple((x.shape, tuple(x.reshape(-1).tolist())) if n in self.structural else x.shape for n, x in arrays)

    def run(self, values: Mapping[str, Any], threads: int) -> dict[str, Any]:
        """The values that the segment writes, by name."""
        program = self.programs.get(self.binding(values)) if self.programs else None
        if program is None:
            results = self.session(threads).run(list(self.writes), {n: values[n] for n in self.reads})
            return dict(zip(self.writes, results, strict=True))
        found = program.run({n: values[n] for n in self.reads if n not in self.structural})
        return {n: found[n] for n in self.writes}

    def session(self, threads: int) -> Any:
        """onnxruntime's session for the segment, made when it is first needed."""
        if self._session is None:
            import onnxruntime as ort

            options = ort.SessionOptions()
            options.intra_op_num_threads, options.log_severity_level = threads, 3
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            self._session = inference_session()(str(self.onnx), options, providers=["CPUExecutionProvider"])
        return self._session


class Segmented(Executable):
    """Runs the parts in order. Inputs may have lengths that nobody has compiled for: onnxruntime runs the islands then.

    It has no one plan; the programs of its islands have theirs. `values`: of inputs that were made constants.
    """

    def __init__(self, folder: Path, parts: Sequence[Part], inputs: Sequence[Port], outputs: Sequence[Port],
                 threads: int, numerics: str, values: Mapping[str, Any]) -> None:  # fmt: skip
        self.folder, self.parts, self._inputs, self._outputs = folder, tuple(parts), tuple(inputs), tuple(outputs)
        self.threads, self.numerics, self.values = threads, numerics, dict(values)
        self._forget = removed_with(self, folder)

    def __getattr__(self, name: str) -> Any:
        if name in ("plan", "linked"):
            raise Error("a program in segments has no one plan: its islands have theirs")
        raise AttributeError(name)

    @property
    def inputs(self) -> tuple[Port, ...]:
        return self._inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        """With the shapes of the run in which the program was made; other values may give others."""
        return self._outputs

    @property
    def peak_bytes(self) -> int:
        return sum(e.peak_bytes for p in self.parts for e in p.programs.values())

    def profile(self, feeds: Mapping[str, Array], runs: int = 20, blocks: int = 1) -> Profile:
        raise Error("a program in segments is not timed step by step: time its runs")

    def export(self, folder: str | Path) -> Path:
        raise ArchiveError(f"cannot export to {folder}: parts of the program are run by onnxruntime")

    def run(self, feeds: Mapping[str, Any], outputs: Mapping[str, Array] | None = None) -> dict[str, Any]:
        """All outputs by name; `outputs` gives arrays to copy some of them to. InputError names what is missing."""
        if not self._forget.alive:
            raise Error("the executable is closed")
        if missing := [p.name for p in self._inputs if p.name not in feeds]:
            raise InputError(f"input {missing[0]!r} is missing")
        values: dict[str, Any] = dict(feeds)
        for part in self.parts:
            values |= part.run(values, self.threads)
        found = {port.name: values[port.name] for port in self._outputs}
        for name, array in (outputs or {}).items():
            array[...] = found[name]
            found[name] = array
        return found

    def save(self, path: str | Path) -> Path:
        """Writes the archive, wholly or not at all; ArchiveError where it cannot."""
        try:
            with replaced(Path(path)) as file, zipfile.ZipFile(file, "w") as z:
                z.writestr(SEGMENTS, json.dumps(self._document()))
                for number, part in enumerate(self.parts):
                    z.write(part.onnx, f"{number}.onnx")
                    for k, program in enumerate(part.programs.values()):
                        inner = self.folder / f"{number}-{k}.korch"
                        program.save(inner)
                        z.write(inner, inner.name)
                        inner.unlink()
        except OSError as e:
            raise ArchiveError(f"cannot write {path}: {e.strerror or e}") from None
        return Path(path)

    def _document(self) -> dict[str, Any]:
        parts = [{"host": p.host, "reads": p.reads, "writes": p.writes, "operators": p.operators, "reason": p.reason,
                  "structural": p.structural, "bindings": list(p.programs)} for p in self.parts]  # fmt: skip
        return {
            "format": FORMAT,
            "parts": parts,
            "inputs": [asdict(p) for p in self._inputs],
            "outputs": [asdict(p) for p in self._outputs],
            "threads": self.threads,
            "numerics": self.numerics,
            "values": self.values,
        }

    def close(self) -> None:
        """Frees programs and files."""
        for part in self.parts:
            for program in part.programs.values():
                program.close()
            part._session = None
        self._forget()

    def __str__(self) -> str:
        lines = [f"{len(self.parts)} segments, {sum(p.host for p in self.parts)} of them run by onnxruntime"]
        for number, p in enumerate(self.parts):
            kernels = ", ".join(f"{len(e.plan.steps)} kernels" for e in p.programs.values())
            what = "host segment" if p.host else f"island, {kernels or f'run by onnxruntime: {p.reason}'}"
            lines.append(f"{number}: {what}, {p.operators} nodes; {', '.join(p.reads)} -> {', '.join(p.writes)}")
        return "\n".join(lines)


def is_segmented(path: Path) -> bool:
    """Whether the file is an archive of segments."""
    try:
        with zipfile.ZipFile(path) as z:
            return SEGMENTS in z.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def open_segmented(path: Path, threads: int = 0) -> Segmented:
    """The program in the archive at `path`; ArchiveError says what does not fit."""
    folder = new_folder()
    try:
        with zipfile.ZipFile(path) as z:
            document = json.loads(z.read(SEGMENTS))
            if document["format"] != FORMAT:
                raise ArchiveError(f"{path} has segments of format {document['format']}, this Korch reads {FORMAT}")
            for name in z.namelist():
                if Path(name).name == name:
                    (folder / name).write_bytes(z.read(name))
        parts = [_part(folder, n, p, threads) for n, p in enumerate(document["parts"])]
        inputs, outputs = (
            [Port(p["name"], p["dtype"], tuple(p["shape"])) for p in document[side]] for side in ("inputs", "outputs")
        )
        threads = threads or document["threads"]
        return Segmented(folder, parts, inputs, outputs, threads, document["numerics"], document["values"])
    except ArchiveError:
        discard(folder)
        raise
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as e:
        discard(folder)
        raise ArchiveError(f"{path} is damaged: {type(e).__name__} {e}: run `korch optimize` again") from None


def _part(folder: Path, number: int, p: Mapping[str, Any], threads: int) -> Part:
    programs = {_tuples(b): load(folder / f"{number}-{k}.korch", threads) for k, b in enumerate(p["bindings"])}
    for k in range(len(programs)):
        (folder / f"{number}-{k}.korch").unlink()
    return Part(p["host"], folder / f"{number}.onnx", tuple(p["reads"]), tuple(p["writes"]), p["operators"],
                tuple(p["structural"]), programs, p["reason"])  # fmt: skip


def _tuples(x: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(map(_tuples, x)) if isinstance(x, list) else x
