"""Programs in segments: for models that are no static program, whose islands are optimised for the shapes that arrive
in a run on seeded random inputs, and for several shapes of a model."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from korch.errors import Error, ModelError, VerificationError, line_of
from korch.executable import Executable
from korch.executable.feeds import port_feeds
from korch.executable.ports import Port
from korch.executable.runtime import new_folder
from korch.executable.segmented import Part, Segmented
from korch.fission.importer import ordered, structural_inputs
from korch.fission.importer.inputs import fix_shapes
from korch.fission.importer.segments import Segment, segments_of
from korch.optimize import Source, optimized
from korch.options import Options
from korch.search.transfer import Sketch
from korch.search.tuning import Report
from korch.system.folders import discard

log = logging.getLogger(__name__)
LEAST_SECONDS = 5.0
"""Of tuning for an island, however many there are."""


def segmented(model: Source, options: Options, report: Report, folder: Path | None = None) -> Segmented:
    """The program; where the model cannot be cut, one host segment. ModelError where onnxruntime does not run it."""
    prepared = ordered(model, options.values)
    fix_shapes(prepared, options.shapes)
    parts = _parts(prepared)
    place = new_folder()
    try:
        made = [_saved(s, place / f"{n}.onnx") for n, s in enumerate(parts)]
        ports = [_port(i) for i in prepared.graph.input]
        islands = sum(not p.host for p in made)
        share = max(options.patience / max(islands, 1), LEAST_SECONDS)
        values: dict[str, Any] = dict(port_feeds(ports))
        for part, segment in zip(made, parts, strict=True):
            if not part.host:
                _optimise(part, segment, values, options, share, report, folder)
            values |= part.run(values, options.thread_count)
    except Error:
        discard(place)
        raise
    except Exception as e:  # what onnxruntime raises
        discard(place)
        raise ModelError(f"onnxruntime does not run the model: {line_of(e)}") from None
    outputs = [_made(o.name, values[o.name]) for o in prepared.graph.output]
    return Segmented(place, made, ports, outputs, options.thread_count, options.numerics, options.values)


def _made(name: str, value: Any) -> Port:
    """An output as a run gave it; sequences and the like have no shape."""
    plain = isinstance(value, np.ndarray)
    return Port(name, value.dtype.name if plain else type(value).__name__, value.shape if plain else ())


def for_several(model: Source, options: Options, bindings: Sequence[Mapping[str, Sequence[int]]], report: Report,
                folder: Path | None = None) -> Segmented:  # fmt: skip
    """One program for several shapes of the inputs, each searched or taken over from the first; for others onnxruntime
    runs the model. Each has the whole time budget, later ones need a small part of it. VerificationError where one errs
    more than its numerics allow."""
    prepared = ordered(model, options.values)
    names, outputs = tuple(i.name for i in prepared.graph.input), tuple(o.name for o in prepared.graph.output)
    place = new_folder()
    part = Part(False, place / "0.onnx", names, outputs, len(prepared.graph.node))
    sketch: Sketch = ()
    try:
        onnx.save(prepared, part.onnx)
        for shapes in bindings:
            asked = replace(options, shapes=dict(shapes))
            program, _, own = optimized(model, asked, report, folder, sketch)
            if reason := _refusal(program):
                program.close()
                raise VerificationError(f"{asked.texts()['shapes']}: {reason}")
            sketch = sketch or own
            part.programs[tuple(p.shape for p in program.inputs)] = program
    except BaseException:
        discard(place)
        raise
    first = next(iter(part.programs.values()))
    return Segmented(place, [part], first.inputs, first.outputs, first.threads, options.numerics, options.values)


def _parts(model: onnx.ModelProto) -> list[Segment]:
    try:
        return segments_of(model)
    except ModelError as e:
        log.warning("%s: onnxruntime runs the whole model", e)
        names = tuple(i.name for i in model.graph.input), tuple(o.name for o in model.graph.output)
        return [Segment(True, model, *names)]


def _saved(segment: Segment, file: Path) -> Part:
    onnx.save(segment.model, file)
    structural = () if segment.host else structural_inputs(segment.model)
    return Part(segment.host, file, segment.reads, segment.writes, len(segment.operators), structural)


def _optimise(part: Part, segment: Segment, values: Mapping[str, Any], options: Options, seconds: float,
              report: Report, folder: Path | None) -> None:  # fmt: skip
    """Adds the island's program for these values; where there is none, onnxruntime runs it."""
    arrays = {n: np.asarray(values[n]) for n in part.reads}
    shapes = {n: x.shape for n, x in arrays.items() if n not in part.structural}
    fixed = {n: arrays[n].tolist() for n in part.structural}
    asked = Options(options.threads, seconds, options.numerics, shapes, values=fixed)
    try:
        program, _, _ = optimized(segment.model, asked, report, folder)
    except Error as e:
        part.reason = line_of(e)
        return
    if reason := _refusal(program):
        part.reason = reason
        program.close()
        return
    part.programs[part.binding(values)] = program


def _refusal(program: Executable) -> str:
    """Why the program is not used; empty where it keeps to its numerics."""
    accuracy = program.plan.accuracy
    return accuracy.text(program.plan.numerics) if accuracy and not accuracy.passed else ""


def _port(info: onnx.ValueInfoProto) -> Port:
    kind = info.type.tensor_type
    shape = tuple(d.dim_value for d in kind.shape.dim)
    return Port(info.name, onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).name, shape)
