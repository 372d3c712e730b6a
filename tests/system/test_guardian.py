"""A process that is killed leaves no process, folder or lock."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.backends.endless import all_gone

from korch.system.deadline import Deadline
from korch.system.guardian import MARK, owner, remove_orphans
from korch.system.locks import locked

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds, on a machine that others use; a second is usual."""


def soon(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < end:
        time.sleep(0.01)
    return true()


def orphan(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.system.orphan", str(folder), *arguments]
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize("how", ["killed", "ends by itself"])
def test_nothing_outlives_its_owner(tmp_path: Path, how: str):
    process = orphan(tmp_path, *(() if how == "killed" else ("end",)))
    assert process.stdout
    if how == "killed":
        assert process.stdout.readline() == "ready\n" and list(tmp_path.glob("korch-test-*"))
        process.kill()
    process.wait()
    assert all_gone(tmp_path, PATIENCE)
    assert soon(lambda: not list(tmp_path.glob("korch-*")))
    before = Deadline.after(PATIENCE)
    with locked(tmp_path / "lock", until=before):
        assert not before.passed
    assert process.stdout.read() == "", "nobody holds the output of a killed process open"


def folder_of(parent: Path, name: str, age: float, marked: bool = False) -> Path:
    folder = parent / f"korch-test-{name}-abc"
    folder.mkdir()
    if marked:
        (folder / MARK).touch()
    os.utime(folder, (time.time() - age,) * 2)
    return folder


def test_folders_without_a_mark_go_with_their_owner(tmp_path: Path):
    mine, other = owner(), f"{os.getpid()}-1"
    alive, gone = folder_of(tmp_path, mine, 1e6), folder_of(tmp_path, other, 1e6)
    young, marked = folder_of(tmp_path, f"{2**30}-5", 0.0), folder_of(tmp_path, f"{2**30}-6", 0.0, marked=True)
    foreign = tmp_path / "korch-some-thing-else"
    foreign.mkdir()
    remove_orphans(tmp_path)
    assert alive.exists() and young.exists() and foreign.exists() and not gone.exists() and not marked.exists()
    remove_orphans(tmp_path, of=f"{2**30}-5")
    assert alive.exists() and not young.exists()


def test_a_mark_that_is_a_link_or_a_pipe_is_no_mark(tmp_path: Path):
    folders = [folder_of(tmp_path, f"{2**30}-{n}", 1e6) for n in (5, 6)]
    (folders[0] / MARK).symlink_to("/dev/null")
    os.mkfifo(folders[1] / MARK)
    remove_orphans(tmp_path)
    assert (folders[0] / MARK).is_symlink()
