"""Findings of a command, each on disk at once: killed at any moment, the command loses one entry at most."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


class Record:
    """A file of JSON lines [key, facts]. An incomplete last line is removed; the rest is `known`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        text = file.read_text() if file.exists() else ""
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            file.write_text(whole)
        self.known: dict[str, Any] = dict(map(json.loads, whole.splitlines()))

    def add(self, key: str, facts: Any) -> None:
        """Keeps the facts of `key`."""
        with self._file.open("a") as file:
            file.write(json.dumps([key, facts]) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.known[key] = facts
