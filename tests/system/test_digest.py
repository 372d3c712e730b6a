"""Equal sources have equal digests, wherever they are."""

from __future__ import annotations

import os
from pathlib import Path

from korch.system.digest import package_digest, tree_digest


def package(folder: Path) -> Path:
    (folder / "room").mkdir(parents=True)
    (folder / "__pycache__").mkdir()
    (folder / "__init__.py").write_text("A = 1\n")
    (folder / "room" / "kernel.c").write_text("int a;\n")
    return folder


def test_an_edit_of_equal_size_and_time_counts(tmp_path: Path):
    root = package(tmp_path / "a")
    file, before = root / "room" / "kernel.c", tree_digest(str(root))
    times = file.stat().st_mtime_ns
    file.write_text("int b;\n")
    os.utime(file, ns=(times, times))
    assert tree_digest(str(root)) != before


def test_names_count_and_places_do_not(tmp_path: Path):
    here, there = package(tmp_path / "a"), package(tmp_path / "b")
    assert tree_digest(str(here)) == tree_digest(str(there))
    (there / "__pycache__" / "x.py").touch()
    assert tree_digest(str(here)) == tree_digest(str(there))
    (there / "__init__.py").rename(there / "other.py")
    assert tree_digest(str(here)) != tree_digest(str(there))


def test_the_package_is_read_once():
    assert package_digest() is package_digest()
