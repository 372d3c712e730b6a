"""Threads that wait for each other, spinning or asleep: all come, and none is left behind."""

from __future__ import annotations

import ctypes
from pathlib import Path
from threading import Thread

import pytest

from korch.backends.program import include
from korch.backends.toolchain import find_toolchain

MEETINGS = """
#include <unistd.h>
int meet(int threads, int rounds) {
  static korch_meeting meeting;
  int at[16] = {0}, wrong = 0;
#pragma omp parallel num_threads(threads) reduction(+ : wrong)
  for (int r = 1; r <= rounds; ++r) {
    if ((r + korch_thread_number()) % 5 == 0) usleep(100);  // the others wait for longer than they spin
    at[korch_thread_number()] = r;
    korch_meet(&meeting);
    for (int t = 0; t < korch_team_threads(); ++t) wrong += at[t] != r;
    korch_meet(&meeting);
  }
  return wrong;
}"""


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("defines", [(), ("-DKORCH_TAKEN=0",)], ids=["awake", "asleep"])
def test_nobody_goes_on_before_all_have_come(tmp_path: Path, defines: tuple[str, ...], threads: int):
    source = "\n".join((include("korch_rt.h"), include("korch_team.h"), MEETINGS))
    find_toolchain().compile_library({"team.c": source}, tmp_path / "team.so", defines=defines)
    found = list[int]()
    library = ctypes.CDLL(str(tmp_path / "team.so"))
    run = Thread(target=lambda: found.append(library.meet(threads, 500)), daemon=True)
    run.start()
    run.join(600)
    assert found == [0]
