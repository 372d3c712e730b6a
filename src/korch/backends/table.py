"""Every backend there is: each folder below this one that has a `backend.py` with a `BACKEND`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from korch.backends.contract import Backend
from korch.backends.libraries import HERE, code_digest, module_of
from korch.errors import BackendError


@dataclass(frozen=True)
class Entry:
    """A backend that was found: `backend`, or the `reason` why it cannot be used here.

    `version` is the backend's own with a digest of its code, so that costs of older code are never taken for its.
    """

    name: str
    backend: Backend | None
    version: str = ""
    reason: str = ""


@cache
def entries() -> tuple[Entry, ...]:
    """All backends in the order of their folders, usable or not."""
    return tuple(_entry(path) for path in sorted(HERE.rglob("backend.py")))


def backends() -> tuple[Backend, ...]:
    """The backends that can be used here."""
    return tuple(entry.backend for entry in entries() if entry.backend)


def entry_of(name: str) -> Entry:
    """The backend called `name`; BackendError says which there are."""
    for entry in entries():
        if entry.name == name:
            return entry
    raise BackendError(f"no backend is called {name!r}; there are {', '.join(e.name for e in entries())}")


def _entry(path: Path) -> Entry:
    """Asking for the version shows whether what the backend stands on is installed."""
    try:
        backend: Backend = import_module(module_of(path)).BACKEND
        return Entry(backend.name, backend, f"{backend.version} {code_digest(path.parent)}")
    except (BackendError, ImportError, OSError) as e:
        return Entry(path.parent.name, None, reason=str(e).splitlines()[0] if str(e) else type(e).__name__)
