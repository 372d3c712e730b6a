"""What Linux says of caches and vectors."""

import math
import os
from math import inf
from pathlib import Path

import pytest

from korch.system import processor


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


@pytest.mark.parametrize(
    ("files", "quota"),
    [
        ({}, inf),
        ({"cpu.max": "max 100000"}, inf),
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "10000 100000"}, 1),
        ({"cpu.cfs_quota_us": "-1", "cpu.cfs_period_us": "100000"}, inf),
        ({"cpu.cfs_quota_us": "300000", "cpu.cfs_period_us": "100000"}, 3),
        ({"cpu.max": "100000 0"}, inf),
    ],
)
def test_a_container_may_have_less_time_than_processors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, str], quota: float
):
    monkeypatch.setattr(processor, "GROUP", tmp_path)
    monkeypatch.setattr(processor, "OWN_GROUPS", tmp_path / "none")
    monkeypatch.setattr(processor, "available", lambda: set(range(8)))
    (tmp_path / "cpu").mkdir()
    for name, text in files.items():
        (tmp_path / ("cpu" if "cfs" in name else "") / name).write_text(f"{text}\n")
    assert processor.processors() == min(quota, 8)


@pytest.mark.parametrize(
    ("own", "files", "quota"),
    [
        ("0::/a/b", {"cpu.max": "800000 100000", "a/cpu.max": "200000 100000", "a/b/cpu.max": "max 100000"}, 2),
        ("0::/a/b", {"a/cpu.max": "max 100000", "a/b/cpu.max": "300000 100000"}, 3),
        ("0::/../../a", {"a/cpu.max": "300000 100000"}, 3),
        ("0::/docker/1", {"cpu.max": "200000 100000"}, 2),
        ("0::/a", {"other/cpu.max": "100000 100000"}, inf),
        ("4:cpu,cpuacct:/a/b", {"cpu/a/cpu.cfs_quota_us": "200000", "cpu/a/cpu.cfs_period_us": "100000"}, 2),
        ("4:cpu,cpuacct:/a", {"cpu,cpuacct/a/cpu.cfs_quota_us": "1", "cpu,cpuacct/a/cpu.cfs_period_us": "10"}, 1),
        ("5:cpuset:/a", {"cpu/a/cpu.cfs_quota_us": "200000", "cpu/a/cpu.cfs_period_us": "100000"}, inf),
        ("nothing", {}, inf),
    ],
)
def test_the_least_of_all_groups_around_a_process_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, files: dict[str, str], quota: float
):
    monkeypatch.setattr(processor, "GROUP", tmp_path / "groups")
    monkeypatch.setattr(processor, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(processor, "available", lambda: set(range(8)))
    (tmp_path / "own").write_text(f"9:memory:/m\n{own}\n")
    for name, text in files.items():
        file = tmp_path / "groups" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert processor.processors() == min(quota, 8)


@pytest.mark.parametrize(
    ("own", "files", "expected"),
    [
        ("0::/a/b", {"a/memory.max": "max", "a/b/memory.max": "1000"}, 1000),
        ("0::/a/b", {"memory.max": "3000", "a/memory.max": "2000", "a/b/memory.max": "max"}, 2000),
        ("5:memory:/a\n3:cpu:/b", {"memory/a/memory.limit_in_bytes": "4000", "cpu/b/memory.max": "1"}, 4000),
        ("5:memory:/a", {"memory/memory.limit_in_bytes": "9223372036854771712"}, 8000),
        ("0::/a", {"other/memory.max": "1000"}, 8000),
    ],
)
def test_memory_is_that_of_the_smallest_group_around(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, files: dict[str, str], expected: int
):
    monkeypatch.setattr(processor, "GROUP", tmp_path / "groups")
    monkeypatch.setattr(processor, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(processor.os, "sysconf", {"SC_PAGE_SIZE": 8, "SC_PHYS_PAGES": 1000}.get)
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        file = tmp_path / "groups" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    assert processor.memory_bytes() == expected


def test_systems_without_affinity_have_all_processors(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert processor.available() == {0, 1, 2}


@pytest.mark.parametrize(
    ("vendor", "family", "flags", "so"),
    [
        ("GenuineIntel", "6", "avx2 avx512f", True),
        ("GenuineIntel", "6", "avx2", False),
        ("AuthenticAMD", "25", "avx2 avx512f", False),
        ("AuthenticAMD", "26", "avx2 avx512f", True),
        ("AuthenticAMD", "26", "avx2", False),
        ("AuthenticAMD", "", "avx512f", False),
    ],
)
def test_whole_vectors_are_for_those_that_gain_by_them(
    monkeypatch: pytest.MonkeyPatch, vendor: str, family: str, flags: str, so: bool
):
    monkeypatch.setattr(processor, "cpuinfo", lambda: {"vendor_id": vendor, "cpu family": family, "flags": flags})
    assert processor.computes_512_bits_at_once() is so


@pytest.mark.parametrize(("vendor", "streams"), [("GenuineIntel", 32), ("AuthenticAMD", math.inf), ("", math.inf)])
def test_streams_that_caches_look_ahead_for(monkeypatch: pytest.MonkeyPatch, vendor: str, streams: float):
    monkeypatch.setattr(processor, "cpuinfo", lambda: {"vendor_id": vendor})
    assert processor.streams_ahead() == streams
