"""What the compiler of this machine can do decides how many threads a program has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from korch.backends.toolchain import find_toolchain
from korch.options import Options
from korch.targets import choose, processor


@pytest.mark.parametrize("openmp", [True, False])
def test_without_openmp_programs_run_on_one_thread(openmp: bool, monkeypatch: pytest.MonkeyPatch):
    toolchain = replace(find_toolchain(), openmp=openmp)
    monkeypatch.setattr(processor, "find_toolchain", lambda: toolchain)
    options = choose.target_of(Options(threads=4)).options
    assert options.thread_count == int(options.texts()["threads"]) == (4 if openmp else 1)
