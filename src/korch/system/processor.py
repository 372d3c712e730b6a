"""What the system says of the processor."""

from __future__ import annotations

import os
import platform
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from math import ceil, inf
from pathlib import Path

CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
GROUP, OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")
ZEN_5 = 26
"""The family of AMD's first processors with whole vectors."""


@cache
def cpuinfo() -> dict[str, str]:
    """The first value of each field of /proc/cpuinfo; empty where there is none."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return {}
    pairs = [line.split(":", 1) for line in reversed(lines) if ":" in line]
    return {name.strip(): value.strip() for name, value in pairs}


def cpu_flags() -> tuple[str, ...]:
    """What the system says that this processor can do, sorted."""
    said = cpuinfo()
    return tuple(sorted((said.get("flags") or said.get("Features") or "").split()))


def processor() -> str:
    """Model and instruction sets, as the system tells them."""
    said = cpuinfo()
    if not said:
        return f"{platform.machine()} {platform.processor()}"
    model = (said.get("model name", platform.machine()), said.get("cpu family", ""), said.get("model", ""))
    return "|".join((*model, " ".join(cpu_flags())))


def cpu_model() -> str:
    """The CPU's name for people."""
    return cpuinfo().get("model name") or platform.processor() or platform.machine()


def available() -> set[int]:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def processors() -> int:
    """How many processors this process may keep busy: those that it may use, or what its container has time for."""
    return int(min(len(available()), _quota()))


def _quota() -> float:
    """Processors whose time this process's control group may take, the last in part, or any of those around it: the
    least that either kind of control groups tells."""
    return min((_quota_of(folder) for folder in _groups("cpu", GROUP, OWN_GROUPS)), default=inf)


def memory_bytes() -> float:
    """The memory that this process may fill: the machine's, or less where its control group or one of those around it
    has less; inf where the system does not say."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else inf
    return min((whole, *(_memory_of(folder) for folder in _groups("memory", GROUP, OWN_GROUPS))))


def _memory_of(folder: Path) -> float:
    said = _said(folder / "memory.max") or _said(folder / "memory.limit_in_bytes")
    return int(said) if said.isdigit() and int(said) else inf


def _groups(controller: str, root: Path, own: Path) -> Iterator[Path]:
    """The folders of this process's control groups of that controller, with those around them up to the root. A
    container may see its root only, under a path from outside: what is not there is left out."""
    yield root
    yield root / controller
    for line in _said(own).splitlines():
        number, controllers, path = (line.split(":", 2) + ["", ""])[:3]
        if number == "0" or controller in controllers.split(","):
            parts = [part for part in path.split("/") if part not in ("", "..")]
            for mount in (root, root / "unified") if number == "0" else (root / controller, root / controllers):
                yield from (mount.joinpath(*parts[:n]) for n in range(len(parts) + 1))


def _quota_of(folder: Path) -> float:
    limits = _said(folder / "cpu.max").split()
    match limits or [_said(folder / f"cpu.cfs_{name}_us") for name in ("quota", "period")]:
        case [quota, period] if quota.isdigit() and period.isdigit() and int(quota) and int(period):
            return ceil(int(quota) / int(period))
        case _:
            return inf


def computes_512_bits_at_once() -> bool:
    """Whether vectors of 512 bits are worth more than two of 256: AMD's Zen 4 takes two turns for one."""
    family = cpuinfo().get("cpu family", "")
    halves = cpuinfo().get("vendor_id") == "AuthenticAMD" and not (family.isdigit() and int(family) >= ZEN_5)
    return "avx512f" in cpu_flags() and not halves


def streams_ahead() -> float:
    """Streams of addresses for which a core's second-level cache looks ahead at a time: 32 in Intel's (one a page, says
    their optimization manual). For others none is known here that would be too many."""
    return 32 if cpuinfo().get("vendor_id") == "GenuineIntel" else inf


def cache_bytes(level: int, usual: int) -> int:
    """Bytes of a core's data cache of that level, as far as Linux tells; else the usual."""
    for folder in sorted(CACHES.glob("index*")):
        if _said(folder / "level") == str(level) and _said(folder / "type") != "Instruction":
            size = _said(folder / "size")
            return int(size[:-1]) << 10 if size[-1:] == "K" and size[:-1].isdigit() else usual
    return usual


def _said(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""


PRIORITY = -15
"""As `nice` counts."""


@contextmanager
def ahead_of_others() -> Generator[None]:
    """Within it all threads of this process go before those of others, where this user may ask for that; a process that
    was given a low priority keeps it."""
    threads = _threads() if _priority(0) <= 0 else []
    before = {thread: _priority(thread) for thread in threads}
    try:
        for thread in threads:
            _prioritize(thread, PRIORITY)
        yield
    finally:
        for thread in _threads() if threads else []:
            _prioritize(thread, before.get(thread, min(before.values(), default=0)))


def _threads() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc/self/task")]
    except OSError:
        return []


def _priority(thread: int) -> int:
    try:
        return os.getpriority(os.PRIO_PROCESS, thread)
    except OSError:  # it has ended
        return 0


def _prioritize(thread: int, priority: int) -> None:
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, priority)
