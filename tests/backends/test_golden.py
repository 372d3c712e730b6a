"""The text of generated C kernels."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.golden_text import Golden

from .described import PROCESSORS, generated
from .kernels import CASES


@pytest.fixture(scope="session")
def sources(shared: Path) -> Callable[[str], dict[str, str]]:
    """Gives the sources for a processor, generated once a session by the first worker that asks."""

    def found(processor: str) -> dict[str, str]:
        file = shared / f"{processor}.json"
        with (shared / "sources.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not file.exists():
                file.write_text(json.dumps(generated(processor)))
        return json.loads(file.read_text())

    return found


@pytest.mark.parametrize("file", CASES)
def test_source(file: str, golden: Golden, sources: Callable[[str], dict[str, str]]):
    golden(file, sources(CASES[file].processor)[file])


def test_every_processor_has_a_kernel():
    assert {case.processor for case in CASES.values()} == set(PROCESSORS)
