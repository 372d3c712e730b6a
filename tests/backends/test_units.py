"""Kernels that are compiled once and linked again."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests import by_hand

from korch.backends import units
from korch.backends.contract import Alias, Kernel
from korch.backends.cpu.c import Code, Comment
from korch.backends.cpu.c.printing import code_digest
from korch.backends.toolchain import find_toolchain
from korch.backends.units import Units
from korch.errors import BackendError

from .test_program import code, kernel, nested, run_all


@pytest.fixture
def kept(tmp_path: Path) -> Units:
    (tmp_path / "units").mkdir()
    return Units(tmp_path / "units")


def linked(kept: Units, kernels: list[Kernel], file: Path) -> list[int]:
    kept.compile_library(find_toolchain(), [k.code for k in kernels], file, 4, 2)
    return run_all(file, len(kernels))


def alias() -> Kernel:
    return replace(kernel(0), body=Alias())


def with_code(code: Code) -> Kernel:
    return replace(kernel(0), body=code)


def said(*command: str | Path) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_what_is_known_is_not_compiled_again(kept: Units, tmp_path: Path) -> None:
    assert linked(kept, [kernel(1), alias(), kernel(2)], tmp_path / "a.so") == [1, -1, 2]
    before = {f: f.stat().st_mtime_ns for f in kept.folder.glob("unit*.o")}
    assert linked(kept, [kernel(3), kernel(2), alias(), kernel(2)], tmp_path / "b.so") == [3, 2, -1, 2]
    assert linked(kept, [kernel(2), kernel(1)], tmp_path / "c.so") == [2, 1]
    after = {f: f.stat().st_mtime_ns for f in kept.folder.glob("unit*.o")}
    assert len(before) == 1 and len(after) == 2 and before.items() <= after.items()


def test_functions_are_compiled_once(kept: Units, tmp_path: Path) -> None:
    """By whichever kernels they are called, later or together."""
    made = [with_code(nested(value, name)) for value in (1, 2) for name in ("a", "b")]
    assert linked(kept, made[:1], tmp_path / "a.so") == [2]
    (compiled,) = kept.folder.glob("functions*.o")
    assert linked(kept, made[1:2], tmp_path / "b.so") == [2]
    assert list(kept.folder.glob("functions*.o")) == [compiled] and len(list(kept.folder.glob("unit*.o"))) == 2
    assert linked(kept, made, tmp_path / "c.so") == [2, 2, 3, 3]
    assert len(list(kept.folder.glob("functions*.o"))) == 2


def test_comments_make_no_other_kernel(kept: Units, tmp_path: Path) -> None:
    one, other = (
        replace(code(1), declarations=(Comment.of(name), *code(1).declarations)) for name in ("relu(x)", "relu(u)")
    )
    assert code_digest(one) == code_digest(other) != code_digest(code(2))
    assert linked(kept, [with_code(one), with_code(other)], tmp_path / "a.so") == [1, 1]
    assert len(list(kept.folder.glob("unit*.o"))) == 1


def test_a_unit_that_does_not_compile_is_forgotten(kept: Units, tmp_path: Path) -> None:
    wrong = with_code(by_hand.code("is no C;"))
    with pytest.raises(BackendError, match="error"):
        kept.compile_library(find_toolchain(), [kernel(4).code, wrong.code], tmp_path / "a.so", 4, 2)
    assert linked(kept, [kernel(4), kernel(6)], tmp_path / "b.so") == [4, 6]


@pytest.mark.onednn
def test_a_library_has_nothing_of_other_kernels(kept: Units, tmp_path: Path) -> None:
    """Neither their code nor the libraries that they need, though they lie in the same object."""
    run = "*(int *)out = dnnl_version()->major > 0;"
    asks = with_code(by_hand.code(run, headers=("korch_dnnl.h",), libraries=("dnnl",)))
    assert linked(kept, [asks, kernel(8)], tmp_path / "a.so") == [1, 8]
    assert linked(kept, [kernel(8)], tmp_path / "b.so") == [8]
    for file, number in (("a.so", 2), ("b.so", 1)):
        assert ("libdnnl" in said("ldd", tmp_path / file)) == (number == 2)
        assert said("nm", tmp_path / file).count("_run") == number
        assert ("dnnl_version" in said("nm", tmp_path / file)) == (number == 2)


def test_a_thread_keeps_what_it_has_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    toolchain = find_toolchain()
    first = units.units_here(toolchain)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(units.units_here, toolchain).result() is not first
    assert units.units_here(toolchain) is first
    shutil.rmtree(first.folder)  # somebody tidies up
    second = units.units_here(toolchain)
    assert second is not first and second.folder.is_dir()
    monkeypatch.setattr(units, "MOST_KEPT", -1)
    assert units.units_here(toolchain) is not second
