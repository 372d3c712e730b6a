"""Every backend there is: each folder below this one that has a `backend.py` with a `BACKEND`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

from korch.backends.contract import Backend, Graded
from korch.backends.libraries import HERE, backend_digest, module_of, require_library
from korch.errors import BackendError, line_of


@dataclass(frozen=True)
class BackendEntry:
    """A backend that was found: `backend`, or the `reason` why it cannot be used here. `target`: `cpu` or `cuda`.

    `version` is the backend's own with a digest of its code, so that costs of older code are never taken for its.
    """

    name: str
    backend: Backend | None
    version: str = ""
    reason: str = ""
    target: str = "cpu"


@cache
def entries() -> tuple[BackendEntry, ...]:
    """All backends in the order of their folders, usable or not."""
    return tuple(_entry(path) for path in sorted(HERE.rglob("backend.py")))


def backends(target: str = "cpu", numerics: str = "default") -> tuple[Backend, ...]:
    """The backends of `target` that can be used here, offering what `numerics` allow."""
    found = (entry.backend for entry in entries() if entry.backend and entry.target == target)
    return tuple(b.under(numerics) if isinstance(b, Graded) else b for b in found)


def entry_of(name: str) -> BackendEntry:
    """The backend called `name`; BackendError says which there are."""
    for entry in entries():
        if entry.name == name:
            return entry
    raise BackendError(f"no backend is called {name!r}; there are {', '.join(e.name for e in entries())}")


def _entry(path: Path) -> BackendEntry:
    """The entry of the backend in `path`; its library, its imports and its version show whether it can be used."""
    target = "cuda" if "cuda" in path.relative_to(HERE).parts else "cpu"
    try:
        require_library(path.parent)
        backend: Backend = import_module(module_of(path)).BACKEND
        return BackendEntry(backend.name, backend, f"{backend.version} {backend_digest(path.parent)}", target=target)
    except (BackendError, ImportError, OSError) as e:
        return BackendEntry(path.parent.name, None, reason=line_of(e), target=target)
