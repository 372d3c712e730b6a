"""Control flow around sequences of segments. A loop whose body is one program runs in native code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from korch.executable.iteration import Iteration, Rounds
from korch.executable.parts import Before, SegmentProgram, SegmentSequence, Values
from korch.ir.ops.table import Array

Iterate = Callable[[Sequence[Any], Sequence[Array], int | None], Rounds]
"""Takes state, what is scanned along its first axis, and how many iterations there may be."""


@dataclass
class Control(SegmentProgram):
    """A node of control flow: its `operator`, the names of its `inputs` and `outputs` ("" where there is none), its
    `attributes`, a block for each body, and inputs that are `constants`. onnxruntime runs it where there is a `reason`
    for that."""

    operator: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict[str, Any])
    blocks: tuple[SegmentSequence, ...] = ()
    constants: dict[str, Array] = field(default_factory=dict[str, Array])
    _iteration: Iteration | None = None

    def run(self, values: Values, threads: int) -> dict[str, Any]:
        return self.by_onnxruntime(values, threads) if self.reason else self.by_blocks(values, threads)

    def by_blocks(self, values: Values, threads: int, before: Before | None = None) -> dict[str, Any]:
        """The values that the node writes. With `before`, no loop runs in native code."""
        known = {**self.constants, **{n: values[n] for n in self.reads}}

        def iterate(state: Sequence[Any], slices: Sequence[Array], limit: int | None) -> Rounds:
            native = None if before else self._natively(known, state, slices, limit)
            return native or self._by_turns(known, state, slices, limit, threads, before)

        if self.operator == "If":
            then, otherwise = self.blocks
            results = (then if _number(known[self.inputs[0]]) else otherwise).run(known, threads, before)
        else:
            results = (_loop if self.operator == "Loop" else _scan)(self, known, iterate)
        if results is None:
            return self.by_onnxruntime(values, threads)
        return {n: x for n, x in zip(self.outputs, results, strict=False) if n in self.writes}

    def _by_turns(
        self,
        known: Values,
        state: Sequence[Any],
        slices: Sequence[Array],
        limit: int | None,
        threads: int,
        before: Before | None,
    ) -> Rounds:
        """The iterations one by one."""
        (block,) = self.blocks
        head = 1 if self.operator == "Loop" else 0
        rows: list[list[Any]] = [[] for _ in block.results[head + len(state) :]]
        count, more = 0, True
        while more and (limit is None or count < limit):
            numbered = [np.array(count, np.int64), np.array(True)] if head else []
            arguments = [*numbered, *state, *(np.ascontiguousarray(x[count]) for x in slices)]
            results = block.run({**known, **dict(zip(block.arguments, arguments, strict=True))}, threads, before)
            more = not head or _number(results[0])
            state = results[head : head + len(state)]
            for row, x in zip(rows, results[head + len(state) :], strict=True):
                row.append(x)
            count += 1
        return Rounds(list(state), [np.stack(row) for row in rows if row], count)

    def _natively(
        self, known: Values, state: Sequence[Any], slices: Sequence[Array], limit: int | None
    ) -> Rounds | None:
        """The iterations in native code; None where that cannot be done."""
        (block,) = self.blocks
        if len(block.parts) != 1 or len(block.parts[0].programs) != 1 or block.parts[0].structural or block.constants:
            return None
        (program,) = block.parts[0].programs.values()
        if self._iteration is None or self._iteration.program is not program:
            self._iteration = Iteration.of(program, block.arguments, block.results, len(state), len(slices))
        return self._iteration.run(known, state, slices, limit)

    def parts(self) -> Iterator[SegmentProgram]:
        yield self
        for block in self.blocks:
            for part in block.parts:
                yield from part.parts()

    def close(self) -> None:
        super().close()
        self._iteration = None
        for block in self.blocks:
            for part in block.parts:
                part.close()

    def lines(self) -> list[str]:
        how = f"run by onnxruntime: {self.reason}" if self.reason else "its body in segments"
        own = f"{self.operator}, {how}; {', '.join(self.reads)} -> {', '.join(self.writes)}"
        inner = [line for block in self.blocks for part in block.parts for line in part.lines()]
        return [own, *(f"  {line}" for line in inner if not self.reason)]


def _loop(node: Control, values: Values, iterate: Iterate) -> list[Any] | None:
    """See `fission/control.py`; None where nothing is collected, as its shape is unknown."""
    trips, first, *state = [*node.inputs, "", ""][: max(2, len(node.inputs))]
    limit = int(_number(values[trips])) if trips else None
    going = not first or _number(values[first])
    rounds = iterate([values[n] for n in state], [], limit if going else 0)
    collects = len(node.outputs) > len(state)
    return [*rounds.state, *rounds.rows] if rounds.count or not collects else None


def _scan(node: Control, values: Values, iterate: Iterate) -> list[Any] | None:
    inputs = [values[n] for n in node.inputs]
    scanned = node.attributes["num_scan_inputs"]
    state, streams = inputs[:-scanned], inputs[-scanned:]

    def option(name: str, many: int) -> list[int]:
        return node.attributes.get(name, [0] * many)

    axes, backwards = option("scan_input_axes", scanned), option("scan_input_directions", scanned)
    turned = (np.moveaxis(x, axis, 0) for x, axis in zip(streams, axes, strict=True))
    slices = [np.ascontiguousarray(x[::-1] if back else x) for x, back in zip(turned, backwards, strict=True)]
    rounds = iterate(state, slices, len(slices[0]))
    if not rounds.count:
        return None
    outputs = len(rounds.rows)
    axes, backwards = option("scan_output_axes", outputs), option("scan_output_directions", outputs)
    rows = (
        np.moveaxis(row[::-1] if back else row, 0, axis)
        for row, axis, back in zip(rounds.rows, axes, backwards, strict=True)
    )
    return [*rounds.state, *map(np.ascontiguousarray, rows)]


def _number(x: Any) -> Any:
    """Of an array of one element."""
    return np.asarray(x).item()
