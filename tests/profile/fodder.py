"""Small hand-written kernels, right and wrong ones, and a program that measures some of them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from tests.by_hand import by_hand, code

from korch.backends.contract import Kernel
from korch.ir import Builder, Cone
from korch.profile import Database, Profiler

LOOP = "y[i] = x[i] < 0 ? 0 : x[i];"


def relu_cone(n: int) -> Cone:
    b = Builder()
    b.op("Relu", b.input("x", "float32", (1, n // 64, 8, 8)))
    return Cone.of(b.primitives)


def relu(n: int = 1 << 14, loop: str = LOOP, first: str = "", form: str = "") -> Kernel:
    """Relu of n floats; `loop` computes element i, `first` is what happens before the loop."""
    run = f"""const float *x = in[0];
  float *y = out;
  {first}
  #pragma omp parallel for
  for (int i = 0; i < {n}; i++) {{ {loop} }}"""
    return by_hand(relu_cone(n), code(run, opens=True), form)


def shared_relu(anew: str, form: str = "") -> Kernel:
    """Relu in 16 turns of which two threads have 8 each; zeros are `anew` in a turn that follows none of the thread's
    and is not its first."""
    run = f"""const float *x = in[0];
  float *y = out;
  static const int begins[] = {{0, 8, 16}};
  static const unsigned char anew[] = {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};
  korch_turns turns = korch_share_out(omp_get_thread_num(), 2, begins, anew);
  for (int turn, next = -1; (turn = korch_take(&turns)) >= 0; next = turn + 1)
    for (int i = turn * 1024; i < (turn + 1) * 1024; i++)
      y[i] = !(x[i] <= 0) ? x[i] : turn != next && turn % 8 ? {anew} : 0;"""
    return by_hand(relu_cone(1 << 14), code(run, team=True, steals=True), form)


def scaled_product() -> Kernel:
    """y = x * w, w constant: init copies w and free releases the copy."""
    b = Builder()
    b.op("Mul", b.input("x", "float32", (64, 32)), b.constant(np.arange(32, dtype=np.float32)))
    init = """if (in[0] || !in[1]) return 1;
  *state = korch_aligned(128);
  memcpy(*state, in[1], 128);
  return 0;"""
    run = """float *copy = workspace;
  memcpy(copy, state, 128);
  for (int i = 0; i < 2048; i++) ((float *)out)[i] = ((const float *)in[0])[i] * copy[i % 32];"""
    return by_hand(Cone.of(b.primitives), code(run, init=init, free="free(state);", workspace=128))


def several(count: int) -> list[Kernel]:
    return [relu(64 * (i + 1)) for i in range(count)]


def main(folder: str, count: int) -> None:
    """Measures and says after each kernel how many are done."""

    def say(done: int, total: int) -> None:
        print(done, total, flush=True)

    with Database(Path(folder)) as database, Profiler(2, database, progress=say) as profiler:
        profiler.measure(several(count))
        print("measured", profiler.measured, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
