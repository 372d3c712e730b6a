"""Parts of a program in segments: compiled islands and what onnxruntime runs, alone and in sequences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from korch.executable.runtime import Executable
from korch.ir.ops.table import Array
from korch.system.sessions import ERRORS, inference_session, session_options

Values = Mapping[str, Any]
"""Arrays by name, and what else onnxruntime computes with."""
IslandBinding = tuple[Any, ...]
"""Of each input of an island the shape, and of inputs that decide what is computed the values."""
Before = Callable[["SegmentSequence", Values], None]
"""Called with a sequence that is about to run and the values that it may read."""


@dataclass
class SegmentProgram:
    """One segment: `onnx` in the program's folder for onnxruntime, and for islands the `programs` by binding.

    `structural`: inputs whose values belong to a binding. `reason`: why onnxruntime runs what is no host segment.
    """

    host: bool
    onnx: Path
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    operators: int
    structural: tuple[str, ...] = ()
    programs: dict[IslandBinding, Executable] = field(default_factory=dict[IslandBinding, Executable])
    reason: str = ""
    _session: Any = None

    def binding(self, values: Values) -> IslandBinding:
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
            options = session_options(threads, ERRORS)
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            self._session = inference_session()(str(self.onnx), options, providers=["CPUExecutionProvider"])
        return self._session

    def parts(self) -> Iterator[SegmentProgram]:
        """This segment, and those of its bodies."""
        yield self

    def close(self) -> None:
        """Frees its programs."""
        for program in self.programs.values():
            program.close()
        self.programs.clear()
        self._session = None

    def lines(self) -> list[str]:
        """A description of the segment and of its runtime."""
        kernels = ", ".join(f"{len(e.plan.steps)} kernels" for e in self.programs.values())
        what = "host segment" if self.host else f"island, {kernels or f'run by onnxruntime: {self.reason}'}"
        return [f"{what}, {self.operators} nodes; {', '.join(self.reads)} -> {', '.join(self.writes)}"]


@dataclass
class SegmentSequence:
    """Segments that run in order. `arguments`, `results`: the names of its inputs and outputs. `constants`: results
    that are known."""

    arguments: tuple[str, ...]
    results: tuple[str, ...]
    parts: tuple[SegmentProgram, ...]
    constants: dict[str, Array] = field(default_factory=dict[str, Array])

    def run(self, values: Values, threads: int, before: Before | None = None) -> list[Any]:
        """The results, of the values of the arguments and of all names that the parts read from outside."""
        if before:
            before(self, values)
        known = {**values, **self.constants}
        for part in self.parts:
            known |= part.run(known, threads)
        return [known[n] for n in self.results]
