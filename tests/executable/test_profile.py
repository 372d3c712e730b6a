"""Times of steps where threads lose their processors: never below the work, and the whole matches."""

from __future__ import annotations

import numpy as np
import pytest
from tests.by_hand import by_hand, code

from korch.backends.contract import Kernel
from korch.backends.toolchain import find_toolchain
from korch.executable import link
from korch.executable.cpu import CpuExecutable
from korch.executable.profile import Profile, profile_of
from korch.ir.primitive import Primitive
from korch.system.samples import CROWDED

from .small_plans import chain, feeds_of, native, plan_of

TURNS, EACH, THREADS = 16, 20e-6, 2
FLOOR = TURNS * EACH / THREADS
"""Seconds that a step takes at least, whoever takes its turns."""
HELPED = code(
    f"""static const int begins[] = {{0, {TURNS // 2}, {TURNS}}};
    korch_turns turns = korch_share_out(omp_get_thread_num(), {THREADS}, begins, NULL);
    for (int turn; (turn = korch_take(&turns)) >= 0;)
        for (double end = omp_get_wtime() + {EACH}; omp_get_wtime() < end;) {{}}
#pragma omp single nowait
    *(float *)out = 1;""",
    team=True,
    steals=True,
)
SINGLE = code(f"for (double end = omp_get_wtime() + {FLOOR}; omp_get_wtime() < end;) {{}} *(float *)out = 1;")


@pytest.mark.skipif(not find_toolchain().openmp, reason="the compiler has no OpenMP")
@pytest.mark.parametrize("delay", ["", "1e-3", "1e-4"])
def test_no_step_is_shorter_than_its_work_whichever_thread_is_held_up(delay: str, monkeypatch: pytest.MonkeyPatch):
    """Random threads are held up before and behind random steps: others do their work, and no step is charged with
    that of the next."""
    monkeypatch.setattr(link, "DEFINES", (*link.DEFINES, *([f"-DKORCH_DELAY={delay}"] if delay else [])))
    numbers = iter(range(100))

    def by(p: Primitive) -> Kernel:
        return by_hand(native(p).cone, SINGLE if next(numbers) % 4 == 3 else HELPED)

    plan = plan_of(chain(12, (1,)).graph, by, THREADS)
    feeds = [np.ones(1, np.float32)] * len(plan.graph.inputs)
    with CpuExecutable.of(plan) as e:
        seconds, lost = e._native.profile(feeds, [np.zeros(1, np.float32)], 60)
        profile = e.profile(feeds_of(plan), runs=20)
    steps, whole = seconds[:, :-1], seconds[:, -1]
    assert steps.shape == lost.shape and steps.min() >= FLOOR
    assert (steps.sum(1) <= 1.001 * whole).all(), "a run holds its steps, and copies in which it may lose its processor"
    assert np.median(whole / steps.sum(1)) == pytest.approx(1, rel=0.02)
    assert min(profile.steps) >= FLOOR and profile.total == pytest.approx(sum(profile.steps), rel=0.02)
    if delay == "1e-3":
        assert lost.max() > 0.5 and profile.disturbed > 0


def test_disturbed_samples_do_not_count():
    seconds = np.array([[1.0, 2.0, 3.1], [1.0, 2.0, 3.1], [9.0, 2.2, 11.3], [1.1, 7.0, 8.2]])
    lost = np.array([[0.0, 0.0], [0.01, 0.0], [0.9, 0.0], [0.0, 0.5]])
    found = profile_of(seconds, lost)
    assert found.steps == pytest.approx((1.0, 2.0), rel=0.1) and found.total == pytest.approx(sum(found.steps) + 0.1)
    assert found.disturbed == 0.25 and max(found.spreads) < CROWDED


def test_without_quiet_samples_the_least_disturbed_count_and_the_spread_says_so():
    seconds = np.array([[5.0, 5.0], [1.0, 1.0], [1.1, 1.1], [9.0, 9.0], [1.2, 1.2]])
    found = profile_of(seconds, np.array([[0.8], [0.1], [0.2], [0.9], [0.3]]))
    assert found.steps == pytest.approx((1.1,), rel=0.1) and found.spreads[0] >= CROWDED and found.disturbed == 1


def test_steps_that_vary_independently_add_up():
    rng = np.random.default_rng(0)
    each = rng.lognormal(0, 0.3, (40, 300))
    found = profile_of(np.column_stack([each, each.sum(1)]), np.zeros_like(each))
    assert sum(found.steps) == pytest.approx(np.median(each.sum(1)), rel=0.05)


def test_of_two_profiles_each_step_counts_with_its_smaller_time():
    first, second = Profile((1.0, 3.0), 4.5, 10), Profile((1.5, 2.0), 3.6, 10)
    assert first.least(second) == Profile((1.0, 2.0), pytest.approx(3.1), 20)
