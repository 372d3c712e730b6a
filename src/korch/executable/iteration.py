"""A loop in native code whose body is one program (`korch_iterate`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from ctypes import c_int, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np

from korch.executable.buffers import address, aligned_empty
from korch.executable.cpu import CpuExecutable
from korch.executable.native import NativeLoop
from korch.executable.ports import Port
from korch.executable.runtime import Executable
from korch.ir.ops.table import Array

FIRST_ROWS = 256
"""Iterations for which there is room at first where nobody knows how many there will be; then twice as many."""


@dataclass(frozen=True)
class Rounds:
    """The results of a loop: the last state, the values collected along a new first axis, and how many iterations there
    were."""

    state: list[Any]
    rows: list[Array]
    count: int


@dataclass(frozen=True)
class Iteration:
    """The body `program` of a loop, and which of its inputs and outputs are what (see `korch_loop`); `fits` where it
    can be run so."""

    program: Executable
    fits: bool
    counter: int = -1
    going: int = -1
    more: int = -1
    state_inputs: tuple[int, ...] = ()
    state_outputs: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    slices: tuple[int, ...] = ()

    @staticmethod
    def of(
        program: Executable, arguments: Sequence[str], results: Sequence[str], states: int, slices: int
    ) -> Iteration:
        """`arguments`, `results`: the names of the body's inputs, and of its outputs, `states` of them and, of a Scan,
        `slices`."""
        inputs = {port.name: i for i, port in enumerate(program.inputs)}
        outputs = {port.name: i for i, port in enumerate(program.outputs)}
        head = 0 if slices else 2  # a Loop gives number and condition
        state, rows = results[head // 2 : head // 2 + states], results[head // 2 + states :]
        refused = Iteration(program, False)
        if not isinstance(program, CpuExecutable) or not program.iterates:
            return refused
        if len({*state}) < states or len({*rows}) < len(rows) or not {*state, *rows} <= outputs.keys():
            return refused
        if head and results[0] not in outputs and results[0] != arguments[1]:
            return refused
        counter, going = (inputs.get(n, -1) for n in arguments[:2]) if head else (-1, -1)
        fed = [inputs.get(n, -1) for n in arguments[head : head + states]]
        given = [outputs[n] for n in state]
        if any(
            i >= 0 and _type(program.inputs[i]) != _type(program.outputs[o]) for i, o in zip(fed, given, strict=True)
        ):
            return refused
        return Iteration(
            program,
            True,
            counter,
            going,
            outputs.get(results[0], -1) if head else -1,
            tuple(fed),
            tuple(given),
            tuple(outputs[n] for n in rows),
            tuple(inputs.get(n, -1) for n in arguments[head + states :]),
        )

    def run(
        self, values: Mapping[str, Any], state: Sequence[Any], slices: Sequence[Array], limit: int | None
    ) -> Rounds | None:
        """The iterations; None where the arrays do not fit the program."""
        if not self.fits or limit == 0:
            return None
        given = {i: np.asarray(x) for i, x in zip(self.state_inputs, state, strict=True) if i >= 0}
        parts = {i: x for i, x in zip(self.slices, slices, strict=True) if i >= 0}
        own = {self.counter, self.going, *given, *parts}
        given |= {i: np.asarray(values[p.name]) for i, p in enumerate(self.program.inputs) if i not in own}
        shown = {**given, **{i: x[0] for i, x in parts.items()}}
        if any((x.dtype.name, x.shape) != _type(self.program.inputs[i]) for i, x in shown.items()):
            return None
        return self._run({i: np.ascontiguousarray(x) for i, x in given.items()}, parts, limit)

    def _run(self, given: Mapping[int, Array], parts: Mapping[int, Array], limit: int | None) -> Rounds:
        program = self.program
        assert isinstance(program, CpuExecutable)
        ports = program.outputs
        written = {o: aligned_empty(ports[o].shape, ports[o].dtype) for o in range(len(ports))}
        spare = [aligned_empty(ports[o].shape, ports[o].dtype) for o in self.state_outputs]
        buffers = {address(x): x for x in (*given.values(), *written.values(), *spare)}
        inputs = (c_void_p * (len(program.inputs) + 1))(
            *(address(given[i]) if i in given else None for i in range(len(program.inputs)))
        )
        outputs = (c_void_p * (len(ports) + 1))(*(address(x) for x in written.values()))
        room = limit if limit is not None and self.more < 0 else FIRST_ROWS
        rows = [np.empty((0, *ports[o].shape), ports[o].dtype) for o in self.rows]
        done, more = 0, True
        while more and done != limit:
            room = room if limit is None else min(room, limit)
            rows = [_with_room(x, room) for x in rows]
            done, more = program.iterate(self._loop(spare, rows, parts), inputs, outputs, done, room)
            room *= 2
        final = [
            buffers[inputs[i] if i >= 0 else outputs[o]]
            for i, o in zip(self.state_inputs, self.state_outputs, strict=True)
        ]
        return Rounds(final, [x[:done] for x in rows], done)

    def _loop(self, spare: Sequence[Array], rows: Sequence[Array], parts: Mapping[int, Array]) -> NativeLoop:
        return NativeLoop(
            self.counter,
            self.going,
            self.more,
            len(self.state_inputs),
            _numbers(self.state_inputs),
            _numbers(self.state_outputs),
            _pointers(spare),
            len(self.rows),
            _numbers(self.rows),
            _pointers(rows),
            len(parts),
            _numbers(parts),
            _pointers(parts.values()),
        )


def _type(port: Port) -> tuple[str, tuple[int, ...]]:
    return port.dtype, port.shape


def _with_room(rows: Array, many: int) -> Array:
    """The rows, and room for others."""
    made = np.empty((many, *rows.shape[1:]), rows.dtype)
    made[: len(rows)] = rows
    return made


def _numbers(numbers: Collection[int]) -> Any:
    return (c_int * (len(numbers) + 1))(*numbers)


def _pointers(arrays: Iterable[Array]) -> Any:
    addresses = list(map(address, arrays))
    return (c_void_p * (len(addresses) + 1))(*addresses)
