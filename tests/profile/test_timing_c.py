"""The clock of kernels that teams run."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from korch.backends.program import include
from korch.backends.toolchain import find_toolchain
from korch.profile import timing

TURNS, EACH = 16, 50e-6
FLOOR = TURNS * EACH / 2
"""Seconds that the kernel takes at least on two threads, whoever takes its turns."""
CALLED = f"""
_Thread_local korch_share *korch_shares;
static void join(korch_share *shares) {{ korch_shares = shares; }}
static void run(void *state, const void *const *in, void *out, void *workspace) {{
  static const int begins[] = {{0, {TURNS // 2}, {TURNS}}};
  korch_turns turns = korch_share_out(korch_thread_number(), 2, begins, NULL);
  for (int turn; (turn = korch_take(&turns)) >= 0;)
    for (double end = korch_now() + {EACH}; korch_now() < end;) {{}}
  (void)state, (void)in, (void)out, (void)workspace;
}}
void times(int count, double *samples) {{
  omp_set_num_threads(2);
  const korch_call call = {{run, NULL, NULL, NULL, NULL, join}};
  korch_time(&call, 1, count, (korch_sample *)samples);
}}
"""


@pytest.mark.skipif(not find_toolchain().openmp, reason="the compiler has no OpenMP")
def test_a_thread_that_is_held_up_does_not_shorten_the_time(tmp_path: Path):
    """At random points of the team's way: the others do its turns, and the time is none that they could not do."""
    texts = {
        "timing.c": f"#define KORCH_DELAY 1e-3\n{Path(timing.__file__).with_name('timing.c').read_text()}{CALLED}",
        **{name: include(name) for name in ("korch_rt.h", "korch_team.h")},
    }
    find_toolchain().compile_library(texts, tmp_path / "held_up.so")
    samples = np.zeros((100, 2))
    ctypes.CDLL(str(tmp_path / "held_up.so")).times(len(samples), ctypes.c_void_p(samples.ctypes.data))
    assert samples[:, 0].min() >= FLOOR
    assert samples[:, 1].max() > 0.3  # a thread that sleeps for a millisecond does not have its processor
