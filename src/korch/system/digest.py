"""Keys under which things are remembered."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


def digest(*parts: object) -> str:
    """Equal for parts whose texts are equal, one by one."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode()).hexdigest()


def content_digest(key: str, content: str | bytes) -> str:
    """The digest of a row of the cache: its key and its content."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(f"{key}\x1f".encode() + data).hexdigest()


def code_digest(files: Iterable[Path]) -> str:
    """Equal for files that hold the same, in the order of their paths."""
    joined = b"".join(file.read_bytes() for file in sorted(set(files)))
    return hashlib.sha256(joined).hexdigest()[:12]


@cache
def package_digest() -> str:
    """Of all sources of Korch: other code may find other plans, and make other programs of them."""
    return tree_digest(str(Path(__file__).parents[1]))


def tree_digest(root: str) -> str:
    """Of all sources in the folder `root`. Contents are read: an edit may keep a file's size, and an installer its
    time."""
    h = hashlib.sha256()
    for path in sorted(_sources(root)):
        with open(path, "rb") as file:
            h.update(f"{path.removeprefix(root)}\x1f{os.fstat(file.fileno()).st_size}\x1f".encode())
            h.update(file.read())
    return h.hexdigest()


def _sources(folder: str) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.name.endswith((".py", ".h", ".c")):
            yield entry.path
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _sources(entry.path)
