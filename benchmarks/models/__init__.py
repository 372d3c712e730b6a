"""The benchmark workloads as seeded torch modules: nothing comes in, one `Workload` a file goes out.

Start at `workload.py`. A new workload is a new file in this folder with a value named `WORKLOAD`.
"""

from __future__ import annotations

import importlib
import pkgutil

from .workload import Workload

__all__ = ["Workload", "workloads"]


def workloads() -> dict[str, Workload]:
    """Every workload of this folder by its name, in the order of the names."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    found = (getattr(module, "WORKLOAD", None) for module in modules)
    return {workload.name: workload for workload in found if workload is not None}
