"""Files that are replaced are never seen half-written."""

from __future__ import annotations

from pathlib import Path

import pytest

from korch.folders import replaced


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


def test_where_writing_fails_nothing_has_changed(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), replaced(tmp_path / "file") as written:
        written.write(b"new" * (1 // 0))
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [b"old"]
