"""The functions of `korch.h` in a linked library, through ctypes."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any
from weakref import WeakSet

import numpy as np

from korch.backends.libraries import find_code
from korch.errors import ArchiveError, BackendError, Error
from korch.executable.buffers import address
from korch.ir.ops.table import Array
from korch.system.samples import Floats

HostCall = Callable[[int, Sequence[int], int], None]  # step, addresses of its inputs, address of its output
_HOST = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, POINTER(c_void_p), c_void_p)
_ERROR_BYTES = 1024


_MODELS: WeakSet[NativeModel] = WeakSet()
_FORKING = threading.RLock()
_held: list[NativeModel] = []
"""Those whose turn is the thread's that forks, which has `_FORKING`."""


class NativeLoop(ctypes.Structure):
    """`korch_loop`."""

    _fields_ = (
        *((name, c_int) for name in ("counter", "going", "more", "states")),
        *((name, POINTER(c_int)) for name in ("state_inputs", "state_outputs")),
        ("spare", POINTER(c_void_p)),
        ("rows", c_int),
        ("row_outputs", POINTER(c_int)),
        ("row_starts", POINTER(c_void_p)),
        ("slices", c_int),
        ("slice_inputs", POINTER(c_int)),
        ("slice_starts", POINTER(c_void_p)),
    )


class NativeModel:
    """One open model. `threads` 0: as many as it was planned for. ArchiveError where it does not open.

    Calls take turns: nobody closes what another thread runs.
    """

    _home = 0
    """The process that has opened the first model; others are its forks."""
    _thread: ThreadPoolExecutor | None

    def __init__(self, library: Path, weights: Path, threads: int, libraries: Iterable[str]) -> None:
        self._handle: int | None = None
        self.turn = threading.RLock()
        """Of whoever calls the model, or forks."""
        self._fork, self._thread = 0, None
        self._lib = _open_library(library, libraries)
        error = ctypes.create_string_buffer(_ERROR_BYTES)
        self._handle = self._on_own_thread(self._lib.korch_open, str(weights).encode(), threads, error, _ERROR_BYTES)
        if not self._handle:
            raise ArchiveError(error.value.decode(errors="replace"))
        self._columns = self._lib.korch_step_count(self._handle)
        self._callback: Any = None
        with _FORKING:
            _MODELS.add(self)

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array]) -> None:
        """Fills `outputs`; Error with the model's own text where the run fails."""
        self._call(self._lib.korch_run, _addresses(inputs), _addresses(outputs))

    def profile(self, inputs: Sequence[Array], outputs: Sequence[Array], runs: int) -> tuple[Floats, Floats]:
        """Seconds [runs, steps + 1], whose last column is the whole run, and [runs, steps] the share of the time around
        each step in which a thread did not have its processor."""
        seconds, lost = np.zeros((runs, self._columns)), np.zeros((runs, self._columns))
        at, shares = (a.ctypes.data_as(POINTER(c_double)) for a in (seconds, lost))
        self._call(self._lib.korch_profile_lost, _addresses(inputs), _addresses(outputs), at, shares, runs)
        return seconds, lost[:, :-1]

    @property
    def iterates(self) -> bool:
        """Whether the library has `korch_iterate`; those of an earlier Korch have not."""
        return hasattr(self._lib, "korch_iterate")

    def iterate(self, loop: NativeLoop, inputs: Any, outputs: Any, first: int, last: int) -> tuple[int, bool]:
        """See `korch_iterate`: the number of the iteration that would follow, and whether the loop goes on. `inputs`,
        `outputs`: c_void_p arrays."""
        done, more = c_int64(), c_int()
        self._lib.korch_iterate.argtypes = [c_void_p] * 4 + [c_int64] * 2 + [c_void_p] * 2
        self._call(self._lib.korch_iterate, byref(loop), inputs, outputs, first, last, byref(done), byref(more))
        return done.value, bool(more.value)

    def set_host(self, call: HostCall, reads: Sequence[int]) -> None:
        """Lets `call` compute host steps; `reads[step]` is how many inputs each has. It must keep its exceptions."""

        def back(_: Any, step: int, inputs: Any, output: int) -> int:
            try:
                call(step, [inputs[i] for i in range(reads[step])], output)
            except BaseException:
                return 1
            return 0

        self._callback = _HOST(back)
        self._lib.korch_set_host(self._open(), self._callback, None)

    def close(self) -> None:
        """Frees the model and unloads its code; closing twice does nothing."""
        with self.turn:
            handle, self._handle = self._handle, None
            if handle:
                self._lib.korch_close(handle)
                self._unload()

    def _unload(self) -> None:
        """Of a library that other models have opened too, one opening is taken back. In a fork nothing is unloaded: a
        thread of its own may be what closes the model."""
        if self._lib._handle != _pool_library and os.getpid() == NativeModel._home:
            _dlclose(self._lib._handle)

    def _open(self) -> int:
        if not self._handle:
            raise Error("the executable is closed")
        return self._handle

    def _call(self, function: Any, *arguments: Any) -> None:
        """Error with the model's own text where it fails."""
        with self.turn:
            handle = self._open()
            if status := self._on_own_thread(function, handle, *arguments):
                raise Error(self._lib.korch_error(handle).decode(errors="replace") or f"run failed: status {status}")

    def _on_own_thread(self, function: Any, *arguments: Any) -> Any:
        """What the function returns, in a fork called by a thread that was started there: OpenMP starts others for it,
        where it would wait for ever for those that the main thread had before."""
        here = os.getpid()
        NativeModel._home = NativeModel._home or here
        if here == NativeModel._home:
            return function(*arguments)
        if self._thread is None or self._fork != here:
            self._fork, self._thread = here, ThreadPoolExecutor(1)
        try:
            answer = self._thread.submit(function, *arguments)
        except RuntimeError as e:
            self._thread = None
            raise Error(f"no thread can be started for the program in a fork: {e}") from None
        return _finished(answer)

    def __del__(self) -> None:
        self.close()


def _take_turns() -> None:
    """Forks wait for the runs of other threads: in the child nobody would end them, and its own would wait for that."""
    _FORKING.acquire()
    for model in list(_MODELS):
        model.turn.acquire()
        _held.append(model)


def _give_turns_back() -> None:
    while _held:
        _held.pop().turn.release()
    _FORKING.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_take_turns, after_in_parent=_give_turns_back, after_in_child=_give_turns_back)


def _finished(future: Future[Any]) -> Any:
    """What it returns. An interrupt waits for the end: what runs has addresses of what its caller would let go."""
    interrupt: BaseException | None = None
    while not future.done():
        try:
            wait((future,))
        except BaseException as e:
            interrupt = e
    if interrupt:
        raise interrupt
    return future.result()


def _addresses(arrays: Sequence[Array]) -> Any:
    return (c_void_p * (len(arrays) + 1))(*map(address, arrays))


_pool: int | None = None
"""Where all programs of this process keep packed constants; of the first library, which stays loaded."""
_pool_library = 0
"""The handle of that library."""
_OPENMP = ("libgomp.so.1", "libomp.so", "libomp.so.5", "libiomp5.so")
_kept: dict[str, Any] = {}
"""Runtimes of OpenMP, whose threads outlive the programs that started them: they stay loaded."""


def _share_pool(lib: Any) -> None:
    """Lets the library hold packed constants where others do; those of an earlier Korch keep their own."""
    global _pool, _pool_library
    if not hasattr(lib, "korch_set_pool_1"):
        return
    lib.korch_get_pool_1.restype, lib.korch_set_pool_1.argtypes = c_void_p, [c_void_p]
    with _FORKING:
        if not _pool:
            _pool, _pool_library = lib.korch_get_pool_1(), lib._handle
        lib.korch_set_pool_1(_pool)


def _keep_openmp() -> None:
    """Opens the runtimes that are loaded once more."""
    for name in _OPENMP:
        if name not in _kept and hasattr(os, "RTLD_NOLOAD"):
            with suppress(OSError):
                _kept[name] = ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_LAZY)


def _dlclose(handle: int) -> None:
    """Unloads a library once for each time that it was opened; nothing where the system has no such call."""
    own = ctypes.CDLL(None)
    if hasattr(own, "dlclose"):
        own.dlclose.argtypes = [c_void_p]
        own.dlclose(handle)


def _way_out(complaint: str) -> str:
    """A hint for the user where the system cannot load a library."""
    if "libgomp" in complaint and "cannot open" in complaint:
        return "install the OpenMP runtime (libgomp1)"
    if "failed to map segment" in complaint:
        return "set TMPDIR to a folder where programs may run"
    return "run `korch optimize` again"


def _open_library(path: Path, libraries: Iterable[str]) -> Any:
    """The library with its functions' types; what it links with is loaded first, wherever it is installed here."""
    try:
        for name in libraries:
            ctypes.CDLL(str(find_code(name)), mode=ctypes.RTLD_GLOBAL)
        lib = ctypes.CDLL(str(path))
    except OSError as e:
        raise ArchiveError(f"cannot load the compiled program: {e}; {_way_out(str(e))}") from None
    except BackendError as e:
        raise ArchiveError(f"cannot load what the compiled program calls: {e}") from None
    _keep_openmp()
    _share_pool(lib)
    lib.korch_open.restype, lib.korch_open.argtypes = c_void_p, [c_char_p, c_int, c_char_p, c_size_t]
    lib.korch_run.argtypes = [c_void_p, c_void_p, c_void_p]
    doubles = POINTER(c_double)
    lib.korch_profile_lost.argtypes = [c_void_p, c_void_p, c_void_p, doubles, doubles, c_int]
    lib.korch_set_host.argtypes = [c_void_p, _HOST, c_void_p]
    lib.korch_close.restype, lib.korch_close.argtypes = None, [c_void_p]
    lib.korch_error.restype, lib.korch_error.argtypes = c_char_p, [c_void_p]
    lib.korch_step_count.argtypes = [c_void_p]
    return lib
