"""Kernels that two processes build."""

from __future__ import annotations

from signal import SIGINT, default_int_handler, pthread_kill, signal
from threading import Event, Timer, get_ident
from time import sleep
from types import SimpleNamespace
from typing import Any, cast

import pytest

from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.tiles.backend import BACKEND as TILES
from korch.ir import Builder, Cone
from korch.profile.results import Failed
from korch.search import building
from korch.search.building import KernelBuilder, Wanted
from korch.search.steering import MIN_CHAINS_FOR_A_PROCESS


def chain(rows: int) -> Cone:
    b = Builder()
    x, v, w = (b.input(n, "float32", s) for n, s in (("x", (1, 8, rows, 32)), ("v", (32, 48)), ("w", (48, 32))))
    return Cone.of(b.graph([("y", b.op("Relu", x @ v) @ w)]).primitives)


def wanted() -> list[Wanted]:
    chains: list[Wanted] = [(TILES, chain(rows)) for rows in range(16, 16 + 4 * MIN_CHAINS_FOR_A_PROCESS, 4)]
    return [*chains, (LOOPS, Cone.of(chain(16).primitives[:2]))]


def test_what_another_process_builds_is_the_same():
    some = wanted()
    with KernelBuilder() as builder:
        found = builder.build(some, 2)
    assert found == [backend.build(cone, 2) for backend, cone in some]
    assert all(kernel.cone is cone for (_, cone), kernels in zip(some, found, strict=True) for kernel in kernels)


def test_the_other_process_takes_part(monkeypatch: pytest.MonkeyPatch):
    """From the other end: the last of what waits first."""
    some, asked = wanted()[:MIN_CHAINS_FOR_A_PROCESS], list[str]()

    def other(task: tuple[str, Cone, int]) -> object:
        asked.append(task[0])
        return TILES.build(*task[1:])

    with KernelBuilder() as builder:
        monkeypatch.setattr(builder._other, "ask", other)
        assert len(builder.build(some, 1)) == MIN_CHAINS_FOR_A_PROCESS and set(asked) <= {"tiles"}
        elsewhere = builder._build_elsewhere(some, building.deque(range(MIN_CHAINS_FOR_A_PROCESS)), 1)
    assert list(elsewhere) == list(reversed(range(MIN_CHAINS_FOR_A_PROCESS)))


def test_what_the_other_process_cannot_do_is_done_here(monkeypatch: pytest.MonkeyPatch):
    some = wanted()
    monkeypatch.setattr(building, "BUILD_SECONDS", 0.0)
    with KernelBuilder() as builder:
        monkeypatch.setattr(builder._other, "_module", "korch.no_such_module")
        assert builder.build(some, 1) == [backend.build(cone, 1) for backend, cone in some]


@pytest.mark.parametrize("building_here", [True, False])
def test_who_is_interrupted_does_not_wait_for_the_other(building_here: bool, monkeypatch: pytest.MonkeyPatch):
    """Neither while building here, nor when all that is left is built elsewhere."""
    asked, done, ended, waits = Event(), Event(), Event(), list[bool]()

    def other(task: object) -> Failed:
        asked.set()
        done.wait(120)
        waits.append(ended.wait(0 if waits else 120))
        return Failed("killed", lasting=False)

    def build(cone: Any, threads: int) -> tuple[object, ...]:
        asked.wait(120)
        if building_here or cone == MIN_CHAINS_FOR_A_PROCESS - 2:  # what is left then is the other's
            done.set()
            Timer(0.0 if building_here else 0.2, pthread_kill, (get_ident(), SIGINT)).start()
        if building_here:
            sleep(120)
        return (object(),)

    monkeypatch.setattr(building, "_is_heavy", lambda *_: True)
    backend = SimpleNamespace(name="any", build=build)
    before = signal(SIGINT, default_int_handler)  # who runs tests in the background ignores it
    with KernelBuilder() as builder:
        monkeypatch.setattr(builder._other, "ask", other)
        monkeypatch.setattr(builder._other, "interrupt", ended.set)
        with pytest.raises(KeyboardInterrupt):
            builder.build(cast("list[Wanted]", [(backend, i) for i in range(MIN_CHAINS_FOR_A_PROCESS)]), 1)
    signal(SIGINT, before)
    assert waits == [True]
