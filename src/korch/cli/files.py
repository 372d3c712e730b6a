"""Output files: whether they can be written is asked before the work, and they appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from korch.errors import Error
from korch.system.folders import replaced


def writable(path: Path) -> Path:
    """`path`, if a file can be put there; Error says why not."""
    folder = path.parent
    if path.is_dir():
        raise Error(f"cannot write {path}: it is a folder")
    if path.exists() and not path.is_file():
        raise Error(f"cannot write {path}: it is no regular file")
    if not folder.is_dir():
        raise Error(f"cannot write {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK):
        raise Error(f"cannot write {path}: the folder {folder} is read-only")
    return path


def folder_for(path: Path) -> Path:
    """The folder `path`, made where it is missing; Error says why it cannot be."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise Error(f"cannot make the folder {path}: {e.strerror or e}") from None
    return path


def write_whole(path: Path, data: bytes) -> None:
    """Writes `data` beside `path` and moves it there; Error where that fails."""
    try:
        with replaced(path) as file:
            file.write(data)
    except OSError as e:
        raise Error(f"cannot write {path}: {e.strerror or e}") from None
