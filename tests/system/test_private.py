"""The cache belongs to this user alone."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from korch.errors import CacheError
from korch.options import Options
from korch.profile import Database, Measurement
from korch.profile.database import database_file
from korch.session.archives import Outcome, ProgramFiles, archives_folder
from korch.system.locks import locked
from korch.system.private import check_private, private_file, private_folder


@pytest.fixture(autouse=True)
def generous_umask() -> Iterator[None]:
    """One by which new files are everybody's."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_everything_that_is_made_is_of_this_user_alone(tmp_path: Path, small_archive: Path):
    import korch

    cache = tmp_path / "deep" / "cache"
    with Database(cache) as database:
        database.record("a", Measurement(1.0))
        place = ProgramFiles.of("m", Options(1), cache)
        with korch.load(small_archive) as program, locked(archives_folder(cache) / place.lock.name):
            place.keep(Outcome(5.0, 2.0, 1.0), program)
        made = {p: mode(p) for p in (cache.parent, cache, *cache.rglob("*"))}
    assert len(made) >= 9, "database, its log, two locks, an archive with two files beside it, and their folders"
    assert not {p: oct(m) for p, m in made.items() if m != (0o700 if p.is_dir() else 0o600)}


def test_a_folder_that_others_may_write_is_refused(tmp_path: Path):
    cache = private_folder(tmp_path / "cache")
    for bits in (0o770, 0o707, 0o1777):
        cache.chmod(bits)
        with pytest.raises(CacheError, match=r"chmod -R go-w .*KORCH_CACHE_DIR") as caught:
            Database(cache)
        assert str(cache) in str(caught.value) and "\n" not in str(caught.value)
    cache.chmod(0o755)
    Database(cache).close()


def test_a_database_that_others_may_write_is_refused(tmp_path: Path):
    Database(tmp_path).close()
    database_file(tmp_path).chmod(0o666)
    with pytest.raises(CacheError, match=database_file(tmp_path).name):
        Database(tmp_path)


def test_what_others_may_only_read_becomes_private(tmp_path: Path):
    (tmp_path / "file").touch(0o644)
    assert mode(private_file(tmp_path / "file")) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_a_folder_of_another_user_is_refused(tmp_path: Path):
    cache = private_folder(tmp_path / "cache")
    os.chown(cache, 12345, -1)
    with pytest.raises(CacheError, match=r"belongs to another user \(uid 12345\).*KORCH_CACHE_DIR"):
        check_private(cache)
    with pytest.raises(CacheError, match="another user"):
        Database(cache)


def test_a_file_in_the_place_of_the_folder_is_no_folder(tmp_path: Path):
    (tmp_path / "cache").touch()
    with pytest.raises(NotADirectoryError):
        private_folder(tmp_path / "cache")


@pytest.mark.parametrize("end", [".json", ".korch"])
def test_a_program_that_others_may_write_counts_as_none(end: str, tmp_path: Path, small_archive: Path):
    import korch

    place = ProgramFiles.of("m", Options(1), tmp_path)
    with korch.load(small_archive) as program:
        place.keep(Outcome(5.0, 2.0, 1.0), program)
    assert place.outcome()
    place.archive.with_suffix(end).chmod(0o666)
    assert place.outcome() is None
