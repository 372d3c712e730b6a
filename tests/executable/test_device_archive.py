"""Archives of device programs: what is inside, and what a machine must have to open one."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

from korch.errors import ArchiveError, Error
from korch.executable import load
from korch.executable.archive import read_manifest
from korch.executable.cuda import requirements

from .device_plans import random_plan
from .fake_gpu import FakeGpu, gpu, no_driver
from .test_archive import rewritten, with_manifest
from .test_device_runtime import launched, opened

__all__ = ["gpu"]


@pytest.fixture
def saved(gpu: FakeGpu, tmp_path: Path) -> Path:
    with opened(launched(random_plan(7))) as e:
        return e.save(tmp_path / "model.korch")


def test_what_is_inside(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved) as z:
        names = z.namelist()
        table = json.loads(z.read("kernels.json"))
        z.extractall(tmp_path)
    assert names[:2] == ["plan.json", "primitives.onnx"] and names[-2:] == ["weights.safetensors", "manifest.json"]
    sources, binaries = ([n for n in names if n.startswith(p)] for p in ("sources/", "kernels/"))
    assert all(n.endswith("_hand.py") for n in sources) and [row["cubin"] for row in table["binaries"]] == binaries
    assert table["capability"] == 90 and len(table["steps"]) == len(launched(random_plan(7)).steps)
    onnx.checker.check_model(str(tmp_path / "primitives.onnx"))
    about = read_manifest(saved)
    assert (about.target, about.system, about.isa, about.libraries) == ("cuda", "", (), {})
    assert about.device == {"name": "H200", "capability": 90, "driver": 13000, "calls": False, "versions": {}}


def test_equal_kernels_share_a_binary(gpu: FakeGpu) -> None:
    plan = launched(random_plan(7))
    with opened(plan) as e:
        distinct = {s.kernel.source for s in plan.steps if not s.idle}
        assert len({b for row in e.linked.binaries for b in row}) == len(distinct) == len(e.linked.sources)
        assert [len(row) for row in e.linked.binaries] == [len(s.kernel.launches) for s in plan.steps]


def test_a_copy_is_the_same(saved: Path, tmp_path: Path) -> None:
    with load(saved) as e:
        assert e.save(tmp_path / "copy.korch").read_bytes() == saved.read_bytes()


def refusal(path: Path) -> str:
    with pytest.raises(ArchiveError) as e:
        load(path)
    assert "\n" not in str(e.value) and str(path) in str(e.value)
    return str(e.value)


def needs(**fields: Any) -> Callable[[dict], None]:
    return lambda d: d["device"].update(fields)


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (needs(capability=80, name="A100"), "made for an NVIDIA A100 (sm_80), this is an NVIDIA H200 (sm_90): run"),
        (needs(driver=13010), "under a driver for CUDA 13.1, this one is for 13.0: update the driver"),
        (needs(calls=True, versions={"torch": "2.8"}), "with torch 2.8, found 2.11: run `korch optimize` again"),
        (needs(calls=True, versions={"cudnn": "9"}), "with cudnn 9, found 91300"),
        (needs(calls=True, versions={"cutlass": "3"}), "with cutlass 3, found none"),
        (lambda d: d["device"].pop("driver"), "damaged: manifest.json"),
        (lambda d: d.update(target="tpu"), "was made for 'tpu', this Korch knows cpu and cuda"),
    ],
)
def test_machines_that_do_not_fit(saved: Path, tmp_path: Path, edit: Callable[[dict], None], text: str) -> None:
    assert text in refusal(with_manifest(saved, tmp_path / "m.korch", edit))


def test_versions_do_not_matter_where_no_library_is_called(saved: Path, tmp_path: Path) -> None:
    load(with_manifest(saved, tmp_path / "m.korch", needs(versions={"torch": "2.8"}))).close()


def test_a_machine_without_a_gpu_says_so(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "driver", no_driver)
    text = refusal(saved)
    assert "was made for an NVIDIA H200 (sm_90): there is no NVIDIA driver here" in text
    with pytest.raises(Error):
        no_driver()


def test_a_machine_without_pytorch_says_so(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "_installed", lambda name: "")
    assert "needs PyTorch, which is not installed: pip install torch" in refusal(saved)


@pytest.mark.parametrize("member", ["kernels.json", "kernels/000.cubin", "weights.safetensors", "sources/"])
def test_damage_is_found(saved: Path, tmp_path: Path, member: str) -> None:
    def change(name: str, data: bytes) -> bytes:
        return data if not name.startswith(member) else data[:-1] + bytes([data[-1] ^ 1])

    assert "does not have its digest" in refusal(rewritten(saved, tmp_path / "m.korch", change))
    assert "is missing" in refusal(
        rewritten(saved, tmp_path / "m.korch", lambda n, x: None if n.startswith(member) else x)
    )


def test_versions_of_libraries_are_kept_where_the_plan_calls_them(gpu: FakeGpu, tmp_path: Path) -> None:
    with opened(random_plan(5)) as e:
        about = read_manifest(e.save(tmp_path / "m.korch"))
    assert about.device["calls"] and about.device["versions"] == {"torch": "2.11", "cudnn": "91300"}
    gpu.sm = 80
    with opened(random_plan(5)) as e:
        about = read_manifest(e.save(tmp_path / "m.korch"))
    assert about.device["driver"] == 0 and about.device["versions"] == {}
