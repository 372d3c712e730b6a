"""Programs in segments: for models that are no static program, whose islands are optimised for the shapes that arrive
in a run on seeded random inputs, and for several shapes of a model."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from korch.errors import Error, ModelError, VerificationError, line_of
from korch.executable import Executable
from korch.executable.control import Control
from korch.executable.feeds import port_feeds
from korch.executable.parts import SegmentProgram, SegmentSequence, Values
from korch.executable.ports import Port
from korch.executable.runtime import new_folder
from korch.executable.segmented import Segmented
from korch.fission.importer import ordered, structural_inputs
from korch.fission.importer.inputs import fix_shapes
from korch.fission.importer.segments import Segment, SegmentedGraph, SegmentKind, cut
from korch.ir.ops.table import is_array
from korch.optimize import Source, optimized
from korch.options import Options
from korch.search.transfer import Sketch, SketchStep
from korch.search.tuning import Report
from korch.session.race import race
from korch.system.folders import discard

log = logging.getLogger(__name__)
LEAST_SECONDS = 5.0
"""Of tuning for an island, however many there are."""
VISITS = 2
"""Iterations of a loop for whose shapes its islands have programs: the first may have other shapes than the rest."""


def segmented(
    model: Source, options: Options, report: Report, folder: Path | None = None, sketch: Sketch = ()
) -> tuple[Segmented, Sketch]:
    """The program and the sketches of its islands; where the model cannot be cut, one host segment. `folder`, `sketch`:
    see `optimized`. ModelError where onnxruntime does not run it."""
    prepared = ordered(model, options.values)
    fix_shapes(prepared, options.shapes)
    place = new_folder()
    block = None
    try:
        block = _block(_body(prepared), place)
        ports = [_port(i) for i in prepared.graph.input]
        optimisation = _Optimisation(options, block, report, folder, sketch)
        values = optimisation.run(block, port_feeds(ports))
    except BaseException as e:
        for part in block.parts if block else ():
            part.close()
        discard(place)
        if isinstance(e, Error) or not isinstance(e, Exception):
            raise
        raise ModelError(f"onnxruntime does not run the model: {line_of(e)}") from None  # it has errors of its own
    outputs = [_made(o.name, values[o.name]) for o in prepared.graph.output]
    program = Segmented(place, block, ports, outputs, options.thread_count, options.numerics, options.values)
    return program, tuple(optimisation.sketches)


def _made(name: str, value: Any) -> Port:
    """An output as a run gave it; sequences and the like have no shape."""
    return Port(name, value.dtype.name, value.shape) if is_array(value) else Port(name, type(value).__name__, ())


def for_several(
    model: Source,
    options: Options,
    bindings: Sequence[Mapping[str, Sequence[int]]],
    report: Report,
    folder: Path | None = None,
) -> Segmented:
    """One program for several shapes of the inputs, each searched or taken over from the first; for others onnxruntime
    runs the model. Each has the whole time budget, later ones need a small part of it. VerificationError where one errs
    more than its numerics allow."""
    prepared = ordered(model, options.values)
    names, outputs = tuple(i.name for i in prepared.graph.input), tuple(o.name for o in prepared.graph.output)
    place = new_folder()
    part = SegmentProgram(False, place / "0.onnx", names, outputs, len(prepared.graph.node))
    block = SegmentSequence(names, outputs, (part,))
    sketch: Sketch = ()
    try:
        part.onnx.write_bytes(prepared.SerializeToString())
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
    return Segmented(place, block, first.inputs, first.outputs, first.threads, options.numerics, options.values)


def _body(model: onnx.ModelProto) -> SegmentedGraph:
    """The model cut, or as one host segment."""
    try:
        return cut(model)
    except ModelError as e:
        log.warning("%s: onnxruntime runs the whole model", e)
        names = tuple(i.name for i in model.graph.input), tuple(o.name for o in model.graph.output)
        return SegmentedGraph(*names, (Segment(SegmentKind.HOST, model, *names),))


def _block(body: SegmentedGraph, folder: Path) -> SegmentSequence:
    """The parts of a body, whose models are written into the folder."""
    parts = tuple(_part(s, folder) for s in body.segments)
    return SegmentSequence(body.arguments, body.results, parts, dict(body.constants))


def _part(segment: Segment, folder: Path) -> SegmentProgram:
    file = folder / f"{len(list(folder.iterdir()))}.onnx"
    file.write_bytes(segment.model.SerializeToString())
    facts = segment.kind is SegmentKind.HOST, file, segment.reads, segment.writes, len(segment.operators)
    if segment.kind is not SegmentKind.CONTROL:
        return SegmentProgram(*facts, () if segment.kind is SegmentKind.HOST else structural_inputs(segment.model))
    (node,) = segment.model.graph.node
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute if not a.HasField("g")}
    blocks = tuple(_block(body, folder) for body in segment.bodies)
    weights = segment.model.graph.initializer
    constants = {t.name: onnx.numpy_helper.to_array(t) for t in weights if t.name in node.input}
    return Control(
        *facts,
        operator=node.op_type,
        inputs=tuple(node.input),
        outputs=tuple(node.output),
        attributes=attributes,
        blocks=blocks,
        constants=constants,
    )


class _Optimisation:
    """Gives the islands programs for the values that arrive in a run of the model, each an equal share of the time."""

    def __init__(
        self, options: Options, whole: SegmentSequence, report: Report, folder: Path | None, near: Sketch = ()
    ) -> None:
        self._options, self._report, self._folder, self._near = options, report, folder, near
        self.sketches = list[SketchStep]()
        """Of all islands, as primitives of different islands have different identities."""
        islands = sum(not (p.host or isinstance(p, Control)) for part in whole.parts for p in part.parts())
        self._seconds = max(options.patience / max(islands, 1), LEAST_SECONDS)
        self._visits = Counter[int]()

    def run(self, block: SegmentSequence, values: Values) -> dict[str, Any]:
        """All values that the block computes."""
        known = {**values, **block.constants}
        for part in block.parts:
            if isinstance(part, Control):
                self._control(part, known)
            elif not part.host:
                self._island(part, known)
            known |= part.run(known, self._options.thread_count)
        return known

    def _visit(self, block: SegmentSequence, values: Values) -> None:
        """A block is about to run: its islands have programs for the first shapes that arrive."""
        self._visits[id(block)] += 1
        if self._visits[id(block)] <= VISITS:
            self.run(block, values)

    def _control(self, node: Control, values: Values) -> None:
        """Leaves the node to onnxruntime where blocks fail or are not faster."""
        threads = self._options.thread_count
        try:
            node.by_blocks(values, threads, self._visit)
            for block in (b for b in node.blocks if not self._visits[id(b)]):  # another branch, a loop of no iterations
                with suppress(Exception):  # values that never arrive there
                    first = dict(zip(block.arguments, _first(node, {**values, **node.constants}), strict=True))
                    self._visit(block, {**values, **first})
            runs = node.by_onnxruntime, node.by_blocks
            times = race([partial(run, values, threads) for run in runs])
            node.reason = "" if times[1] <= times[0] else "it takes {:.3f} ms, blocks {:.3f} ms".format(*times)
        except Exception as e:
            node.reason = line_of(e)
        if node.reason:
            for part in (p for block in node.blocks for p in block.parts):
                part.close()

    def _island(self, part: SegmentProgram, values: Values) -> None:
        """Adds the island's program for these values; where there is none, onnxruntime runs it."""
        binding = part.binding(values)
        if part.reason or binding in part.programs:
            return
        arrays = {n: np.asarray(values[n]) for n in part.reads}
        shapes = {n: x.shape for n, x in arrays.items() if n not in part.structural}
        fixed = {n: arrays[n].tolist() for n in part.structural}
        asked = Options(self._options.threads, self._seconds, self._options.numerics, shapes, values=fixed)
        try:
            program, _, sketch = optimized(part.onnx, asked, self._report, self._folder, self._near)
        except Error as e:
            part.reason = line_of(e)
            return
        if reason := _refusal(program):
            part.reason = reason
            program.close()
            return
        part.programs[binding] = program
        self.sketches += sketch


def _first(node: Control, values: Values) -> list[Any]:
    """The arguments of a block in its first iteration."""
    start = [np.array(0, np.int64), np.array(True)]
    return [*start, *(values[n] for n in node.inputs[2:])] if node.operator == "Loop" else []


def _refusal(program: Executable) -> str:
    """Why the program is not used; empty where it keeps to its numerics."""
    accuracy = program.plan.accuracy
    return accuracy.text(program.plan.numerics) if accuracy and not accuracy.passed else ""


def _port(info: onnx.ValueInfoProto) -> Port:
    kind = info.type.tensor_type
    shape = tuple(d.dim_value for d in kind.shape.dim)
    return Port(info.name, onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).name, shape)
