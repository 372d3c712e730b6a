"""The C program in examples/c builds against an export and computes the same bits as Python."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from korch.backends.toolchain import find_toolchain
from korch.errors import ArchiveError
from korch.executable.runtime import Executable
from korch.executable.several import export_several
from korch.ir import Builder

from .small_plans import chain, feeds_of, host, plan_of

MAIN = Path(__file__).parents[2] / "examples" / "c" / "main.c"


def build(model: Path, program: Path) -> None:
    flags = ["-Wall", "-Wextra", "-Werror", "-std=gnu11", f"-I{model}", f"-Wl,-rpath,{model}"]
    command = [*find_toolchain().command, *flags, "-o", str(program), str(MAIN), str(model / "libmodel.so")]
    subprocess.run(command, check=True)


def test_the_c_program_gives_pythons_bits(tmp_path: Path) -> None:
    plan = chain(5)
    feeds = feeds_of(plan)
    with Executable.link(plan) as e:
        expected = e.run(feeds)["y"]
        model = e.export(tmp_path / "exported")
    build(model, tmp_path / "main")
    feeds["x"].tofile(tmp_path / "x.bin")
    weights = model / "weights.safetensors"
    command = [tmp_path / "main", weights, "x.bin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[:2] == ["input x: float32[3,50]", "output y: float32[3,50]"]
    assert np.fromfile(tmp_path / "output0.bin", np.float32).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (lambda f: f.write_bytes(f.read_bytes()[:-64]), "this model's have"),
        (lambda f: f.write_bytes(f.read_bytes()[:-1] + b"\x01"), "not this model's, or damaged"),
        (lambda f: f.unlink(), "No such file"),
    ],
)
def test_weights_of_another_model_are_refused(tmp_path: Path, damage, text: str) -> None:
    with Executable.link(chain(3)) as e:
        model = e.export(tmp_path / "exported")
    build(model, tmp_path / "main")
    damage(model / "weights.safetensors")
    command = [tmp_path / "main", model / "weights.safetensors", "x.bin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and text in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_model_with_host_steps_asks_for_a_host(tmp_path: Path) -> None:
    b = Builder()
    plan = plan_of(b.graph([("y", b.op("Exp", b.input("x", "float32", (3,))))]), host)
    with Executable.link(plan) as e:
        model = e.export(tmp_path / "exported")
    build(model, tmp_path / "main")
    (tmp_path / "x.bin").write_bytes(bytes(12))
    command = [tmp_path / "main", model / "weights.safetensors", "x.bin"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "korch_set_host" in done.stderr


def test_an_export_over_another_leaves_alone_who_runs_that(tmp_path: Path) -> None:
    with Executable.link(chain(1)) as old, Executable.link(chain(2)) as new:
        running = (old.export(tmp_path) / "libmodel.so").open("rb")
        with running:
            assert new.export(tmp_path) == tmp_path
            assert running.read() == old.linked.library.read_bytes()  # pyright: ignore[reportAttributeAccessIssue]
    assert {p.name for p in tmp_path.iterdir()} == {"korch.h", "libmodel.so", "weights.safetensors"}


def test_export_into_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with Executable.link(chain(1)) as e, pytest.raises(ArchiveError, match="cannot export to"):
        e.export(tmp_path / "taken")


SHAPES_MAIN = Path(__file__).parents[2] / "examples" / "c" / "shapes.c"


def test_a_c_program_finds_the_program_for_its_shapes(tmp_path: Path) -> None:
    builders = {n: Builder() for n in (3, 5)}
    graphs = [b.graph([("y", b.op("Relu", b.input("x", "float32", (n, 4))))]) for n, b in builders.items()]
    programs = [Executable.link(plan_of(graph)) for graph in graphs]
    folder = export_several(programs, tmp_path / "exported")
    assert len(list(folder.glob("*/weights.safetensors"))) == 1  # both have none
    flags = ["-Wall", "-Wextra", "-Werror", "-std=gnu11", f"-I{folder}", f"-Wl,-rpath,{folder}"]
    command = [*find_toolchain().command, *flags, "-o", str(tmp_path / "main"), str(SHAPES_MAIN)]
    subprocess.run([*command, str(folder / "libshapes.so")], check=True)
    for n, program in zip((3, 5), programs, strict=True):
        x = np.random.default_rng(n).standard_normal((n, 4)).astype(np.float32)
        x.tofile(tmp_path / "x.bin")
        done = subprocess.run(
            [tmp_path / "main", folder, f"{n},4", "x.bin"], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert np.fromfile(tmp_path / "output0.bin", np.float32).tobytes() == program.run({"x": x})["y"].tobytes()
    done = subprocess.run([tmp_path / "main", folder, "4,4", "x.bin"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr == "4,4: none of the 2 programs is for this shape\n"
    for program in programs:
        program.close()
