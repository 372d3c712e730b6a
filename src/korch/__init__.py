"""Korch: provably cheapest kernel orchestration for tensor programs.

`optimize` a model, `load` a program, `run` it; every error is a subclass of `Error`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from korch.errors import Error as Error

if TYPE_CHECKING:
    from korch.executable import Executable as Executable
    from korch.executable import load as load
    from korch.integrations import InferenceSession as InferenceSession
    from korch.optimize import optimize as optimize

__version__ = "0.1.0"
__all__ = ["Error", "Executable", "InferenceSession", "load", "optimize"]

_HOMES = {
    "Executable": "korch.executable",
    "InferenceSession": "korch.integrations",
    "load": "korch.executable",
    "optimize": "korch.optimize",
}


def __getattr__(name: str) -> Any:
    """The public names, imported when first asked for: a command line that only prints its help stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'korch' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


class _Package(ModuleType):
    """Importing the module `korch.optimize` must not hide the function `korch.optimize`."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
