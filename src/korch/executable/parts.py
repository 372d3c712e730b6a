"""Parts of a program in segments: compiled islands, control flow around blocks of parts, and what onnxruntime runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from korch.executable.runtime import Executable
from korch.ir.ops.table import Array
from korch.system.sessions import inference_session

Values = Mapping[str, Any]
"""Arrays by name, and what else onnxruntime computes with."""
Binding = tuple[Any, ...]
"""Of each input of an island the shape, and of inputs that decide what is computed the values."""
Before = Callable[["Block", Values], None]
"""Called with a block that is about to run and the values that it may read."""


@dataclass
class Part:
    """One segment: `onnx` in the program's folder for onnxruntime, and for islands the `programs` by binding.

    `structural`: inputs whose values belong to a binding. `reason`: why onnxruntime runs what is no host segment.
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

    def binding(self, values: Values) -> Binding:
        """Of the values that the segment reads."""
        arrays = [(n, np.asarray(values[n])) for n in self.reads]
        return tuple((x.shape, tuple(x.reshape(-1).tolist())) if n in self.structural else x.shape for n, x in arrays)

    def run(self, values: Values, threads: int) -> dict[str, Any]:
        """The values that the segment writes, by name."""
        program = self.programs.get(self.binding(values)) if self.programs else None
        if program is None:
            return self.by_onnxruntime(values, threads)
        found = program.run({n: values[n] for n in self.reads if n not in self.structural})
        return {n: found[n] for n in self.writes}

    def by_onnxruntime(self, values: Values, threads: int) -> dict[str, Any]:
        """The same, whatever the values are."""
        results = self._native(threads).run(list(self.writes), {n: values[n] for n in self.reads})
        return dict(zip(self.writes, results, strict=True))

    def _native(self, threads: int) -> Any:
        """onnxruntime's session for the segment, made when it is first needed."""
        if self._session is None:
            import onnxruntime as ort

            options = ort.SessionOptions()
            options.intra_op_num_threads, options.log_severity_level = threads, 3
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            self._session = inference_session()(str(self.onnx), options, providers=["CPUExecutionProvider"])
        return self._session

    def parts(self) -> Iterator[Part]:
        """This part, and those of its blocks."""
        yield self

    def close(self) -> None:
        """Frees its programs."""
        for program in self.programs.values():
            program.close()
        self.programs.clear()
        self._session = None

    def lines(self) -> list[str]:
        """What runs it, as text."""
        kernels = ", ".join(f"{len(e.plan.steps)} kernels" for e in self.programs.values())
        what = "host segment" if self.host else f"island, {kernels or f'run by onnxruntime: {self.reason}'}"
        return [f"{what}, {self.operators} nodes; {', '.join(self.reads)} -> {', '.join(self.writes)}"]


@dataclass
class Block:
    """Parts that run in order. `arguments`, `results`: the names of its inputs and outputs. `constants`: results that
    are known."""

    arguments: tuple[str, ...]
    results: tuple[str, ...]
    parts: tuple[Part, ...]
    constants: dict[str, Array] = field(default_factory=dict[str, Array])

    def run(self, values: Values, threads: int, before: Before | None = None) -> list[Any]:
        """The results, of the values of the arguments and of all names that the parts read from outside."""
        if before:
            before(self, values)
        known = {**values, **self.constants}
        for part in self.parts:
            known |= part.run(known, threads)
        return [known[n] for n in self.results]


@dataclass
class Control(Part):
    """A node of control flow: its `operator`, the names of its `inputs` and `outputs` ("" where there is none), its
    `attributes`, a block for each body, and inputs that are `constants`. onnxruntime runs it where there is a `reason`
    for that."""

    operator: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    blocks: tuple[Block, ...] = ()
    constants: dict[str, Array] = field(default_factory=dict[str, Array])

    def run(self, values: Values, threads: int) -> dict[str, Any]:
        return self.by_onnxruntime(values, threads) if self.reason else self.by_blocks(values, threads)

    def by_blocks(self, values: Values, threads: int, before: Before | None = None) -> dict[str, Any]:
        """The values that the node writes."""
        captured = {**self.constants, **{n: values[n] for n in self.reads}}

        def run(block: Block, arguments: Sequence[Any]) -> list[Any]:
            return block.run({**captured, **dict(zip(block.arguments, arguments, strict=True))}, threads, before)

        results = _BY_BLOCKS[self.operator](self, captured, run)
        if results is None:
            return self.by_onnxruntime(values, threads)
        found = dict(zip(self.outputs, results, strict=False))
        return {n: found[n] for n in self.writes}

    def parts(self) -> Iterator[Part]:
        yield self
        for block in self.blocks:
            for part in block.parts:
                yield from part.parts()

    def close(self) -> None:
        super().close()
        for part in self.parts():
            if part is not self:
                part.close()

    def lines(self) -> list[str]:
        how = f"run by onnxruntime: {self.reason}" if self.reason else "its body in segments"
        own = f"{self.operator}, {how}; {', '.join(self.reads)} -> {', '.join(self.writes)}"
        inner = [line for block in self.blocks for part in block.parts for line in part.lines()]
        return [own, *(f"  {line}" for line in inner if not self.reason)]


Run = Callable[[Block, Sequence[Any]], list[Any]]


def _branch(node: Control, values: Values, run: Run) -> list[Any]:
    then, otherwise = node.blocks
    return run(then if np.asarray(values[node.inputs[0]]).item() else otherwise, ())


def _loop(node: Control, values: Values, run: Run) -> list[Any] | None:
    """See `fission/control.py`; None where nothing is collected, as its shape is unknown."""
    trips, first, *state = [*node.inputs, "", ""][: max(2, len(node.inputs))]
    limit = np.asarray(values[trips]).item() if trips else None
    going = not first or bool(np.asarray(values[first]).item())
    state = [values[n] for n in state]
    (body,) = node.blocks
    rows: list[list[Any]] = [[] for _ in body.results[1 + len(state) :]]
    count = 0
    while going and (limit is None or count < limit):
        more, *results = run(body, [np.array(count, np.int64), np.array(True), *state])
        going = bool(np.asarray(more).item())
        state = results[: len(state)]
        for row, x in zip(rows, results[len(state) :], strict=True):
            row.append(x)
        count += 1
    return [*state, *map(np.stack, rows)] if count or not rows else None


def _scan(node: Control, values: Values, run: Run) -> list[Any] | None:
    (body,) = node.blocks
    inputs = [values[n] for n in node.inputs]
    scanned = node.attributes["num_scan_inputs"]
    state, streams = inputs[:-scanned], inputs[-scanned:]

    def option(name: str, many: int) -> list[int]:
        return node.attributes.get(name, [0] * many)

    axes, backwards = option("scan_input_axes", scanned), option("scan_input_directions", scanned)
    turned = (np.moveaxis(x, axis, 0) for x, axis in zip(streams, axes, strict=True))
    streams = [x[::-1] if back else x for x, back in zip(turned, backwards, strict=True)]
    outputs = len(body.results) - len(state)
    rows: list[list[Any]] = [[] for _ in range(outputs)]
    for slices in zip(*streams, strict=True):
        results = run(body, [*state, *map(np.ascontiguousarray, slices)])
        state = results[: len(state)]
        for row, x in zip(rows, results[len(state) :], strict=True):
            row.append(x)
    if not all(rows):
        return None
    axes, backwards = option("scan_output_axes", outputs), option("scan_output_directions", outputs)
    return [*state, *(np.stack(row[::-1] if back else row, axis)
                      for row, axis, back in zip(rows, axes, backwards, strict=True))]  # fmt: skip


_BY_BLOCKS: Mapping[str, Callable[[Control, Values, Run], list[Any] | None]] = {
    "If": _branch, "Loop": _loop, "Scan": _scan}  # fmt: skip
