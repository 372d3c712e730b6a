"""Generated functions of devices are interpreted in this process, and compiled in others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Executor

import pytest

os.environ["TRITON_INTERPRET"] = "1"  # before anything imports Triton


@pytest.fixture(scope="session")
def compiling() -> Iterator[Executor]:
    """Processes that compile for devices that are not there."""
    from korch.backends.cuda.triton.compile import compilers

    with compilers() as pool:
        yield pool
