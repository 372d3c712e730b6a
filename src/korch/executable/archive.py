"""`model.korch`: one zip with the plan, its graph as ONNX, sources, program and weights; never half-written."""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

import numpy as np

from korch.errors import ArchiveError, DamagedArchive, Error, line_of
from korch.executable import manifest, weights
from korch.executable.link import Linked
from korch.executable.members import AGAIN, DAMAGE, opened
from korch.executable.memory import MemoryPlan
from korch.executable.plan import Plan, check
from korch.executable.plan_json import MOST_STEPS, plan_from_json, plan_to_json
from korch.executable.weights import WEIGHTS
from korch.system.folders import replaced
from korch.system.threads import ThreadPool

if TYPE_CHECKING:
    import onnx

    from korch.executable.cuda.link import DeviceLinked

MANIFEST, PLAN, GRAPH = "manifest.json", "plan.json", "primitives.onnx"
_CHUNK = 1 << 20
_TIME = (1980, 1, 1, 0, 0, 0)  # an archive that is saved again is the same


class LinkedProgram(Protocol):
    """A linked plan, whatever it was linked for: what an archive holds of it besides plan and graph.

    `members` are small, `files` are in `folder` and stored as they are under their own names.
    """

    @property
    def folder(self) -> Path: ...

    @property
    def memory(self) -> MemoryPlan: ...

    @property
    def members(self) -> Mapping[str, bytes]: ...

    @property
    def files(self) -> tuple[Path, ...]: ...

    def requirements(self, plan: Plan) -> dict[str, Any]:
        """The requirements of the program, from the manifest."""
        ...


def save(
    path: Path,
    plan: Plan,
    linked: LinkedProgram,
    threads: int,
    needs: Mapping[str, Any] | None = None,
    private: bool = False,
) -> Path:
    """Writes the archive beside `path` and moves it there when it is whole; ArchiveError where that fails.

    `needs` are what another archive said that the program needs, which was not linked here. `private`: see `replaced`.
    """
    if len(plan.steps) > MOST_STEPS:
        raise ArchiveError(f"cannot write {path}: a plan of {len(plan.steps)} steps; the most are {MOST_STEPS}")
    try:
        with replaced(path, private) as file:
            _write(file, plan, linked, threads, needs)
    except OSError as e:
        raise ArchiveError(f"cannot write {path}: {e.strerror or e}") from None
    return path


def _write(file: IO[bytes], plan: Plan, linked: LinkedProgram, threads: int, needs: Mapping[str, Any] | None) -> None:
    texts = {
        PLAN: plan_to_json(plan).encode(),
        GRAPH: _graph(plan, linked.folder / WEIGHTS).SerializeToString(),
        **linked.members,
    }
    digests = {n: hashlib.sha256(x).hexdigest() for n, x in texts.items()}
    large = linked.files
    with ThreadPool(len(large)) as pool, zipfile.ZipFile(file, "w") as z:
        found = pool.map(_digest, large)  # while they are copied
        for name, x in texts.items():
            z.writestr(_member(name, zipfile.ZIP_DEFLATED), x)
        for p in large:
            with p.open("rb") as source, z.open(_member(p.name), "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, _CHUNK)
        digests |= {p.name: d for p, d in zip(large, found, strict=True)}
        about = manifest.describe(plan, threads, needs or linked.requirements(plan), digests)
        z.writestr(_member(MANIFEST), json.dumps(about.to_json(), indent=1))


def _member(name: str, compression: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _TIME)
    info.compress_type = compression
    info.external_attr = 0o644 << 16
    return info


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _graph(plan: Plan, file: Path) -> onnx.ModelProto:
    """The plan's graph as ONNX, its weights where the weights file has them."""
    from korch.ir.onnx_write import graph_to_onnx  # here: loading an archive needs no onnx

    graph = plan.selection()
    model = graph_to_onnx(replace(graph, constants={}))
    where = weights.offsets(file)
    for t in plan.constants:
        model.graph.initializer.append(_external(t.name, t.dtype, t.shape, where[t.name], t.nbytes))
    return model


def _external(name: str, dtype: str, shape: tuple[int, ...], at: int, size: int) -> onnx.TensorProto:
    import onnx

    x = onnx.TensorProto(name=name, dims=shape, data_location=onnx.TensorProto.EXTERNAL)
    x.data_type = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    for key, value in (("location", WEIGHTS), ("offset", str(at)), ("length", str(size))):
        x.external_data.add(key=key, value=value)
    return x


def identity(path: Path) -> str:
    """A digest of the archive's directory: names, sizes and checksums of the members, which loading compares with
    these. ArchiveError where it is none."""
    with opened(path) as z:
        rows = [f"{member.filename} {member.file_size} {member.CRC}" for member in z.infolist()]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def read_manifest(path: Path) -> manifest.Manifest:
    """The manifest of the archive, without looking at the rest; ArchiveError where it is none."""
    with opened(path) as z:
        return _manifest(z, path)


def extract(path: Path, folder: Path, runs: bool = True) -> tuple[Plan, Linked | DeviceLinked, manifest.Manifest]:
    """Checks the archive and unpacks its large files into `folder`. ArchiveError says what does not fit.

    Unless it `runs`, a program for a device need not find one here.
    """
    with opened(path) as z:
        about = _manifest(z, path)
        kind = _kind(about.target, path)
        try:
            if runs or kind is Linked:
                kind.check(about, path)
        except (KeyError, TypeError) as e:
            raise DamagedArchive(f"{path} is damaged: {MANIFEST}: {type(e).__name__} {e}{AGAIN}") from None
        if unknown := set(z.namelist()) ^ {MANIFEST, *about.digests}:
            raise DamagedArchive(f"{path} is damaged: {sorted(unknown)[0]} is missing or was added{AGAIN}")
        for _ in _chunks(z, GRAPH, about.digests, path):  # it is for people, and may be large
            pass
        texts = (n for n in about.digests if n != GRAPH and n not in kind.FILES)
        members = {n: b"".join(_chunks(z, n, about.digests, path)) for n in texts}
        for name in kind.FILES:
            _unpack(z, name, about.digests, folder, path)
    try:
        plan = plan_from_json(members[PLAN].decode(), weights.read(folder / WEIGHTS))
        check(plan)
        return plan, kind.found(plan, folder, members), about
    except OSError as e:
        raise _not_unpacked(path, folder, e) from None
    except ArchiveError:
        raise
    except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError, Error) as e:
        raise DamagedArchive(f"{path} is damaged: {PLAN}: {type(e).__name__} {e}{AGAIN}") from None


def _kind(target: str, path: Path) -> type[Linked] | type[DeviceLinked]:
    if target == "cpu":
        return Linked
    if target != "cuda":
        raise ArchiveError(f"{path} was made for {target!r}, this Korch knows cpu and cuda")
    from korch.executable.cuda.link import DeviceLinked  # here: programs for processors need nothing of it

    return DeviceLinked


def _manifest(z: zipfile.ZipFile, path: Path) -> manifest.Manifest:
    """The format version is looked at before anything that depends on it."""
    try:
        document = json.loads(_bytes(z, MANIFEST, path))
        if document["format"] != manifest.FORMAT:
            raise ArchiveError(
                f"{path} has format {document['format']}, this Korch reads {manifest.FORMAT}: it was written by "
                f"korch {document.get('korch', 'unknown')}; run `korch optimize` again"
            )
        return manifest.Manifest.from_json(document)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as e:
        raise DamagedArchive(f"{path} is damaged: {MANIFEST}: {type(e).__name__} {e}{AGAIN}") from None


def _bytes(z: zipfile.ZipFile, name: str, path: Path) -> bytes:
    try:
        return z.read(name)
    except (*DAMAGE, OSError) as e:
        raise _unreadable(path, name, e) from None


def _unreadable(path: Path, name: str, e: Exception) -> ArchiveError:
    """Of a member: only a seek to a place that cannot be is damage, among errors of the system."""
    if isinstance(e, OSError) and e.errno not in (None, errno.EINVAL):
        return ArchiveError(f"cannot read {path}: {name}: {e.strerror or e}")
    return DamagedArchive(f"{path} is damaged: {name}: {line_of(e)}{AGAIN}")


def _not_unpacked(path: Path, folder: Path, e: OSError) -> ArchiveError:
    return ArchiveError(f"cannot unpack {path} to {folder}: {e.strerror or e}; set TMPDIR to a folder with room")


def _chunks(z: zipfile.ZipFile, name: str, digests: Mapping[str, str], path: Path) -> Iterator[bytes]:
    """The bytes of a member, some at a time; behind the last ones its digest is checked."""
    digest = hashlib.sha256()
    try:
        with z.open(name) as source:
            while chunk := source.read(_CHUNK):
                digest.update(chunk)
                yield chunk
    except (*DAMAGE, OSError) as e:
        raise _unreadable(path, name, e) from None
    if digest.hexdigest() != digests.get(name):
        raise DamagedArchive(f"{path} is damaged: {name} does not have its digest{AGAIN}")


def _unpack(z: zipfile.ZipFile, name: str, digests: Mapping[str, str], folder: Path, path: Path) -> None:
    """Copies a member to the folder."""
    try:
        with (folder / name).open("wb") as target:
            for chunk in _chunks(z, name, digests, path):
                target.write(chunk)
    except OSError as e:
        raise _not_unpacked(path, folder, e) from None
