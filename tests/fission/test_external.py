"""External data: one place opens them, and only regular files in the model's folder."""

import os
import socket
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper, parser

from korch import limits
from korch.errors import ModelError
from korch.fission.importer import read
from korch.fission.importer.external import opened
from korch.session.source import ModelSource

W = np.arange(6, dtype=np.float32).reshape(2, 3)


def external_model(folder: Path, weights: int = 1, location: str = "w.bin", **entries: str) -> Path:
    """A model that adds `weights` initializers, all of one region of a file, to its input."""
    sums = "".join(f"s{i} = Add(s{i - 1}, w{i}) " if i else "s0 = Add(x, w0) " for i in range(weights))
    listed = ", ".join(f"float[2,3] w{i} = {{0,0,0,0,0,0}}" for i in range(weights))
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["": 17]>\n'
        f"g (float[2,3] x) => (float[2,3] y) <{listed}> {{ {sums} y = Relu(s{weights - 1}) }}"
    )
    for t in model.graph.initializer:
        t.ClearField("float_data")
        t.ClearField("raw_data")
        t.data_location = TensorProto.EXTERNAL
        for key, value in ({"location": location, "length": "24"} | entries).items():
            t.external_data.add(key=key, value=value)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def refused(path: Path, word: str) -> None:
    with pytest.raises(ModelError, match=word) as caught:
        read(path)
    assert "\n" not in str(caught.value)


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "w.bin")
    return external_model(tmp_path)


def test_a_pipe_is_no_external_data(pipe: Path):
    refused(pipe, "'w0' is no regular file")


def test_a_session_refuses_a_pipe_before_anybody_waits_for_it(pipe: Path):
    from korch import InferenceSession

    with pytest.raises(ModelError, match="'w0' is no regular file"):
        InferenceSession(pipe, tune="off")
    with pytest.raises(ModelError, match="no regular file"):
        _ = ModelSource(pipe).digest


def test_so_it_does_where_the_model_cannot_be_optimized(pipe: Path):
    """onnxruntime reads models whose descriptions are no text."""
    model = pipe.read_bytes() + b"\x32\x01\xff"  # doc_string
    pipe.write_bytes(model)
    with pytest.raises(ModelError, match="no UTF-8"):
        read(pipe)
    with pytest.raises(ModelError, match="'w0' is no regular file"):
        _ = ModelSource(pipe).locations


def test_onnxruntime_reads_for_models_of_bytes_too(pipe: Path, monkeypatch: pytest.MonkeyPatch):
    """In the working directory."""
    assert not ModelSource(pipe.read_bytes()).locations
    monkeypatch.chdir(pipe.parent)
    with pytest.raises(ModelError, match="'w0' is no regular file"):
        _ = ModelSource(pipe.read_bytes()).locations


@pytest.mark.parametrize("several", [False, True])
def test_sparse_attributes_have_tensors(pipe: Path, several: bool):
    model = onnx.load(pipe, load_external_data=False)
    (weight,) = model.graph.initializer
    node = model.graph.node.add(op_type="Constant", output=["c"])
    attribute = node.attribute.add(name="sparse_value")
    sparse = attribute.sparse_tensors.add() if several else attribute.sparse_tensor
    sparse.values.CopyFrom(weight)
    del model.graph.initializer[:]
    pipe.write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match="'w0' is no regular file"):
        _ = ModelSource(pipe).locations


def test_a_socket_is_no_external_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as s:
        s.bind("w.bin")
        refused(external_model(tmp_path), "'w0' cannot be read")


@pytest.mark.parametrize("location", ["/dev/zero", "link", "../w.bin", "a\0b", "gone", "x" * 5000, "loop", "", "."])
def test_digests_read_nothing_outside_of_the_folder(tmp_path: Path, location: str):
    """A device never ends, and a file elsewhere is none of the model's."""
    folder = tmp_path / "m"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    (folder / "link").symlink_to("/dev/zero")
    (folder / "loop").symlink_to("loop")
    path = external_model(folder, location=location)
    refused(path, "'w0'")
    if location != "gone":
        with pytest.raises(ModelError, match="'w0'"):
            _ = ModelSource(path).digest
        return
    assert ModelSource(path).digest != ModelSource(path).digest, "it may be readable a moment later"


def test_the_digest_is_of_external_data_too(tmp_path: Path):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    path = external_model(tmp_path)
    before = ModelSource(path).digest
    (tmp_path / "w.bin").write_bytes(W[::-1].tobytes())
    assert ModelSource(path).digest != before


def test_the_digest_is_of_what_tensors_read_alone(tmp_path: Path):
    """A sparse file ends in no time that anybody has."""
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    path = external_model(tmp_path)
    before = ModelSource(path).digest
    os.truncate(tmp_path / "w.bin", 1 << 42)
    assert ModelSource(path).digest == before


def test_a_file_exchanged_for_a_link_is_found_in_its_descriptor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Somebody replaces the file after its name was checked, and before it is opened."""
    folder = tmp_path / "m"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(W.tobytes())
    (folder / "w.bin").write_bytes(W.tobytes())
    path, theirs = external_model(folder), os.open

    def exchanging(file: Path, flags: int) -> int:
        (folder / "w.bin").unlink()
        (folder / "w.bin").symlink_to(tmp_path / "secret")
        return theirs(file, flags)

    monkeypatch.setattr(os, "open", exchanging)
    with pytest.raises(ModelError, match="outside"), opened(path, "w.bin", "w0"):
        pass


def test_one_region_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from korch.fission.importer import external

    reads, theirs = list[tuple[int, int]](), external._bytes
    monkeypatch.setattr(external, "_bytes", lambda f, at, n, name: reads.append((at, n)) or theirs(f, at, n, name))
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    model = read(external_model(tmp_path, weights=5))
    assert reads == [(0, 24)]
    assert all((numpy_helper.to_array(t) == W).all() for t in model.graph.initializer)


def test_many_tensors_of_one_region_are_refused(tmp_path: Path):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    refused(external_model(tmp_path, weights=limits.REGION_READS + 1), "tensors read 0.4 kB of 'w.bin'")


def test_other_names_of_a_file_do_not_make_it_another(tmp_path: Path):
    (tmp_path / "w.bin").write_bytes(W.tobytes())
    path = external_model(tmp_path, weights=limits.REGION_READS + 1)
    model = onnx.load(path, load_external_data=False)
    for i, t in enumerate(model.graph.initializer):
        t.external_data[0].value = f"{'./' * i}w.bin"
    path.write_bytes(model.SerializeToString())
    refused(path, "0.4 kB of './")


def test_no_more_is_read_than_the_shape_needs(tmp_path: Path):
    """A sparse file takes no place on a disk, but would in memory."""
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(1 << 40)
    refused(external_model(tmp_path, length=str(1 << 40)), "'w0' is malformed: its shape needs 24 bytes")
