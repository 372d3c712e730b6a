"""The text of generated Triton kernels."""

from __future__ import annotations

import pytest
from tests.golden_text import Golden

pytest.importorskip("triton")

from .triton_kernels import kernels

KERNELS = kernels()


@pytest.mark.parametrize("file", KERNELS)
def test_source(file: str, golden: Golden):
    golden(file, KERNELS[file].source)
