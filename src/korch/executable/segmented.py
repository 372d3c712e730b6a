"""A program in segments: islands compiled for the shapes that they were made for, and parts that onnxruntime runs."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np

from korch.errors import ArchiveError, DamagedArchive, Error, InputError
from korch.executable.control import Control
from korch.executable.members import AGAIN, DAMAGE, opened, packed_bytes, texts_refusal
from korch.executable.parts import SegmentProgram, SegmentSequence
from korch.executable.ports import Port
from korch.executable.runtime import Executable, Profile, load, new_folder
from korch.executable.several import export_several
from korch.ir.ops.table import Array
from korch.system.folders import discard, removed_with, replaced

SEGMENTS = "segments.json"
SUFFIX = ".korch"
"""Of the names of islands' programs."""
WIDEST = 16
"""Bytes of an element of a constant: a dtype of fixed-width strings has any size that its name says."""
FORMAT = 2


class Segmented(Executable):
    """Runs the parts in order. Inputs may have lengths that nobody has compiled for: onnxruntime runs the islands then.

    It has no one plan; the programs of its islands have theirs. `values`: of inputs that were made constants.
    """

    def __init__(
        self,
        folder: Path,
        block: SegmentSequence,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        threads: int,
        numerics: str,
        values: Mapping[str, Any],
    ) -> None:
        self.folder, self.block, self._inputs, self._outputs = folder, block, tuple(inputs), tuple(outputs)
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
    def parts(self) -> tuple[SegmentProgram, ...]:
        """The segments of the model, in order."""
        return self.block.parts

    def _all_parts(self) -> Iterator[SegmentProgram]:
        """Those of bodies, too."""
        for part in self.parts:
            yield from part.parts()

    @property
    def peak_bytes(self) -> int:
        return sum(e.peak_bytes for p in self._all_parts() for e in p.programs.values())

    def profile(self, feeds: Mapping[str, Array], runs: int = 20, blocks: int = 1) -> Profile:
        raise Error("a program in segments is not timed step by step: time its runs")

    def export(self, folder: str | Path) -> Path:
        """Writes what C programs need to find the program for the shapes of a run (`korch_shapes.h`); ArchiveError
        where parts are run by onnxruntime."""
        only, *others = self.parts
        if others or only.host or isinstance(only, Control) or not only.programs or only.structural:
            raise ArchiveError(f"cannot export to {folder}: parts of the program are run by onnxruntime")
        return export_several(list(only.programs.values()), Path(folder))

    def run(self, feeds: Mapping[str, Any], outputs: Mapping[str, Array] | None = None) -> dict[str, Any]:
        """All outputs by name; `outputs` gives arrays to copy some of them to. InputError names what is missing."""
        if not self._forget.alive:
            raise Error("the executable is closed")
        if missing := [p.name for p in self._inputs if p.name not in feeds]:
            raise InputError(f"input {missing[0]!r} is missing")
        names = [port.name for port in self._outputs]
        found = dict(zip(names, self.block.run(feeds, self.threads), strict=True))
        for name, array in (outputs or {}).items():
            array[...] = found[name]
            found[name] = array
        return found

    def save(self, path: str | Path, private: bool = False) -> Path:
        """Writes the archive, wholly or not at all; ArchiveError where it cannot."""
        try:
            with replaced(Path(path), private) as file, zipfile.ZipFile(file, "w") as z:
                z.writestr(SEGMENTS, json.dumps(self._document()))
                for file in self.folder.iterdir():
                    z.write(file, file.name)
                for part in self._all_parts():
                    for k, program in enumerate(part.programs.values()):
                        inner = self.folder / _archive_name(part.onnx, k)
                        program.save(inner)
                        z.write(inner, inner.name)
                        inner.unlink()
        except OSError as e:
            raise ArchiveError(f"cannot write {path}: {e.strerror or e}") from None
        return Path(path)

    def _document(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "block": _block_document(self.block),
            "inputs": [asdict(p) for p in self._inputs],
            "outputs": [asdict(p) for p in self._outputs],
            "threads": self.threads,
            "numerics": self.numerics,
            "values": self.values,
        }

    def close(self) -> None:
        """Frees programs and files."""
        for part in self.parts:
            part.close()
        self._forget()

    def __str__(self) -> str:
        host = sum(p.host for p in self._all_parts())
        lines = [f"{len(self.parts)} segments, {host} of them run by onnxruntime"]
        for number, part in enumerate(self.parts):
            first, *rest = part.lines()
            lines += [f"{number}: {first}", *(f"   {line}" for line in rest)]
        return "\n".join(lines)


def is_segmented(path: Path) -> bool:
    """Whether the file is an archive of segments."""
    try:
        with opened(path) as z:
            return SEGMENTS in z.namelist()
    except ArchiveError:  # whoever reads it says why
        return False


def open_segmented(path: Path, threads: int = 0, runs: bool = True) -> Segmented:
    """The program in the archive at `path`; ArchiveError says what does not fit. Unless it `runs`, it is only to be
    looked at."""
    folder = new_folder()
    try:
        with opened(path) as z:
            document = json.loads(z.read(SEGMENTS))
            if document["format"] != FORMAT:
                raise ArchiveError(f"{path} has segments of format {document['format']}, this Korch reads {FORMAT}")
            for name in z.namelist():
                if Path(name).name == name:
                    with z.open(name) as source, (folder / name).open("wb") as target:
                        shutil.copyfileobj(source, target)
        _check_inner(path, folder)
        block = _block(folder, document["block"], threads, runs)
        inputs, outputs = (
            [Port(p["name"], p["dtype"], tuple(p["shape"])) for p in document[side]] for side in ("inputs", "outputs")
        )
        threads = threads or document["threads"]
        return Segmented(folder, block, inputs, outputs, threads, document["numerics"], document["values"])
    except ArchiveError:
        discard(folder)
        raise
    except OSError as e:
        discard(folder)
        raise ArchiveError(f"cannot unpack {path}: {e.strerror or e}; set TMPDIR to a folder with room") from None
    except (*DAMAGE, TypeError, AttributeError) as e:
        discard(folder)
        raise DamagedArchive(f"{path} is damaged: {type(e).__name__} {e}{AGAIN}") from None


def _check_inner(path: Path, folder: Path) -> None:
    """Programs of islands have no segments, and all of them together no more texts than one archive may have."""
    packed = 0
    for file in folder.glob(f"*{SUFFIX}"):
        with opened(file) as z:
            if SEGMENTS in z.namelist():
                raise DamagedArchive(f"{path} is damaged: {file.name} is a program in segments itself{AGAIN}")
            packed += packed_bytes(z.infolist())
    if reason := texts_refusal(packed):
        raise DamagedArchive(f"{path} is damaged: {reason}{AGAIN}")


def _archive_name(model: Path, number: int) -> str:
    """Of an island's program."""
    return f"{model.stem}-{number}{SUFFIX}"


def _block_document(block: SegmentSequence) -> dict[str, Any]:
    return {
        "arguments": block.arguments,
        "results": block.results,
        "parts": [_part_document(p) for p in block.parts],
        "constants": _constants_document(block.constants),
    }


def _constants_document(arrays: Mapping[str, Array]) -> dict[str, Any]:
    return {n: [x.dtype.name, x.shape, x.reshape(-1).tolist()] for n, x in arrays.items()}


def _constants(d: Mapping[str, Any]) -> dict[str, Array]:
    return {n: np.array(x, _dtype(dtype)).reshape(shape) for n, (dtype, shape, x) in d.items()}


def _dtype(dtype: str) -> np.dtype[Any]:
    """The dtype of that name."""
    if (found := np.dtype(dtype)).itemsize > WIDEST:
        raise TypeError(f"constants of dtype {dtype[:20]}")
    return found


def _names(x: Any) -> tuple[str, ...]:
    """A list of names."""
    if not isinstance(x, list) or not all(isinstance(n, str) for n in cast("list[Any]", x)):
        raise TypeError("expected a list of names")
    return tuple(cast("list[str]", x))


def _part_document(p: SegmentProgram) -> dict[str, Any]:
    document: dict[str, Any] = {
        "host": p.host,
        "onnx": p.onnx.name,
        "reads": p.reads,
        "writes": p.writes,
        "operators": p.operators,
        "reason": p.reason,
        "structural": p.structural,
        "bindings": list(p.programs),
    }
    if isinstance(p, Control):
        blocks = [_block_document(block) for block in p.blocks]
        document["control"] = {
            "operator": p.operator,
            "inputs": p.inputs,
            "outputs": p.outputs,
            "attributes": p.attributes,
            "blocks": blocks,
            "constants": _constants_document(p.constants),
        }
    return document


def _block(folder: Path, d: Mapping[str, Any], threads: int, runs: bool) -> SegmentSequence:
    parts = tuple(_part(folder, p, threads, runs) for p in d["parts"])
    return SegmentSequence(_names(d["arguments"]), _names(d["results"]), parts, _constants(d["constants"]))


def _part(folder: Path, d: Mapping[str, Any], threads: int, runs: bool) -> SegmentProgram:
    model = folder / Path(d["onnx"]).name
    programs = {_tuples(b): load(folder / _archive_name(model, k), threads, runs) for k, b in enumerate(d["bindings"])}
    for k in range(len(programs)):
        (folder / _archive_name(model, k)).unlink()
    if not isinstance(d["host"], bool) or not isinstance(d["operators"], int) or not isinstance(d["reason"], str):
        raise TypeError("expected a flag, a number and a text")
    facts = (
        d["host"],
        model,
        _names(d["reads"]),
        _names(d["writes"]),
        d["operators"],
        _names(d["structural"]),
        programs,
        d["reason"],
    )
    if (c := d.get("control")) is None:
        return SegmentProgram(*facts)
    blocks = tuple(_block(folder, b, threads, runs) for b in c["blocks"])
    return Control(
        *facts,
        operator=c["operator"],
        inputs=_names(c["inputs"]),
        outputs=_names(c["outputs"]),
        attributes=c["attributes"],
        blocks=blocks,
        constants=_constants(c["constants"]),
    )


def _tuples(x: Any) -> Any:
    """Lists as tuples, all the way down."""
    return tuple(map(_tuples, cast("list[Any]", x))) if isinstance(x, list) else x
