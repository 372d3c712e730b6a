"""The weights file: safetensors, every tensor at a multiple of 64 bytes, so that programs map it and read in place.

Small tensors come first. Large ones are mostly packed and not read again; a bias between them would bring the whole
huge page around it back into memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from korch.executable.memory import ALIGNMENT
from korch.ir.ops.table import Array
from korch.ir.tensor import Tensor

WEIGHTS = "weights.safetensors"
_DTYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
_NAMES = {v: k for k, v in _DTYPES.items()}
_CHUNK = 1 << 20  # words


@dataclass(frozen=True)
class WeightsLayout:
    """The file's header (length prefix included), and where in it each of the tensors given begins."""

    header: bytes
    offsets: tuple[int, ...]
    size: int


def layout(tensors: Sequence[Tensor]) -> WeightsLayout:
    """Where each tensor goes. The format allows no holes: what fills them up are tensors named `korch.padding.<n>`."""
    entries: dict[str, dict[str, object]] = {}
    starts: dict[str, int] = {}
    at = 0
    for number, t in enumerate(_in_file(tensors)):
        starts[t.name] = at
        entries[t.name] = _entry(_DTYPES[t.dtype], t.shape, at, at + t.nbytes)
        at += t.nbytes
        if rest := -at % ALIGNMENT:
            entries[f"korch.padding.{number}"] = _entry("U8", (rest,), at, at + rest)
            at += rest
    text = json.dumps(entries, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % ALIGNMENT)
    header = len(text).to_bytes(8, "little") + text
    return WeightsLayout(header, tuple(len(header) + starts[t.name] for t in tensors), len(header) + at)


def _in_file(tensors: Sequence[Tensor]) -> list[Tensor]:
    return sorted(tensors, key=lambda t: t.nbytes)


def _entry(dtype: str, shape: tuple[int, ...], start: int, end: int) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def write(path: Path, tensors: Sequence[Tensor], values: Mapping[str, Array]) -> WeightsLayout:
    """Writes the values of `tensors`; OSError where the disk does not take them."""
    where = layout(tensors)
    at = {t.name: start for t, start in zip(tensors, where.offsets, strict=True)}
    with path.open("wb") as file:
        file.write(where.header)
        for t in _in_file(tensors):
            _pad(file, at[t.name])
            file.write(np.ascontiguousarray(values[t.name], dtype=t.dtype).data.cast("B") if t.size else b"")
        _pad(file, where.size)
    return where


def _pad(file: BinaryIO, to: int) -> None:
    file.write(bytes(to - file.tell()))


def read(path: Path) -> dict[str, Array]:
    """The tensors by name, mapped and read-only. ValueError or KeyError where the file is damaged."""
    base, entries = _header(path)
    data = np.memmap(path, np.uint8, "r")
    return {name: _view(data, base, e) for name, e in entries.items() if not name.startswith("korch.padding.")}


def offsets(path: Path) -> dict[str, int]:
    """Where in the file each tensor begins: not as in `layout` if an earlier Korch wrote it."""
    base, entries = _header(path)
    return {name: base + e["data_offsets"][0] for name, e in entries.items()}


def _header(path: Path) -> tuple[int, dict[str, dict[str, list[int]]]]:
    """Where the data begin, and the entry of each tensor."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length + 8 > size:
            raise ValueError(f"{path.name}: the header says {length} bytes, the file has {size}")
        return length + 8, json.loads(file.read(length))


def _view(data: Array, base: int, entry: dict[str, list[int]]) -> Array:
    start, end = entry["data_offsets"]
    return data[base + start : base + end].view(_NAMES[str(entry["dtype"])]).reshape(entry["shape"])


def checksum(path: Path) -> int:
    """Sum of (2i + 1) w_i mod 2^64 over the file's 64-bit words, as in model.c: no change of one word goes unseen."""
    words = np.memmap(path, "<u8", "r")
    total = 0
    for at in range(0, len(words), _CHUNK):
        part = words[at : at + _CHUNK]
        odd = np.arange(at, at + len(part), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
        total += int((part * odd).sum(dtype=np.uint64))
    return total % 2**64
