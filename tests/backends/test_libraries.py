"""Digests of code: costs and plans of older code must never be taken for newer code's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from korch.backends import libraries
from korch.system.digest import code_digest


@pytest.mark.parametrize(("folder", "own"), [("cpu/loops", "reductions.py"), ("cuda/triton", "folds.py")])
def test_a_backends_digest_is_of_all_that_its_kernels_stand_on(folder: str, own: str, monkeypatch: pytest.MonkeyPatch):
    taken: list[Path] = []

    def noted(files: Iterable[Path]) -> str:
        taken.extend(files)
        return ""

    monkeypatch.setattr(libraries, "code_digest", noted)
    libraries.backend_digest(libraries.HERE / folder)
    assert {f.name for f in taken} >= {own, "program.py", "toolchain.py", "trace.py", "korch_rt.h", "elementwise.py"}


def test_it_is_another_one_when_a_letter_differs(tmp_path: Path):
    files = [tmp_path / n for n in ("a.py", "b.py")]
    for f in files:
        f.write_text("x = 1\n")
    before = code_digest(files)
    assert before == code_digest(reversed(files))
    files[1].write_text("x = 2\n")
    assert before != code_digest(files)
