"""Archives of segments from strangers: what their document says is checked before it is used."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from korch.errors import ArchiveError
from korch.executable import members
from korch.executable.segmented import FORMAT, SEGMENTS, open_segmented

Change = Callable[[dict[str, Any]], object]
PORT = {"name": "x", "dtype": "float32", "shape": [2]}
PART = {"host": True, "onnx": "0.onnx", "reads": ["x"], "writes": ["y"], "operators": 1, "reason": "", "structural": []}


def document() -> dict[str, Any]:
    part = PART | {"bindings": []}
    block = {"arguments": ["x"], "results": ["y"], "parts": [part], "constants": {"c": ["int64", [2], [1, 2]]}}
    ports = {"inputs": [PORT], "outputs": [PORT | {"name": "y"}]}
    return {"format": FORMAT, "block": block, **ports, "threads": 1, "numerics": "default", "values": {}}


def archive(folder: Path, change: Change = lambda d: None, **members: bytes) -> Path:
    about = document()
    change(about)
    path = folder / "m.korch"
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(SEGMENTS, json.dumps(about))
        for name, data in members.items():
            z.writestr(f"{name}.korch", data)
    return path


def test_a_whole_one_is_described(tmp_path: Path):
    with open_segmented(archive(tmp_path), runs=False) as program:
        assert str(program) == "1 segments, 1 of them run by onnxruntime\n0: host segment, 1 nodes; x -> y"
        assert program.block.constants["c"].tolist() == [1, 2]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["block"].update(arguments=[1]),
        lambda d: d["block"].update(results="y"),
        lambda d: d["block"]["parts"][0].update(reads=[1]),
        lambda d: d["block"]["parts"][0].update(writes=None),
        lambda d: d["block"]["parts"][0].update(structural=[["x"]]),
        lambda d: d["block"]["parts"][0].update(host=[]),
        lambda d: d["block"]["parts"][0].update(operators="1"),
        lambda d: d["block"]["parts"][0].update(reason=None),
        lambda d: d["block"].update(constants={"c": ["U500000000", [1], ["a"]]}),
        lambda d: d["block"].update(constants={"c": ["V500000000", [1], [0]]}),
        lambda d: d["block"].update(constants={"c": ["no dtype", [1], [0]]}),
        lambda d: d["block"].update(constants={"c": ["int64", [1 << 60], [0]]}),
        lambda d: d.update(block=[]),
    ],
)
def test_a_damaged_one_is_refused(change: Change, tmp_path: Path):
    with pytest.raises(ArchiveError, match="is damaged"):
        open_segmented(archive(tmp_path, change), runs=False)


def test_programs_of_islands_have_no_segments(tmp_path: Path):
    inner = archive(tmp_path).read_bytes()
    with pytest.raises(ArchiveError, match=r"m.korch is damaged: 0-0.korch is a program in segments itself"):
        open_segmented(archive(tmp_path, **{"0-0": inner}), runs=False)


def test_their_texts_are_counted_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each is as large as one may be: an archive of a megabyte could fill a disk."""
    with zipfile.ZipFile(tmp_path / "inner", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("zeros", bytes(1000))
    inner = (tmp_path / "inner").read_bytes()
    monkeypatch.setattr(members, "MOST_PACKED_BYTES", 2500)
    open_segmented(archive(tmp_path, a=inner, b=inner), runs=False).close()
    with pytest.raises(ArchiveError, match="its texts have 3000 bytes, at most 2500 are read"):
        open_segmented(archive(tmp_path, a=inner, b=inner, c=inner), runs=False)
