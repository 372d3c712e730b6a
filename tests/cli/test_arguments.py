"""Texts of the command line become values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.executable.small_plans import chain

from korch.cli.arguments import feeds_of, shapes_of
from korch.errors import InputError
from korch.executable.runtime import Executable


def test_folders_may_have_an_equals_sign(tmp_path: Path):
    folder, x = tmp_path / "run=3", np.ones((3, 50), np.float32)
    folder.mkdir()
    np.save(folder / "x.npy", x)
    with Executable.link(chain(1)) as e:
        np.testing.assert_array_equal(feeds_of(e, [f"x={folder}/x.npy"], 0)["x"], x)
        with pytest.raises(InputError, match="the model has no input 'z'"):
            feeds_of(e, [f"z={folder}/x.npy"], 0)


def test_names_may_have_an_equals_sign():
    assert shapes_of(["a=b=1,3"]) == {"a=b": (1, 3)}
