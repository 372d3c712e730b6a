"""Compiling and measuring side by side: many processes compile ahead, some for each device measure what is ready."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, Protocol

from korch.backends.contract import Kernel
from korch.backends.cuda.triton.compile import Compiled, CompiledLaunch, identity
from korch.profile.cuda.ready import ReadyQueue
from korch.profile.cuda.tasks import Compile, Measure
from korch.profile.remembered import by_cone
from korch.profile.results import Failed, Result
from korch.system.deadline import Deadline

READY = 8
"""Compiled kernels that wait to be measured, for each process that measures: enough that none is ever idle."""

Ready = tuple[str, Kernel, tuple[CompiledLaunch, ...]]


class Asked(Protocol):
    """A process that answers one question at a time."""

    def ask(self, task: object) -> Any: ...

    def interrupt(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Pipeline:
    """`compilers`, and `boards` that measure, several of which may share a device: a thread for each. All that is
    compiled is kept as `made`, as programs are linked of it."""

    compilers: Sequence[Asked]
    boards: Sequence[Asked]
    capability: int
    made: Compiled = field(default_factory=Compiled)

    def results(self, kernels: Mapping[str, Kernel], deadline: Deadline) -> Iterator[tuple[str, Result]]:
        """Each kernel's result as it comes, by its key; at the deadline what is being measured is the last."""
        work = _Work(self, kernels)
        try:
            yield from work.until(deadline)
        except BaseException:
            work.end(hurry=True)
            raise
        work.end()
        yield from work.rest()

    def close(self) -> None:
        for process in (*self.compilers, *self.boards):
            process.close()


class _Work:
    """One batch of kernels on its way."""

    def __init__(self, pipeline: Pipeline, kernels: Mapping[str, Kernel]) -> None:
        self._pipeline = pipeline
        self._left = len(kernels)
        order = by_cone(kernels)
        self._sources = deque(item for item in order if item[1].launches)
        calls: list[Ready] = [(key, k, ()) for key, k in order if not k.launches]
        self._ready = ReadyQueue(READY * len(pipeline.boards), calls, lambda item: item[1].cone.signature)
        self._done: SimpleQueue[tuple[str, Result] | BaseException] = SimpleQueue()
        self._stop = Event()
        compilers = pipeline.compilers[: len(self._sources)]
        self._threads = [Thread(target=self._guarded, args=(self._compile, p), daemon=True) for p in compilers]
        self._threads += [
            Thread(target=self._guarded, args=(self._measure, i), daemon=True) for i in range(len(pipeline.boards))
        ]
        for thread in self._threads:
            thread.start()

    def until(self, deadline: Deadline) -> Iterator[tuple[str, Result]]:
        while self._left:
            if deadline.passed:
                return
            try:
                item = self._done.get(timeout=deadline.left if isfinite(deadline.left) else None)
            except Empty:
                return
            if isinstance(item, BaseException):
                raise item
            self._left -= 1
            yield item

    def end(self, hurry: bool = False) -> None:
        """Takes up nothing new, ends what is being compiled, waits for what is being measured, or ends that too."""
        self._stop.set()
        self._ready.close()
        for process in (*(self._pipeline.compilers if self._left else ()), *(self._pipeline.boards if hurry else ())):
            process.interrupt()
        for thread in self._threads:
            thread.join()

    def rest(self) -> Iterator[tuple[str, Result]]:
        """What came after the last look."""
        while not self._done.empty():
            item = self._done.get()
            if not isinstance(item, BaseException):
                yield item

    def _guarded(self, work: Callable[[Any], None], argument: object) -> None:
        """Whatever goes wrong in a thread is the main thread's business."""
        try:
            work(argument)
        except BaseException as e:
            if not self._stop.is_set():
                self._done.put(e)

    def _compile(self, compiler: Asked) -> None:
        while not self._stop.is_set():
            try:
                key, kernel = self._sources.popleft()
            except IndexError:
                return
            made = compiler.ask(Compile(kernel, self._pipeline.capability))
            if self._stop.is_set():
                return
            if isinstance(made, Failed):
                self._done.put((key, made))
            else:
                self._pipeline.made[identity(kernel)] = made
                self._ready.put((key, kernel, made))

    def _measure(self, board: int) -> None:
        while item := self._ready.take(board):
            key, kernel, binaries = item
            self._done.put((key, self._pipeline.boards[board].ask(Measure(kernel, binaries))))
