"""One kernel made ready to run on given buffers: native code, or a session of onnxruntime."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from math import inf
from typing import Any, Protocol

import numpy as np

from korch.backends.cpu.loops.caches import outgrows
from korch.errors import BackendError
from korch.ir.cone import Cone
from korch.ir.ops.table import Array
from korch.profile.arena import Bytes, tensor_view
from korch.profile.timing import COLD, COLD_WEIGHTS, NO_FLOOR, Floor, TimedRuns, Timing, timed
from korch.system.sessions import SILENT, inference_session, session_options

_Pointers = ctypes.c_void_p
TEAM = 1
"""`KORCH_TEAM` of a composed program."""


try:
    import resource
except ImportError:  # Windows
    resource = None


def _switches() -> int:
    """How often this process had to make way for another."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw if resource else 0


def _crowded(switches: int, seconds: float) -> bool:
    """As `korch_crowded` of timing.c."""
    return switches > (0 if seconds < 5e-3 else 1 + 20 * seconds)


class EntryRow(ctypes.Structure):
    """`korch_entry` of a composed program."""

    _fields_ = [
        ("init", _Pointers),
        ("run", _Pointers),
        ("free", _Pointers),
        ("workspace", ctypes.c_size_t),
        ("callers", ctypes.c_int),
    ]


_INIT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Runner(Protocol):
    """A kernel with its buffers bound."""

    def run(self) -> None: ...

    def time(self, enough: float = inf, floor: Floor = NO_FLOOR) -> Timing:
        """The time of a run (`timed`)."""
        ...

    def close(self) -> None: ...


def entry(library: ctypes.CDLL, index: int) -> EntryRow:
    """Row `index` of the table of a composed program."""
    count = ctypes.c_int.in_dll(library, "korch_kernel_count").value
    return (EntryRow * max(count, 1)).in_dll(library, "korch_kernels")[index]


def _address(buffer: Bytes) -> int:
    return buffer.ctypes.data


class Native:
    """A native kernel; `join` of its program, where a team calls it. BackendError where its init refuses."""

    def __init__(
        self,
        entry: EntryRow,
        cone: Cone,
        leaves: Sequence[Bytes],
        outs: Sequence[Bytes],
        workspace: Bytes,
        clock: Clock,
        join: Any = None,
    ) -> None:
        self._entry, self._clock = entry, clock
        self._state = ctypes.c_void_p()
        self._in = (ctypes.c_void_p * (len(leaves) + len(outs)))(*map(_address, (*leaves, *outs)))
        activations = (*zip(outs, [cone.root], strict=True), *zip(leaves, cone.leaves, strict=True))
        self._warm = [b for b, t in activations if not t.const and not outgrows(t.shape)]
        moved = sum(t.nbytes for t in (*cone.leaves, cone.root))
        self._cold = moved >= COLD or sum(t.nbytes for t in cone.leaves if t.const) >= COLD_WEIGHTS
        if not entry.run:
            raise BackendError("the compiled program has no such kernel")
        self._init([_address(b) if t.const else None for b, t in zip(leaves, cone.leaves, strict=True)])
        self._call = TimedCall(
            entry.run,
            self._state,
            ctypes.addressof(self._in),
            _address(outs[0]),
            _address(workspace),
            ctypes.cast(join, _Pointers) if entry.callers == TEAM else None,
        )

    def _init(self, constants: Sequence[int | None]) -> None:
        if not self._entry.init:
            return
        table = (ctypes.c_void_p * max(len(constants), 1))(*constants)
        status = _INIT(self._entry.init)(ctypes.byref(self._state), ctypes.addressof(table))
        if status:
            raise BackendError(f"init refused with status {status}")

    def run(self) -> None:
        self._clock.once(self._call)

    def run_alone(self) -> None:
        """The same on one thread, where threads help each other: it takes the turns of all."""
        self._clock.alone(self._call)

    def run_static(self) -> None:
        """The same on a team with a static schedule, of which no thread helps another."""
        self._clock.static(self._call)

    def time(self, enough: float = inf, floor: Floor = NO_FLOOR) -> Timing:
        if self._cold:
            return timed(lambda _, count: self._clock.cold(self._call, count, self._warm), True, enough, floor)
        return timed(lambda calls, count: self._clock.warm(self._call, calls, count), False, enough, floor)

    def close(self) -> None:
        if self._entry.free:
            _FREE(self._entry.free)(self._state)


class TimedCall(ctypes.Structure):
    """`korch_call` of timing.c: a kernel with its buffers."""

    _fields_ = [
        ("run", _Pointers),
        ("state", _Pointers),
        ("given", _Pointers),
        ("out", _Pointers),
        ("workspace", _Pointers),
        ("join", _Pointers),
    ]


class Clock:
    """The functions of timing.c."""

    def __init__(self, library: ctypes.CDLL, scrub: int) -> None:
        self._library = library
        self._scrub_size = scrub
        self._scrub: Bytes | None = None

    def once(self, call: TimedCall) -> None:
        self._library.korch_once(ctypes.byref(call))

    def alone(self, call: TimedCall) -> None:
        self._library.korch_alone(ctypes.byref(call))

    def static(self, call: TimedCall) -> None:
        self._library.korch_static(ctypes.byref(call))

    def warm(self, call: TimedCall, calls: int, count: int) -> TimedRuns:
        samples = np.zeros((count, 2))  # korch_sample
        self._library.korch_time(ctypes.byref(call), calls, count, ctypes.c_void_p(samples.ctypes.data))
        return samples[:, 0], samples[:, 1]

    def cold(self, call: TimedCall, count: int, warm: Sequence[Bytes]) -> TimedRuns:
        if self._scrub is None:
            self._scrub = np.ones(self._scrub_size, np.uint8)
        samples = np.zeros((count, 2))
        pointers = (ctypes.c_void_p * len(warm))(*map(_address, warm))
        sizes = (ctypes.c_size_t * len(warm))(*(b.size for b in warm))
        self._library.korch_time_cold(
            ctypes.byref(call),
            count,
            ctypes.c_void_p(samples.ctypes.data),
            ctypes.c_void_p(_address(self._scrub)),
            ctypes.c_size_t(self._scrub_size),
            pointers,
            sizes,
            len(warm),
        )
        return samples[:, 0], samples[:, 1]


class HostRunner:
    """A kernel that onnxruntime runs, its input and output bound to the buffers."""

    def __init__(self, model: bytes, cone: Cone, leaves: Sequence[Bytes], out: Bytes, threads: int) -> None:
        options = session_options(threads, SILENT)
        self._session = inference_session()(model, options, providers=["CPUExecutionProvider"])
        self._binding = self._session.io_binding()
        for node, buffer, t in zip(self._session.get_inputs(), leaves, cone.leaves, strict=True):
            x = tensor_view(buffer, t)
            self._binding.bind_input(node.name, "cpu", 0, x.dtype.type, x.shape, _address(buffer))
        y: Array = tensor_view(out, cone.root)
        name = self._session.get_outputs()[0].name
        self._binding.bind_output(name, "cpu", 0, y.dtype.type, y.shape, _address(out))

    def run(self) -> None:
        self._session.run_with_iobinding(self._binding)

    def time(self, enough: float = inf, floor: Floor = NO_FLOOR) -> Timing:
        return timed(self._samples, False, enough, floor)

    def _samples(self, calls: int, count: int) -> TimedRuns:
        """Of threads that are not ours nothing is known but that the process had to make way."""
        seconds, lost = np.zeros(count), np.zeros(count)
        for i in range(count):
            switches, start = _switches(), time.perf_counter()
            for _ in range(calls):
                self._session.run_with_iobinding(self._binding)
            taken = time.perf_counter() - start
            seconds[i], lost[i] = taken / calls, float(_crowded(_switches() - switches, taken))
        return seconds, lost

    def close(self) -> None:
        del self._binding, self._session
