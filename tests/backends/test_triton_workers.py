"""Work in other processes: results and errors come back, the main module is not run again."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
from pathlib import Path

import pytest

from korch.backends.cuda.triton import compile as compiling
from korch.backends.cuda.triton.workers import Workers
from korch.errors import BackendError

SCRIPT = """
import os
from korch.backends.cuda.triton.workers import Workers

print("once")
with Workers(2, unset=("HIDDEN",)) as pool:
    print(list(pool.map(os.getenv, ["HIDDEN", "SHOWN"])))
"""


def test_results_and_errors_come_back() -> None:
    with Workers(2) as pool:
        assert list(pool.map(operator.mul, range(20), range(20))) == [k * k for k in range(20)]
        assert pool.submit(os.getpid).result() != os.getpid()
        with pytest.raises(ZeroDivisionError):
            pool.submit(operator.truediv, 1, 0).result()
        assert pool.submit(print, "out of the way").result() is None


def test_a_process_that_ends_is_an_error_of_one_line_and_replaced() -> None:
    with Workers(1) as pool:
        with pytest.raises(BackendError, match="is there too little memory"):
            pool.submit(os._exit, 3).result()
        assert pool.submit(operator.add, 1, 2).result() == 3


def test_a_script_needs_no_guard(tmp_path: Path) -> None:
    file = tmp_path / "script.py"
    file.write_text(SCRIPT)
    environment = {**os.environ, "HIDDEN": "1", "SHOWN": "2", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=environment)
    assert done.stdout == "once\n[None, '2']\n", done.stderr


def test_as_many_processes_compile_as_the_container_has_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(compiling, "processors", lambda: 1)
    monkeypatch.setattr(compiling, "Workers", lambda jobs, unset: asked.append(jobs) or Workers(jobs, unset))
    for jobs in (0, 3):
        with compiling.compilers(jobs):
            pass
    assert asked == [1, 3]
