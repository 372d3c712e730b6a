"""The clock of kernels that teams run."""

from __future__ import annotations

import ctypes
from pathlib import Path

from korch.backends.program import include
from korch.backends.toolchain import find_toolchain
from korch.profile import timing

LATE = 50e-3
"""Seconds that the first thread is held up before it reads the clock."""
HELD_UP = f"""
#define _GNU_SOURCE
#include <omp.h>
#include <time.h>
static int late(clockid_t id, struct timespec *t) {{
  static int held_up;
  const struct timespec pause = {{0, (long)(1e9 * {LATE})}};
  if (omp_get_thread_num() == 0 && !held_up++) nanosleep(&pause, NULL);
  return clock_gettime(id, t);
}}
#define clock_gettime late
"""
CALLED = """
static void join(korch_share *shares) { (void)shares; }
static void run(void *state, const void *const *in, void *out, void *workspace) {
  (void)state, (void)in, (void)out, (void)workspace;
}
double held_up(void) {
  omp_set_num_threads(2);
  const korch_call call = {run, NULL, NULL, NULL, NULL, join};
  return korch_seconds(&call, 1);
}
"""


def test_a_thread_that_is_held_up_does_not_shorten_the_time(tmp_path: Path):
    """What another has done before it reads the clock counts."""
    text = HELD_UP + Path(timing.__file__).with_name("timing.c").read_text() + CALLED
    texts = {"held_up.c": text, **{name: include(name) for name in ("korch_rt.h", "korch_team.h")}}
    find_toolchain().compile_library(texts, tmp_path / "held_up.so")
    library = ctypes.CDLL(str(tmp_path / "held_up.so"))
    library.held_up.restype = ctypes.c_double
    assert library.held_up() >= LATE
