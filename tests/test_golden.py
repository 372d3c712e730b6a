"""The comparison with golden files, and files that belong to no test."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import golden_text
from tests.backends.kernels import CASES
from tests.rewrite.examples import FILES as REWRITES

pytest.importorskip("triton")

from tests.backends.triton_kernels import kernels

FILES = (*REWRITES, *CASES, *kernels())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(golden_text, "FOLDER", tmp_path)
    return tmp_path


def test_every_file_belongs_to_a_test():
    assert not golden_text.unused(FILES), "remove these files below tests/golden"


def test_no_two_tests_share_a_file():
    assert len(set(FILES)) == len(FILES)


def test_a_written_file_passes(folder: Path):
    golden_text.write("some/text.c", "a\nb\n")
    golden_text.compare("some/text.c", "a\nb\n", "update it")


def test_a_missing_file_fails(folder: Path):
    with pytest.raises(pytest.fail.Exception, match=r"tests/golden/text\.c is missing; update it"):
        golden_text.compare("text.c", "a\n", "update it")


@pytest.mark.parametrize("text", ["a\nc\n", "a\nb", "a\nb\n\n"])
def test_another_text_fails(folder: Path, text: str):
    golden_text.write("text.c", "a\nb\n")
    with pytest.raises(pytest.fail.Exception, match="update it"):
        golden_text.compare("text.c", text, "update it")


def test_a_difference_is_a_short_unified_diff(folder: Path):
    assert golden_text.difference("text.c", "a\nb\n", "a\nc\n").splitlines()[-3:] == [" a", "-b", "+c"]
    long = golden_text.difference("text.c", "", "a\n" * 100)
    assert len(long.splitlines()) == golden_text.MOST_LINES + 1 and long.endswith("... 63 more lines")


def test_a_file_of_no_test_is_found(folder: Path):
    golden_text.write("one/text.c", "a\n")
    golden_text.write("other/text.c", "a\n")
    assert golden_text.unused(["one/text.c"]) == ["other/text.c"]
