"""Private folders that go when their owner does."""

from __future__ import annotations

import os
import shutil
import weakref
from pathlib import Path


def removed_with(owner: object, folder: Path) -> weakref.finalize:
    """Removes `folder` when `owner` is collected, at the exit at the latest; never by a fork of this process, which has
    a copy of the owner."""
    return weakref.finalize(owner, _remove, folder, os.getpid())


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
