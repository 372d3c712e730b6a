"""What Linux says of caches and vectors."""

from pathlib import Path

import pytest

from korch import processor


def told(folder: Path, number: int, **facts: str) -> None:
    cache = folder / f"index{number}"
    cache.mkdir()
    for name, text in facts.items():
        (cache / name).write_text(f"{text}\n")


@pytest.fixture
def caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(processor, "CACHES", tmp_path)
    return tmp_path


def test_a_data_cache_is_found_by_its_level(caches: Path):
    told(caches, 0, level="1", type="Instruction", size="64K")
    told(caches, 1, level="1", type="Data", size="48K")
    told(caches, 2, level="2", type="Unified", size="2048K")
    assert processor.cache_bytes(1, 7) == 48 << 10 and processor.cache_bytes(2, 7) == 2 << 20


@pytest.mark.parametrize("size", ["", "2M", "K", "some"])
def test_a_cache_that_is_not_told_of_has_the_usual_size(caches: Path, size: str):
    told(caches, 0, level="2", type="Unified", size=size)
    assert processor.cache_bytes(2, 7) == processor.cache_bytes(3, 7) == 7


@pytest.mark.parametrize(("vendor", "family", "flags", "so"), [
    ("GenuineIntel", "6", "avx2 avx512f", True), ("GenuineIntel", "6", "avx2", False),
    ("AuthenticAMD", "25", "avx2 avx512f", False), ("AuthenticAMD", "26", "avx2 avx512f", True),
    ("AuthenticAMD", "26", "avx2", False), ("AuthenticAMD", "", "avx512f", False),
])  # fmt: skip
def test_whole_vectors_are_for_those_that_gain_by_them(monkeypatch: pytest.MonkeyPatch, vendor: str, family: str,
                                                       flags: str, so: bool):  # fmt: skip
    monkeypatch.setattr(processor, "cpuinfo", lambda: {"vendor_id": vendor, "cpu family": family, "flags": flags})
    assert processor.computes_512_bits_at_once() is so
