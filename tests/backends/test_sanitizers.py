"""Sanitizers find what is planted, and nothing in generated code and in the threads that run it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from korch.backends.program import include

PLANTED = """
import ctypes, sys, tempfile
from pathlib import Path
import numpy as np
from korch.backends.toolchain import find_toolchain
with tempfile.TemporaryDirectory() as folder:
    library = Path(folder) / "planted.so"
    find_toolchain().compile_library({"planted.c": sys.argv[1]}, library)
    x = np.ones(1000, np.int32)
    ctypes.CDLL(str(library)).planted(ctypes.c_void_p(x.ctypes.data), 1000)
"""
FAULTS = {
    "nothing": ("void planted(int *x, int n) { x[n - 1] = 1; }", ""),
    "beyond an array": ("void planted(int *x, int n) { x[n] = 1; }", "heap-buffer-overflow"),
    "overflow": ("int planted(int *x, int n) { return x[0] * 2147483647 + n; }", "signed integer overflow"),
}
TEAM = """
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include "korch_rt.h"
#include "korch_team.h"
enum { THREADS = 4, LOOPS = 500, MOST = 97 };
_Thread_local korch_share *korch_shares;
static korch_share shares[THREADS];
static korch_meeting meeting;
static int written[MOST], wrong[THREADS];

static void meet(void) {
#ifndef RACE
  korch_meet(&meeting);
#endif
}

static void *work(void *argument) {
  const int thread = omp_number = (int)(intptr_t)argument;
  korch_shares = shares;
  for (int loop = 0; loop < LOOPS; ++loop) {
    const int count = loop % MOST + 1;
    int begins[THREADS + 1];
    for (int i = 0; i <= THREADS; ++i) begins[i] = i * count / THREADS;
    korch_turns turns = korch_share_out(thread, THREADS, begins, NULL);
    for (int turn; (turn = korch_take(&turns)) >= 0;) written[turn] = loop;
    meet();
    for (int i = 0; i < count; ++i) wrong[thread] += written[i] != loop;
    meet();
  }
  return NULL;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) pthread_create(threads + i, NULL, work, (void *)(intptr_t)i);
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
  return wrong[0] + wrong[1] + wrong[2] + wrong[3];
}
"""
OPENMP = """\
#pragma once
static _Thread_local int omp_number;
static inline int omp_get_thread_num(void) { return omp_number; }
static inline int omp_get_num_threads(void) { return 4; }
"""
"""The sanitizer knows POSIX threads and atomic operations, not those of GCC's OpenMP."""
KERNELS = tuple(f"tests/backends/test_{name}.py" for name in ("scatter", "recurrent", "streaming", "special_values"))


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(name: str, script, tmp_path: Path):
    source, fault = FAULTS[name]
    environment = script("sanitize").environment(tmp_path)
    done = subprocess.run([sys.executable, "-c", PLANTED, source], env=environment, stderr=subprocess.PIPE, text=True)
    reports = done.stderr + "".join(file.read_text() for file in tmp_path.glob("report.*"))
    assert (fault in reports and done.returncode) if fault else (not reports and not done.returncode)


def test_tests_for_the_sanitizers_are_there(script):
    root = Path(__file__).parents[2]
    assert all((root / name).exists() for name in (*script("sanitize").TESTS, *KERNELS))


@pytest.mark.slow
@pytest.mark.nightly
def test_kernels_are_clean(script):
    assert script("sanitize").sanitized(KERNELS, ["-m", "not slow"]).clean


@pytest.mark.parametrize("race", [True, False])
def test_a_meeting_orders_what_threads_write(race: bool, tmp_path: Path):
    """Each thread reads what others wrote in its turns before they met."""
    for name in ("korch_rt.h", "korch_team.h"):
        (tmp_path / name).write_text(include(name))
    (tmp_path / "omp.h").write_text(OPENMP)
    (tmp_path / "main.c").write_text(TEAM)
    flags = ["-O2", "-g1", "-std=gnu11", "-pthread", "-fsanitize=thread", "-D_OPENMP=201511", "-I."]
    command = ["gcc", *flags, *(["-DRACE"] if race else []), "-o", "main", "main.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run(["./main"], cwd=tmp_path, capture_output=True, text=True)
    assert ("data race" in done.stderr) == race and bool(done.returncode) == race, done.stderr
