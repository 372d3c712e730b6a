"""The manifest of an archive: version, target, machine, digests of its members; and whether a CPU fits."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from korch.errors import ArchiveError, BackendError
from korch.executable.plan import Plan
from korch.ir.tensor import Tensor
from korch.system.processor import cpu_flags, cpu_model

FORMAT = 7
_NEEDS: Mapping[str, Any] = {"system": "", "cpu": "", "isa": (), "libraries": {}, "device": {}}
_DISTRIBUTIONS = {"dnnl": "onednn-cpu-gomp", "onnxruntime": "onnxruntime"}
_EXTRAS = {"dnnl": "'korch[onednn]'"}
"""The extra of Korch that installs a library, where it is optional."""
# Instruction sets that a compiler uses unasked with -march=native; the other flags of a CPU do not matter to code.
_ISA_PREFIXES = (
    "sse",
    "ssse",
    "avx",
    "fma",
    "bmi",
    "amx",
    "f16c",
    "movbe",
    "popcnt",
    "abm",
    "adx",
    "aes",
    "vaes",
    "pclmulqdq",
    "vpclmulqdq",
    "gfni",
    "sha_ni",
    "asimd",
    "sve",
    "sme",
    "fphp",
    "bf16",
    "i8mm",
    "dotprod",
)


@dataclass(frozen=True)
class Manifest:
    """`digests` are sha256 of the other members. Programs for a CPU need the `system`, `isa`, the instruction sets
    that they may use, and `libraries`; those for a `device` what is said of it (see `cuda/requirements.py`)."""

    format: int
    korch: str
    target: str
    system: str
    cpu: str
    isa: tuple[str, ...]
    libraries: Mapping[str, str]
    device: Mapping[str, Any]
    threads: int
    digests: Mapping[str, str]
    options: Mapping[str, str]
    inputs: tuple[Mapping[str, Any], ...]
    outputs: tuple[Mapping[str, Any], ...]

    @property
    def needs(self) -> dict[str, Any]:
        """The requirements of the program: see `describe`."""
        return {name: getattr(self, name) for name in _NEEDS}

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(d: Mapping[str, Any]) -> Manifest:
        """KeyError or TypeError where a field is missing or not of its kind."""
        fields = {k: d[k] for k in Manifest.__dataclass_fields__}
        for k in ("libraries", "device", "options", "digests"):
            fields[k] = dict(d[k])
        fields["threads"] = int(d["threads"])
        for k in ("isa", "inputs", "outputs"):
            fields[k] = tuple(d[k])
        return Manifest(**fields)


def describe(plan: Plan, threads: int, requirements: Mapping[str, Any], digests: Mapping[str, str]) -> Manifest:
    """The manifest of `plan`, of which linking, or the archive that it came from, knows the `requirements`."""
    g = plan.graph
    needs = {**_NEEDS, **requirements}
    return Manifest(
        format=FORMAT,
        korch=_version("korch"),
        target=plan.target,
        threads=threads,
        digests=digests,
        options={"numerics": plan.numerics, **dict(plan.options)},
        inputs=_ports((t.name for t in g.inputs), g.inputs),
        outputs=_ports(g.output_names, g.outputs),
        **needs,
    )


def cpu_requirements(plan: Plan) -> dict[str, Any]:
    """The requirements of a program linked here on another machine."""
    return {"system": _system(), "cpu": cpu_model(), "isa": isa_flags(), "libraries": library_versions(plan.libraries)}


def check_cpu(manifest: Manifest, path: Path) -> None:
    """ArchiveError where the archive's library cannot run here."""
    if manifest.system != _system():
        raise ArchiveError(f"{path} was made for {manifest.system}, this is {_system()}: {_AGAIN}")
    if missing := sorted(set(manifest.isa) - set(isa_flags())):
        here = f"this CPU ({cpu_model()}) lacks {', '.join(missing)}"
        raise ArchiveError(f"{path} was made for {manifest.cpu}; {here}: {_AGAIN}")
    for name, wanted in manifest.libraries.items():
        found = _version(name)
        if found != wanted:
            here = f"{found} is installed" if found else "which is not installed"
            install = f"pip install {_EXTRAS[name]}, or " if name in _EXTRAS and not found else ""
            raise ArchiveError(f"{path} needs {_DISTRIBUTIONS.get(name, name)} {wanted}, {here}: {install}{_AGAIN}")


_AGAIN = "run `korch optimize` again on this machine"


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """The installed version of each library that a plan uses; BackendError where one is missing."""
    versions = {name: _version(name) for name in sorted(names)}
    if missing := [_EXTRAS.get(name) or _DISTRIBUTIONS.get(name, name) for name, v in versions.items() if not v]:
        raise BackendError(f"a library of the plan is not installed: pip install {missing[0]}")
    return versions


def _version(name: str) -> str:
    """Empty where it is not installed."""
    from importlib import metadata  # megabytes that most programs do without

    try:
        return metadata.version(_DISTRIBUTIONS.get(name, name))
    except metadata.PackageNotFoundError:  # or installed by another name, as onnxruntime for GPUs is
        others = metadata.packages_distributions().get(name, [])
        return metadata.version(others[0]) if others else ""


def _ports(names: Iterable[str], tensors: Iterable[Tensor]) -> tuple[Mapping[str, Any], ...]:
    return tuple({"name": n, "dtype": t.dtype, "shape": list(t.shape)} for n, t in zip(names, tensors, strict=True))


def _system() -> str:
    return f"{platform.system()} {platform.machine()}"


def isa_flags() -> tuple[str, ...]:
    """The instruction sets of this CPU that compiled code may depend on, sorted."""
    return tuple(f for f in cpu_flags() if f.startswith(_ISA_PREFIXES))
