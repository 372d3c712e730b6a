"""Files that are replaced are never seen half-written."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from korch.errors import FolderError
from korch.system import folders
from korch.system.folders import replaced


def test_who_has_the_old_file_open_keeps_it(tmp_path: Path):
    file = tmp_path / "file"
    file.write_bytes(b"old")
    with file.open("rb") as opened:
        with replaced(file) as written:
            written.write(b"new")
            assert file.read_bytes() == b"old"
        assert (opened.read(), file.read_bytes()) == (b"old", b"new")
    (tmp_path / "usual").touch()
    assert file.stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_permissions_stay(tmp_path: Path):
    file = tmp_path / "file"
    file.touch(0o600)
    with replaced(file) as written:
        written.write(b"new")
    assert file.stat().st_mode & 0o777 == 0o600


def test_where_writing_fails_nothing_has_changed(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replaced(tmp_path / "file") as written:
        written.write(b"new" * (1 // 0))
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]


LEFT = """
import os, signal, sys
from korch.system.folders import owned_folder
folder = owned_folder("korch-test-")
(folder / "weights").write_bytes(bytes(9))
print(folder, flush=True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if os.fork():
    os._exit(0)
os.close(1)
sys.stdin.read()
"""


@pytest.mark.parametrize(("end", "stays"), [("killed", False), ("a fork lives on", True)])
def test_folders_of_nobody_go(end: str, stays: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folders, "_marks", {})
    process = subprocess.Popen(
        [sys.executable, "-c", LEFT, end],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    assert process.stdin and process.stdout
    left = Path(process.stdout.readline().strip())
    process.stdout.read()
    if end == "killed":
        process.wait()
    assert (left / "weights").is_file()
    mine = folders.owned_folder("korch-test-")
    assert left.exists() == stays and mine.is_dir()
    process.stdin.close()
    process.wait()
    folders._remove(mine, os.getpid())
    assert not mine.exists() and not folders._marks


def test_a_private_file_is_private_whatever_was_there(tmp_path: Path):
    file = tmp_path / "file"
    file.touch(0o666)
    with replaced(file, private=True) as written:
        written.write(b"new")
    assert file.stat().st_mode & 0o777 == 0o600 and file.read_bytes() == b"new"


def test_the_name_is_on_the_disk_after_the_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    synced, fsync = list[str](), os.fsync

    def recorded(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").resolve().name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", recorded)
    with replaced(tmp_path / "file") as written:
        written.write(b"new")
    partial, folder = synced
    assert partial.startswith(".file.") and folder == tmp_path.name


def test_without_room_the_error_names_the_way_out(monkeypatch: pytest.MonkeyPatch):
    def full(**_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(FolderError, match=r"No space left on device; set TMPDIR"):
        folders.owned_folder("korch-test-")


def test_a_folder_that_cannot_be_removed_goes_at_the_exit(tmp_path: Path):
    """As with too many open files."""
    code = (
        "import shutil\n"
        "from korch.system import folders\n"
        "folder, remove = folders.owned_folder('korch-test-'), shutil.rmtree\n"
        "shutil.rmtree = lambda *a, **k: None\n"
        "folders.discard(folder)\n"
        "shutil.rmtree = remove\n"
        "print(folder.exists())\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "TMPDIR": str(tmp_path)}, capture_output=True
    )
    assert said.stdout == b"True\n" and not list(tmp_path.glob("korch-*"))
