"""Folders and files that only this user may write: Korch runs programs that it finds in its cache."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from korch.errors import CacheError

_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def private_folder(folder: Path) -> Path:
    """`folder`, made for this user alone where it is missing; CacheError where others own it or may write to it,
    OSError where it cannot be made."""
    for missing in reversed([f for f in (folder, *folder.parents) if not f.exists()]):
        missing.mkdir(0o700, exist_ok=True)
    if not folder.is_dir():
        raise NotADirectoryError(f"{folder} is no folder")
    return check_private(folder)


def private_file(file: Path) -> Path:
    """`file`, which is empty where it was missing, readable by this user only; CacheError where others own it or may
    write to it, OSError where it cannot be made."""
    file.touch(0o600)
    check_private(file).chmod(0o600)
    return file


def check_private(path: Path) -> Path:
    """`path`, which exists; CacheError where others own it or may write to it."""
    if not hasattr(os, "geteuid"):  # Windows: a user's folders are private
        return path
    about = path.stat()
    if about.st_uid != os.geteuid():
        raise CacheError(
            f"{path} in the cache belongs to another user (uid {about.st_uid}): set KORCH_CACHE_DIR to another"
        )
    if about.st_mode & _OTHERS:
        raise CacheError(
            f"{path} in the cache can be written by other users: run `chmod -R go-w {path}` if you trust it, or "
            "set KORCH_CACHE_DIR to another folder"
        )
    return path
