"""One HiGHS process for all tests of the room: starting one takes longer than most of the problems."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from korch.solve.highs import Highs


@pytest.fixture(scope="session")
def highs() -> Iterator[Highs]:
    with Highs() as solver:
        yield solver
