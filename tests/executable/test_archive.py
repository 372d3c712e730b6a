"""Archives come back whole, and every way in which one does not fit is told in one line."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from safetensors.numpy import load_file

from korch.errors import ArchiveError, DamagedArchive
from korch.executable import archive
from korch.executable.runtime import Executable, load
from korch.ir import Builder

from .small_plans import chain, feeds_of, plan_of

MEMBERS = ["plan.json", "primitives.onnx", "sources/program.c", "program.so", "weights.safetensors", "manifest.json"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with Executable.link(chain()) as e:
        return e.save(tmp_path_factory.mktemp("archive") / "model.korch")


def rewritten(saved: Path, target: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A copy whose members `change` has replaced, or left out where it returns None."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            data = change(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return target


def with_manifest(saved: Path, target: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    def change(name: str, data: bytes) -> bytes:
        if name != "manifest.json":
            return data
        d = json.loads(data)
        edit(d)
        return json.dumps(d).encode()

    return rewritten(saved, target, change)


def refusal(path: Path) -> str:
    with pytest.raises(ArchiveError) as e:
        load(path)
    text = str(e.value)
    assert "\n" not in text and str(path) in text
    return text


def test_an_archive_comes_back(saved: Path, tmp_path: Path) -> None:
    plan = chain()
    feeds = feeds_of(plan)
    with Executable.link(plan) as e, load(saved) as again:
        assert again.run(feeds)["y"].tobytes() == e.run(feeds)["y"].tobytes()
        assert again.plan.steps == plan.steps and str(again.plan.graph) == str(plan.graph)
        assert again.memory == e.memory and (again.inputs, again.outputs) == (e.inputs, e.outputs)
        assert again.save(tmp_path / "copy.korch").read_bytes() == saved.read_bytes()


def test_what_is_saved_again_needs_what_it_needed(saved: Path, tmp_path: Path) -> None:
    """The machine that saves it is not the one that its library was compiled on, and may have more."""

    def elsewhere(d: dict[str, Any]) -> None:
        d.update(isa=d["isa"][1:], cpu="an older processor")

    other = with_manifest(saved, tmp_path / "m.korch", elsewhere)
    with load(other) as e:
        again = archive.read_manifest(e.save(tmp_path / "again.korch"))
    assert again == archive.read_manifest(other) and again != archive.read_manifest(saved)


def test_an_archive_runs_on_the_threads_that_it_was_saved_with(tmp_path: Path) -> None:
    plan = chain()
    with Executable.link(plan, threads=1) as e:
        path = e.save(tmp_path / "m.korch")
    with load(path) as e, load(path, threads=3) as more:
        assert (plan.threads, e.threads, more.threads) == (2, 1, 3)


def test_a_program_that_only_runs_loads_nothing_that_tunes(saved: Path) -> None:
    script = "import sys, korch; korch.load(sys.argv[1]); print(*sorted(sys.modules))"
    modules = subprocess.run([sys.executable, "-c", script, saved], capture_output=True, text=True, check=True).stdout
    assert "korch.executable.runtime" in modules.split()
    heavy = {"onnx", "korch.profile", "korch.rewrite", "korch.solve", "korch.search", "sqlite3", "multiprocessing"}
    assert not heavy & set(modules.split())


def test_what_is_inside(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved) as z:
        assert z.namelist() == MEMBERS and not z.testzip()
        z.extractall(tmp_path)
    about = archive.read_manifest(saved)
    assert about.inputs == ({"name": "x", "dtype": "float32", "shape": [3, 50]},)
    assert about.options == {"numerics": "default", "model": "hand-written"} and about.isa and about.cpu
    plan = chain()
    tensors = load_file(tmp_path / "weights.safetensors")
    for name, x in plan.graph.constants.items():
        np.testing.assert_array_equal(tensors[name], x)


def test_the_graph_inside_runs_in_onnxruntime(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved) as z:
        z.extractall(tmp_path)
    onnx.checker.check_model(str(tmp_path / "primitives.onnx"))
    session = onnxruntime.InferenceSession(str(tmp_path / "primitives.onnx"))
    feeds = feeds_of(chain())
    with load(saved) as e:
        np.testing.assert_array_equal(session.run(None, feeds)[0], e.run(feeds)["y"])


def test_a_model_with_host_steps_and_no_weights_comes_back(tmp_path: Path) -> None:
    b = Builder()
    x = b.input("x", "float32", (2, 3))
    plan = plan_of(b.graph([("y", b.op("Transpose", x, perm=(1, 0)))]))
    with Executable.link(plan) as e:
        path = e.save(tmp_path / "m.korch")
    assert archive.read_manifest(path).libraries == {"onnxruntime": onnxruntime.__version__}
    with load(path) as e:
        feeds = feeds_of(plan)
        np.testing.assert_array_equal(e.run(feeds)["y"], feeds["x"].T)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_changed_member_is_refused(saved: Path, tmp_path: Path, member: str) -> None:
    def change(name: str, data: bytes) -> bytes:
        middle = len(data) // 2
        return data if name != member else data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]

    text = refusal(rewritten(saved, tmp_path / "m.korch", change))
    assert "damaged" in text or member == "manifest.json"


@pytest.mark.parametrize("member", MEMBERS)
def test_a_missing_member_is_refused(saved: Path, tmp_path: Path, member: str) -> None:
    path = rewritten(saved, tmp_path / "m.korch", lambda name, data: None if name == member else data)
    assert member in refusal(path)


def test_flipped_bits_are_refused_or_do_not_matter(saved: Path, tmp_path: Path) -> None:
    """What does not matter: dates and the like, which no digest covers. Nothing but an ArchiveError comes out."""
    data = saved.read_bytes()
    loaded = 0
    for at in (*range(40), *range(40, len(data) - 600, len(data) // 40), *range(len(data) - 600, len(data), 3)):
        (tmp_path / "m.korch").write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        (tmp_path / "out").mkdir(exist_ok=True)
        with contextlib.suppress(ArchiveError):
            plan, linked, _ = archive.extract(tmp_path / "m.korch", tmp_path / "out")
            assert plan.steps == chain().steps and linked.library.read_bytes() in data
            loaded += 1
    assert loaded < 100


@pytest.mark.parametrize("keep", [0, 1, 100, 0.5, 0.9, -1])
def test_a_truncated_archive_is_refused(saved: Path, tmp_path: Path, keep: float) -> None:
    data = saved.read_bytes()
    path = tmp_path / "m.korch"
    path.write_bytes(data[: int(keep * len(data)) if isinstance(keep, float) else keep])
    assert "not a Korch archive, or cut short" in refusal(path)


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "nothing.korch")
    assert "Is a directory" in refusal(tmp_path)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as z:
        z.writestr("readme.txt", "hello")
    assert "manifest.json" in refusal(tmp_path / "other.zip")


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda d: d.update(format=99, korch="9.9"), "has format 99, this Korch reads 7: it was written by korch 9.9"),
        (lambda d: d["isa"].append("avx9000"), "lacks avx9000: run `korch optimize` again on this machine"),
        (lambda d: d.update(system="Plan9 vax"), "was made for Plan9 vax"),
        (lambda d: d["libraries"].update(dnnl="0.1"), "needs onednn-cpu-gomp 0.1, "),
        (lambda d: d["libraries"].update(nothing="1"), "needs nothing 1, which is not installed: run `korch optimize`"),
        (lambda d: d.pop("digests"), "damaged: manifest.json"),
        (lambda d: d.update(format=[]), "has format []"),
        (lambda d: d["digests"].pop("program.so"), "program.so is missing or was added"),
    ],
)
def test_manifests_that_do_not_fit(saved: Path, tmp_path: Path, edit: Callable[[dict], None], text: str) -> None:
    assert text in refusal(with_manifest(saved, tmp_path / "m.korch", edit))


def with_plan(saved: Path, target: Path, edit: Callable[[dict[str, Any]], object]) -> Path:
    """A copy with another plan, and its digest."""
    with zipfile.ZipFile(saved) as z:
        plan = json.loads(z.read("plan.json"))
    edit(plan)
    text = json.dumps(plan).encode()
    half = rewritten(saved, target.with_suffix(".half"), lambda n, x: text if n == "plan.json" else x)
    digest = hashlib.sha256(text).hexdigest()
    return with_manifest(half, target, lambda d: d["digests"].update({"plan.json": digest}))


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda d: d.clear(), "KeyError 'tensors'"),
        (lambda d: d.update(gap="1"), "TypeError plan.gap is a str"),
        (lambda d: d.update(gap=True), "TypeError plan.gap is a bool"),
        (lambda d: d.update(choices=[{"tensor": "x", "picked": ["a"], "others": ["b"], "margin": []}]), "margin"),
        (lambda d: d["steps"][0].update(cost=[1]), "TypeError plan.steps.cost is a tuple"),
        (lambda d: d["tensors"][0].__setitem__(1, 7), "TypeError plan.graph.inputs.dtype is a int"),
        (lambda d: d["tensors"][0].__setitem__(2, [-3, 50]), "ValueError plan.graph.inputs.shape is -3"),
        (lambda d: d["primitives"][0].update(op="If"), "KeyError 'If'"),
        (lambda d: d["primitives"][0].update(op="Transpose"), "plan.json: "),
        (lambda d: d.update(accuracy={"output": "y", "error": 0.0, "allowed": 1.0, "dropped": 3}), "plan.accuracy"),
        (lambda d: next(t for t in d["tensors"] if t[3]).__setitem__(0, "other"), "which no earlier step writes"),
        (lambda d: d["steps"].pop(0), "which no earlier step writes"),
        (lambda d: d["steps"][0].update(reads=[]), "to a kernel for"),
        (lambda d: d["primitives"].reverse(), "plan.json: "),
        (lambda d: d["steps"].reverse(), "which no earlier step writes"),
    ],
)
def test_a_plan_that_is_no_plan_is_refused(
    saved: Path, tmp_path: Path, edit: Callable[[dict[str, Any]], object], text: str
) -> None:
    path = with_plan(saved, tmp_path / "b.korch", edit)
    assert "damaged: plan.json" in refusal(path) and text in refusal(path)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The disk takes a part of the weights and no more."""
    copy = archive.shutil.copyfileobj

    def fail(source: Any, target: Any, length: int = 0) -> None:
        copy(io.BytesIO(source.read(100)), target)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(archive.shutil, "copyfileobj", fail)
        yield


def test_a_full_disk_leaves_what_was_there(tmp_path: Path, full_disk: None) -> None:
    path = tmp_path / "model.korch"
    path.write_bytes(b"old")
    with Executable.link(chain(1)) as e, pytest.raises(ArchiveError, match=r"cannot write .*: No space left on device"):
        e.save(path)
    assert list(tmp_path.iterdir()) == [path] and path.read_bytes() == b"old"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with Executable.link(chain(1)) as e, pytest.raises(ArchiveError, match=r"cannot write .*No such file"):
        e.save(tmp_path / "nowhere" / "model.korch")


def test_nothing_stays_behind(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    load(saved).close()
    e = load(saved)
    del e
    refusal_path = with_manifest(saved, tmp_path / "m.korch", lambda d: d["isa"].append("avx9000"))
    refusal(refusal_path)
    assert list(tmp_path.iterdir()) == [refusal_path]


def test_an_archive_that_cannot_be_read_now_is_not_damaged(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or a cache would remove it."""

    def unreadable(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(zipfile.ZipFile, "read", unreadable)
    with pytest.raises(ArchiveError, match=r"cannot read .*: Input/output error") as raised:
        load(saved)
    assert not isinstance(raised.value, DamagedArchive)


def test_without_memory_for_the_weights_the_error_names_the_archive(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")

    monkeypatch.setattr(np, "memmap", none)
    with pytest.raises(ArchiveError, match=r"cannot unpack .*model\.korch.*: Cannot allocate memory"):
        load(saved)
