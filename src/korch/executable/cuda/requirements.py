"""The requirements of a device program on a machine, as in its archive, and whether they are met."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from korch.backends.cuda.driver import driver
from korch.errors import ArchiveError, Error
from korch.executable.plan import Plan

ORDINAL = 0
"""The device that programs run on, the first that this process sees."""


def requirements(plan: Plan, capability: int) -> dict[str, Any]:
    """For the archive of `plan`, compiled for devices of `capability`.

    `driver` (0: any) and `versions` of the libraries that the plan calls are those of this machine, where it has such
    a device; elsewhere nobody knows them.
    """
    here = _capability() == capability
    about = {"name": plan.device, "capability": capability, "driver": driver().version() if here else 0}
    calls = any(s.kernel.call for s in plan.steps if not s.idle)
    return {"device": {**about, "calls": calls, "versions": versions() if here and calls else {}}}


def check(needs: Mapping[str, Any], path: Path) -> None:
    """ArchiveError where a program that needs this cannot run here."""
    made = f"{path} was made for an NVIDIA {needs['name']} (sm_{needs['capability']})"
    try:
        found = driver()
        name, capability, has = found.name(ORDINAL), found.capability(ORDINAL), found.version()
    except Error as e:
        raise ArchiveError(f"{made}: {e}") from None
    if capability != needs["capability"]:
        raise ArchiveError(f"{made}, this is an {name} (sm_{capability}){_AGAIN}")
    if has < needs["driver"]:
        raise ArchiveError(
            f"{made} under a driver for CUDA {_cuda(needs['driver'])}, this one is for {_cuda(has)}: update the driver"
        )
    if not _installed("torch"):
        raise ArchiveError(f"{made} and needs PyTorch, which is not installed: pip install torch")
    for library, wanted in needs["versions"].items() if needs["calls"] else ():
        if (here := versions().get(library, "")) != wanted:
            raise ArchiveError(f"{made} with {library} {wanted}, found {here or 'none'}{_AGAIN}")


_AGAIN = ": run `korch optimize` again on this machine"


def _capability() -> int:
    """Of the device here; 0 where there is none."""
    try:
        return driver().capability(ORDINAL)
    except Error:
        return 0


def _cuda(version: int) -> str:
    return f"{version // 1000}.{version % 1000 // 10}"


def _installed(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""


def versions() -> dict[str, str]:
    """Of PyTorch (major and minor) and the libraries of NVIDIA that it brings, as far as they are there."""
    try:
        torch = import_module("torch")
    except ImportError:
        return {}
    own = ".".join(torch.__version__.split(".")[:2])
    found = {"torch": own, "cudnn": str(torch.backends.cudnn.version() or ""), "cublas": _cublas(torch)}
    return {name: text for name, text in found.items() if text}


def _cublas(torch: Any) -> str:
    """The version of the library that PyTorch has loaded."""
    try:
        library = ctypes.CDLL(f"libcublas.so.{str(torch.version.cuda).split('.')[0]}")
        parts = [ctypes.c_int() for _ in range(3)]
        for which, part in enumerate(parts):  # MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL
            library.cublasGetProperty(which, ctypes.byref(part))
    except (OSError, AttributeError):
        return ""
    return ".".join(str(part.value) for part in parts)
