"""The text of kernels for described processors, the same on every machine.

Generators take their constants from the processor when they are imported. A subprocess describes another one first:
`python -m tests.backends.described avx512` prints the sources of the kernels for it, by file name, as JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from korch.system import processor

ROOT = Path(__file__).parents[2]
KIB, MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Described:
    """A processor as Linux describes it: fields of /proc/cpuinfo, and bytes of the data caches by level."""

    cpuinfo: dict[str, str]
    caches: dict[int, int]


PROCESSORS = {
    "avx512": Described(
        {"vendor_id": "AuthenticAMD", "cpu family": "26", "flags": "fma avx2 avx512f"},
        {1: 48 * KIB, 2: MIB, 3: 32 * MIB},
    ),
    "avx2": Described(
        {"vendor_id": "AuthenticAMD", "cpu family": "25", "flags": "fma avx2"}, {1: 32 * KIB, 2: MIB // 2, 3: 16 * MIB}
    ),
    "vnni": Described(
        {"vendor_id": "GenuineIntel", "cpu family": "6", "flags": "fma avx2 avx512f avx512bw avx512vl avx512_vnni"},
        {1: 48 * KIB, 2: 2 * MIB, 3: 32 * MIB},
    ),
    "intel": Described(
        {"vendor_id": "GenuineIntel", "cpu family": "6", "flags": "fma avx2 avx512f"},
        {1: 48 * KIB, 2: 2 * MIB, 3: 32 * MIB},
    ),
}
"""Those whose kernels differ: 32 registers, 16 registers, products of bytes, and few streams that caches prefetch."""


def generated(name: str) -> dict[str, str]:
    """The sources of all kernels for the processor of that name, by file name."""
    command = [sys.executable, "-m", "tests.backends.described", name]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def describe(described: Described) -> None:
    """Makes all that is imported from here on take this processor for the machine's."""
    assert "korch.backends" not in sys.modules, "generators have their constants already"
    processor.cpuinfo = lambda: described.cpuinfo  # pyright: ignore[reportAttributeAccessIssue]
    processor.cache_bytes = lambda level, usual: described.caches.get(level, usual)


def main(name: str) -> None:
    describe(PROCESSORS[name])
    from tests.backends.kernels import CASES, source

    print(json.dumps({file: source(case) for file, case in CASES.items() if case.processor == name}))


if __name__ == "__main__":
    main(sys.argv[1])
