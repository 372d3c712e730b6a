"""Kernels that are compiled once and linked again."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from korch.backends.contract import Kernel
from korch.backends.program import code_of
from korch.backends.toolchain import find_toolchain
from korch.backends.units import Units
from korch.errors import BackendError

from .test_program import alias, kernel, nested, run_all


@pytest.fixture
def units(tmp_path: Path) -> Units:
    (tmp_path / "units").mkdir()
    return Units(tmp_path / "units")


def linked(units: Units, kernels: list[Kernel], file: Path) -> list[int]:
    units.compile_library(find_toolchain(), kernels, file, 4, 2)
    return run_all(file, len(kernels))


def said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_what_is_known_is_not_compiled_again(units: Units, tmp_path: Path) -> None:
    assert linked(units, [kernel(1), alias(), kernel(2)], tmp_path / "a.so") == [1, -1, 2]
    before = {f: f.stat().st_mtime_ns for f in units.folder.glob("unit*.o")}
    assert linked(units, [kernel(3), kernel(2), alias(), kernel(2)], tmp_path / "b.so") == [3, 2, -1, 2]
    assert linked(units, [kernel(2), kernel(1)], tmp_path / "c.so") == [2, 1]
    after = {f: f.stat().st_mtime_ns for f in units.folder.glob("unit*.o")}
    assert len(before) == 1 and len(after) == 2 and before.items() <= after.items()


def test_functions_are_compiled_once(units: Units, tmp_path: Path) -> None:
    """By whichever kernels they are called, later or together."""
    made = [nested(1, "a"), nested(1, "b"), nested(2, "a"), nested(2, "b")]
    assert linked(units, made[:1], tmp_path / "a.so") == [2]
    (compiled,) = units.folder.glob("functions*.o")
    assert linked(units, made[1:2], tmp_path / "b.so") == [2]
    assert list(units.folder.glob("functions*.o")) == [compiled] and len(list(units.folder.glob("unit*.o"))) == 2
    assert linked(units, made, tmp_path / "c.so") == [2, 2, 3, 3]
    assert len(list(units.folder.glob("functions*.o"))) == 2


def test_comments_make_no_other_kernel(units: Units, tmp_path: Path) -> None:
    told, other = (replace(kernel(1), source=f"// {name}\n{kernel(1).source}") for name in ("relu(x)", "relu(u)"))
    assert code_of(told) == code_of(other) != code_of(kernel(2))
    assert linked(units, [told, other], tmp_path / "a.so") == [1, 1]
    assert len(list(units.folder.glob("unit*.o"))) == 1


def test_a_unit_that_does_not_compile_is_forgotten(units: Units, tmp_path: Path) -> None:
    wrong = replace(kernel(5), source="static void KERNEL_run( {\n")
    with pytest.raises(BackendError, match="error"):
        units.compile_library(find_toolchain(), [kernel(4), wrong], tmp_path / "a.so", 4, 2)
    assert linked(units, [kernel(4), kernel(6)], tmp_path / "b.so") == [4, 6]


def test_a_library_has_nothing_of_other_kernels(units: Units, tmp_path: Path) -> None:
    """Neither their code nor the libraries that they need, though they lie in the same object."""
    asks = replace(kernel(0), source=kernel(0).source.replace("= 0; }", "= dnnl_version()->major > 0; }"),
                   headers=("korch_dnnl.h",), libraries=("dnnl",))  # fmt: skip
    assert linked(units, [asks, kernel(8)], tmp_path / "a.so") == [1, 8]
    assert linked(units, [kernel(8)], tmp_path / "b.so") == [8]
    for file, number in (("a.so", 2), ("b.so", 1)):
        assert ("libdnnl" in said("ldd", tmp_path / file)) == (number == 2)
        assert said("nm", tmp_path / file).count("_run") == number
        assert ("dnnl_version" in said("nm", tmp_path / file)) == (number == 2)
