"""What is kept of specialisations, and found again."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest

from korch.backends.contract import StageVariant, Variant
from korch.errors import CacheError
from korch.executable.archive import identity
from korch.options import Options
from korch.search.transfer import SketchStep
from korch.session import archives
from korch.session.archives import Outcome, ProgramFiles, clear_archives, kept_archives
from korch.session.source import ModelSource
from korch.system.folders import ARCHIVES, default_folder


def external(folder: Path, weight: float) -> Path:
    """A model whose weight is in a file beside it."""
    folder.mkdir()
    text = (
        '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) <float[2] w = {1,2}> { y = Add(x, w) }'
    )
    model = onnx.parser.parse_model(text)
    array = np.full(2, weight, np.float32)
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(array, "w"))
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    return folder / "m.onnx"


def test_weights_in_other_files_count(tmp_path: Path):
    digests = {ModelSource(external(tmp_path / str(w), w)).digest for w in (1.0, 2.0)}
    assert (tmp_path / "1.0" / "m.onnx").read_bytes() == (tmp_path / "2.0" / "m.onnx").read_bytes()
    assert len(digests) == 2


def test_bytes_and_their_file_have_one_digest(small_model: Path):
    source = ModelSource(small_model.read_bytes())
    before = source.digest
    file = source.file
    assert source.model == file and ModelSource(file).digest == before
    folder = file.parent
    del source
    assert not folder.exists()


def test_each_way_of_asking_has_a_place_of_its_own(tmp_path: Path):
    asked = (Options(2), Options(1), Options(2, numerics="fast"), Options(2, shapes={"x": (2,)}))
    assert len({ProgramFiles.of("m", o, tmp_path) for o in asked}) == len(asked)
    assert ProgramFiles.of("m", Options(2, 5.0), tmp_path) == ProgramFiles.of("m", Options(2), tmp_path)


def test_an_outcome_is_found_again(tmp_path: Path, small_archive: Path):
    import korch

    place = ProgramFiles.of("m", Options(2), tmp_path)
    assert place.outcome() is None
    with korch.load(small_archive) as program:
        place.keep(Outcome(5.0, 2.0, 1.0), program)
    found = place.outcome()
    assert found == Outcome(5.0, 2.0, 1.0) and found.program == identity(place.archive)
    opened = place.open()
    assert opened is not None
    opened.close()
    assert kept_archives(tmp_path) == [place.archive]
    place.archive.unlink()
    assert place.outcome() is None  # nothing can be done with it


def test_damaged_files_count_as_none(tmp_path: Path):
    place = ProgramFiles.of("m", Options(2), tmp_path)
    place.keep(Outcome(5.0, reason="too slow"))
    place.archive.write_bytes(b"of another time")
    assert place.open() is None
    place.archive.with_suffix(".json").write_text("{")
    assert place.outcome() is None


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"needs": 3}', '{"budget": "long", "needs": []}', '{"budget": 1, "needs": [], "reason": 7}'],
)
def test_a_damaged_outcome_counts_as_none(text: str, tmp_path: Path):
    place = ProgramFiles.of("m", Options(2), tmp_path)
    place.keep(Outcome(5.0, reason="too slow"))
    assert place.outcome()
    place.archive.with_suffix(".json").write_text(text)
    assert place.outcome() is None


def kept(folder: Path, archive: Path) -> ProgramFiles:
    import korch

    place = ProgramFiles.of("m", Options(2), folder)
    with korch.load(archive) as program:
        place.keep(Outcome(5.0, 2.0, 1.0), program)
    return place


def damage(archive: Path) -> None:
    """Changes a byte of the program, but not of the archive's directory."""
    with zipfile.ZipFile(archive) as z:
        member = z.getinfo("program.so")
    with archive.open("r+b") as file:
        file.seek(member.header_offset + 30 + len(member.filename) + member.file_size // 2)
        old = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([old[0] ^ 1]))


def test_a_damaged_program_is_removed_and_made_again(tmp_path: Path, small_archive: Path):
    place = kept(tmp_path, small_archive)
    damage(place.archive)
    assert place.outcome(), "nobody has looked at the members yet"
    assert place.open() is None
    assert place.outcome() is None and not kept_archives(tmp_path)
    place = kept(tmp_path, small_archive)
    opened = place.open()
    assert opened
    opened.close()


def test_an_outcome_is_of_one_program(tmp_path: Path, small_archive: Path):
    place = kept(tmp_path, small_archive)
    with zipfile.ZipFile(place.archive, "a") as z:
        z.writestr("added", "")
    assert place.outcome() is None


def test_other_code_has_a_place_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    place = ProgramFiles.of("m", Options(2), tmp_path)
    monkeypatch.setattr(archives, "package_digest", lambda: "of an edited file")
    assert ProgramFiles.of("m", Options(2), tmp_path) != place


def test_a_sketch_is_found_again_and_one_of_another_form_counts_as_none(tmp_path: Path, small_archive: Path):
    import korch

    place = ProgramFiles.of("m", Options(2), tmp_path)
    assert place.sketch() == ()
    variant = Variant("{} rows", numbers=(8,), stages=(StageVariant(Variant("conv"), "onednn"),))
    sketch = (SketchStep("tiles", variant, ("a.0", "b.1"), 1.5), SketchStep("loops", Variant(), ("c.0",)))
    with korch.load(small_archive) as program:
        place.keep(Outcome(5.0, 2.0, 1.0), program, sketch)
    assert place.sketch() == sketch
    file = place.archive.with_suffix(".sketch")
    for other in (
        "",
        "{",
        '[["tiles", "8 rows: onednn conv", ["a.0"], 1.5]]',
        '[["loops", {"form": ""}, ["c.0"], 0.0]]',
    ):
        file.write_text(other)
        assert place.sketch() == ()


def test_all_of_them_are_cleared(tmp_path: Path):
    place = ProgramFiles.of("m", Options(2), tmp_path)
    place.keep(Outcome(5.0, reason="too slow"))
    place.archive.write_bytes(b"")
    place.lock.touch()
    assert clear_archives(tmp_path) == 1 and not list((tmp_path / ARCHIVES).iterdir())


def test_a_longer_search_is_worth_it_or_not():
    assert Outcome(270.0).suffices(270.0) and Outcome(250.0).suffices(270.0)
    assert not Outcome(30.0).suffices(270.0)


def test_a_user_without_a_home_folder_is_told(monkeypatch: pytest.MonkeyPatch):
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("KORCH_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(CacheError, match="KORCH_CACHE_DIR"):
        default_folder()
