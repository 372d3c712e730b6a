"""Threads that help each other: whoever runs a turn, the result has the same bits."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.marks import parts

from korch.backends.contract import Kernel
from korch.backends.cpu.c import Block, Code, Function, Statements
from korch.backends.cpu.c.printing import printed
from korch.backends.cpu.loops.backend import BACKEND as LOOPS
from korch.backends.cpu.loops.turns import ENOUGH, FEW, LONG, MOST, Loop, shared_out
from korch.backends.cpu.tiles.backend import BACKEND as TILES
from korch.backends.libraries import find_libraries
from korch.backends.program import compose, include
from korch.backends.toolchain import find_toolchain
from korch.profile.arena import Bytes
from korch.profile.database import Database
from korch.profile.runners import TimedCall, entry
from korch.profile.timing import load, timing_library

from .test_tiles import CONES, attention, cone_of, conv, image, linear_attention, mbconv, relu, strassen

THREADS = 2

PROTOCOL = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "korch_rt.h"
_Thread_local korch_share *korch_shares;
enum { THREADS = 4, LOOPS = 3000, MOST = 97 };
static korch_share shares[THREADS];
static _Atomic int taken[LOOPS][MOST];
static _Atomic int wrong, helped;

static void *work(void *number) {
  const int thread = (int)(intptr_t)number;
  korch_shares = shares;
  unsigned drawn = 7u * (unsigned)thread + 1u;
  for (int loop = 0; loop < LOOPS; ++loop) {
    const int count = loop % MOST + 1;
    int begins[THREADS + 1];
    unsigned char anew[MOST];
    for (int i = 0; i <= THREADS; ++i) begins[i] = i * count / THREADS;
    for (int i = 0; i < count; ++i) anew[i] = i % 3 != 1;
    for (int i = 0; i < THREADS; ++i) if (begins[i] < count) anew[begins[i]] = 1;
    korch_turns turns = korch_share_out(thread, THREADS, begins, loop % 2 ? anew : NULL);
    for (int turn, next = -1; (turn = korch_take(&turns)) >= 0; next = turn + 1) {
      if (turn >= count || ++taken[loop][turn] > 1) ++wrong;
      if (loop % 2 && turn != next && !anew[turn]) ++wrong;
      if (turn < begins[thread] || turn >= begins[thread + 1]) ++helped;
      drawn = drawn * 1664525u + 1013904223u;
      if (drawn >> 28 == 0) usleep(drawn >> 20 & 63);
    }
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) pthread_create(threads + i, NULL, work, (void *)(intptr_t)i);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  for (int loop = 0; loop < LOOPS; ++loop)
    for (int turn = 0; turn < MOST; ++turn) wrong += taken[loop][turn] != (turn <= loop % MOST);
  printf("%d %d\\n", wrong, helped);
  return 0;
}
"""


def test_every_turn_is_taken_once_however_late_a_thread_is(tmp_path: Path):
    """Four threads that sleep at random go through loops that are not separated by meetings."""
    (tmp_path / "korch_rt.h").write_text(include("korch_rt.h"))
    (tmp_path / "main.c").write_text(PROTOCOL)
    command = [*find_toolchain().command, "-O2", "-std=gnu11", "-pthread", "-o", "main", "main.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run(["./main"], cwd=tmp_path, check=True, capture_output=True, text=True, timeout=600).stdout
    wrong, helped = map(int, said.split())
    assert wrong == 0 and helped > 1000


HELPED = [
    *CONES,
    mbconv((1, 256, 256, 16), 64, 24, 5, 2),
    linear_attention(64, 64, 4, 16, 64),
    attention(512, 128, 2, 16, turned=True),
    cone_of(relu(conv(image(1, 96, 96, 64), 64, 5, group=64))),
    cone_of(relu(conv(image(2, 64, 64, 48), 96))),
    cone_of(conv(image(1, 128, 128, 16), 3, 9)),
    strassen((1, 64, 64, 64), 64),
]


@pytest.fixture(scope="module", params=parts(4), ids=str)
def program(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ctypes.CDLL, list[Kernel]]:
    """The kernels that a team runs, in one library."""
    every = [
        k for c in request.param(HELPED) for b in (TILES, LOOPS) if b.refuses(c) is None for k in b.build(c, THREADS)
    ]
    kernels = [k for k in every if k.code and k.code.steals]
    folder = tmp_path_factory.mktemp("turns")
    libraries = find_libraries(n for k in kernels for n in k.libraries)
    find_toolchain().compile_library(
        {"program.c": compose([k.code for k in kernels])}, folder / "program.so", libraries
    )
    return load(folder / "program.so"), kernels


def test_results_have_the_same_bits_whoever_runs_a_turn(program: tuple[ctypes.CDLL, list[Kernel]], tmp_path: Path):
    """A thread whose team never comes begins with its own turns, and takes all others from the middle on. Of a static
    schedule each thread takes its own."""
    library, kernels = program
    library.omp_set_num_threads(THREADS)
    with Database(tmp_path) as database:
        timing = load(timing_library(database, find_toolchain(), tmp_path))
    assert {k.backend for k in kernels} == {"tiles", "loops"} and any("bands" in k.variant.form for k in kernels)
    for i, kernel in enumerate(kernels):
        rng = np.random.default_rng(i)
        leaves = [_bytes(rng.standard_normal(t.shape).astype(t.dtype)) for t in kernel.cone.leaves]
        ways = (timing.korch_once, timing.korch_alone, timing.korch_static)
        together, *others = (_result(library, i, kernel, leaves, way) for way in ways)
        assert np.isfinite(together).all(), str(kernel.cone)
        assert all(other.tobytes() == together.tobytes() for other in others), str(kernel.cone)


def _result(
    library: ctypes.CDLL, number: int, kernel: Kernel, leaves: Sequence[Bytes], run: Callable[[Any], object]
) -> Bytes:
    row, state = entry(library, number), ctypes.c_void_p()
    out, workspace = _room(kernel.cone.root.nbytes), _room(kernel.workspace)
    out[...] = 0xFF  # not a number
    given = (ctypes.c_void_p * (len(leaves) + 1))(*(b.ctypes.data for b in (*leaves, out)))
    if row.init:
        start = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
        assert start(row.init)(ctypes.addressof(state), ctypes.addressof(given)) == 0
    join = ctypes.cast(library.korch_join, ctypes.c_void_p)
    run(ctypes.byref(TimedCall(row.run, state, ctypes.addressof(given), out.ctypes.data, workspace.ctypes.data, join)))
    if row.free:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(row.free)(state)
    return out.view(np.float32)


def _bytes(values: np.ndarray) -> Bytes:
    room = _room(values.nbytes)
    room[...] = np.ascontiguousarray(values).view(np.uint8).ravel()
    return room


def _room(size: int) -> Bytes:
    """Zeros at a cache line."""
    block = np.zeros(size + 64, np.uint8)
    return block[-block.ctypes.data % 64 :][:size]


@pytest.mark.parametrize("counts", [(3, 50, 7), (1, 128), (40, 1, 1, 9), (2, 100)])
def test_loops_find_their_place(counts: tuple[int, ...], tmp_path: Path):
    """The variables of loops that are shared out, in the order in which one thread takes the turns."""
    loops = [Loop(f"v{i}", n, step=i + 1, low=5 * i) for i, n in enumerate(counts)]
    put = [f"*to++ = {loop.name};" for loop in loops]
    plain, shared = Statements(), Statements()
    with shared_out(plain, loops, 1, LONG):
        plain.add(*put)
    shared.add("korch_share shares[2] = {0};", "korch_shares = shares;")
    with shared_out(shared, loops, 2, LONG):
        shared.add(*put)
    assert shared.steals and not plain.steals
    functions = (Function("plain", "int *to", plain.body), Function("shared", "int *to", shared.body))
    source = f"""{include("korch_rt.h")}
_Thread_local korch_share *korch_shares;
{printed(Code(functions), "own_")}
void plain(int *to) {{ own_plain(to); }}
void shared(int *to) {{ own_shared(to); }}
"""
    find_toolchain().compile_library({"loops.c": source}, tmp_path / "loops.so")
    library = load(tmp_path / "loops.so")
    made = [np.full(np.prod(counts) * len(counts), -1, np.int32) for _ in range(2)]
    library.plain(ctypes.c_void_p(made[0].ctypes.data))
    library.shared(ctypes.c_void_p(made[1].ctypes.data))
    one, two = (m.reshape(-1, len(counts)) for m in made)
    assert sorted(map(tuple, one)) == sorted(map(tuple, two)) and (one >= 0).all()


def test_few_turns_and_short_kernels_are_divided_once_and_for_all():
    for count, work in ((2 * FEW - 1, LONG), (2 * FEW, LONG - 1)):
        text = Statements()
        with shared_out(text, (Loop("i", count),), 2, work):
            text.add("one();")
        assert not text.steals and text.items[0] == "#pragma omp for schedule(static) nowait collapse(1)"


def test_inner_loops_stay_whole():
    """Where outer ones have turns enough, and where all together would not fit a share."""
    for counts, inner in (((2 * ENOUGH, 8), 1), ((ENOUGH, 8), 0), ((1, MOST), 1)):
        text = Statements()
        with shared_out(text, [Loop(f"v{i}", n) for i, n in enumerate(counts)], 2, LONG):
            text.add("one();")
        (turns,) = (s for s in text.body if isinstance(s, Block))
        depth, inside = 0, turns.body
        while blocks := [s for s in inside if isinstance(s, Block)]:
            depth, inside = depth + 1, blocks[0].body
        assert depth == inner
