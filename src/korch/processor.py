"""What the system says of the processor."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path


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


def cache_bytes(level: int, usual: int) -> int:
    """Bytes of a cache of that level, as far as the system tells; else the usual."""
    name = f"SC_LEVEL{level}_CACHE_SIZE"
    return max(os.sysconf(name) if name in getattr(os, "sysconf_names", {}) else 0, 0) or usual
