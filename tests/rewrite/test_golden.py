"""Before and after, as text, for every rewrite."""

from __future__ import annotations

import pytest
from tests.golden_text import Golden

from .examples import FILES, SUBJECTS, text


@pytest.mark.parametrize("file", FILES)
def test_before_and_after(file: str, golden: Golden):
    golden(file, text(SUBJECTS[file]))
