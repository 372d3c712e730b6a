"""Archives of strangers: members too many, too large or named to go elsewhere are not read; none runs unasked."""

from __future__ import annotations

import hashlib
import json
import shutil
import stat
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from korch.cli import main
from korch.errors import ArchiveError, Error
from korch.executable import members, plan_json
from korch.executable.members import opened
from korch.executable.runtime import Executable, load

from .small_plans import chain, feeds_of

Made = Callable[[zipfile.ZipFile], None]


def plain(z: zipfile.ZipFile) -> None:
    z.writestr("plan.json", b"{}" * 1000)
    z.writestr("sources/program.c", "int x;", zipfile.ZIP_DEFLATED)


def named(name: str, mode: int = 0, compression: int = zipfile.ZIP_STORED, data: bytes = b"x") -> Made:
    def made(z: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo("x")
        info.filename = info.orig_filename = name
        info.external_attr, info.compress_type = mode << 16, compression
        z.writestr(info, data)

    return made


def twice(z: zipfile.ZipFile) -> None:
    z.writestr("plan.json", "{}")
    z.writestr("plan.json", "[]")


def archive(folder: Path, made: Made) -> Path:
    with zipfile.ZipFile(folder / "m.korch", "w") as z:
        made(z)
    return folder / "m.korch"


def test_plain_members_are_read(tmp_path: Path) -> None:
    with opened(archive(tmp_path, plain)) as z:
        assert z.read("plan.json") == b"{}" * 1000


def test_constants_of_zeros_are_read(tmp_path: Path) -> None:
    """They are packed a thousand times."""
    zeros = bytes(2 << 20)
    with opened(archive(tmp_path, named("x", compression=zipfile.ZIP_DEFLATED, data=zeros))) as z:
        assert z.read("x") == zeros


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (named("/etc/passwd"), "is no name of a file inside an archive"),
        (named("../plan.json"), "is no name of a file inside an archive"),
        (named("a/../../b"), "is no name of a file inside an archive"),
        (named("folder/"), "is no name of a file inside an archive"),
        (named("plan.json\0.so"), "is no name of a file inside an archive"),
        (named("C:\\plan"), "is no name of a file inside an archive"),
        (named("link", stat.S_IFLNK | 0o777), "is no plain file"),
        (named("pipe", stat.S_IFIFO | 0o777), "is no plain file"),
        (named("x", compression=zipfile.ZIP_LZMA), "is compressed otherwise"),
        (twice, "'plan.json' is in it 2 times"),
    ],
)
def test_others_are_refused(tmp_path: Path, made: Made, reason: str) -> None:
    path = archive(tmp_path, made)
    for read in (lambda: load(path), lambda: load(path, runs=False)):
        with pytest.raises(ArchiveError) as e:
            read()
        assert reason in str(e.value) and str(path) in str(e.value) and "\n" not in str(e.value)


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MOST_MEMBERS", 1, "2 members, at most 1"),
        ("MOST_PACKED_BYTES", 5, "its texts have 6 bytes, at most 5"),
    ],
)
def test_the_whole_is_limited(
    tmp_path: Path, limit: str, value: int, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, limit, value)
    with pytest.raises(ArchiveError, match=reason), opened(archive(tmp_path, plain)):
        pass


def test_a_long_directory_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members._Reader, "most", 50)
    with pytest.raises(ArchiveError, match="directory has more than 50 bytes"), opened(archive(tmp_path, plain)):
        pass


def test_members_that_overlap_are_refused(tmp_path: Path) -> None:
    """Many names for the same bytes."""
    path = archive(tmp_path, lambda z: [z.writestr(n, bytes(1000)) for n in "ab"] and None)
    data = path.read_bytes()
    size = (1000).to_bytes(4, "little")
    at = data.index(b"PK\x01\x02")
    path.write_bytes(data[:at] + data[at:].replace(size, (2000).to_bytes(4, "little")))
    with pytest.raises(ArchiveError, match="more bytes than the file"), opened(path):
        pass


@pytest.mark.parametrize("name", ["Infinity", "NaN", "1e999", "[]"])
def test_a_number_that_is_none_is_damage(tmp_path: Path, name: str) -> None:
    with Executable.link(chain(1)) as e:
        saved = e.save(tmp_path / "good.korch")
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(tmp_path / "bad.korch", "w") as new:
        for member in old.namelist():
            data = old.read(member)
            if member == "manifest.json":
                data = data.replace(b'"threads": 2', f'"threads": {name}'.encode())
            new.writestr(member, data)
    with pytest.raises(ArchiveError, match=r"is damaged: manifest\.json"):
        load(tmp_path / "bad.korch", runs=False)


def test_a_plan_of_very_many_steps_is_not_laid_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Executable.link(chain(3)) as e:
        saved = e.save(tmp_path / "m.korch")
    monkeypatch.setattr(plan_json, "MOST_STEPS", 2)
    with pytest.raises(ArchiveError, match="it has 3 steps, at most 2 are read"):
        load(saved, runs=False)


def poisoned(folder: Path) -> tuple[Path, Path]:
    """An archive with right digests, whose library leaves a trace when it is loaded; and the trace."""
    trace, source, library = folder / "trace", folder / "bad.c", folder / "bad.so"
    source.write_text(
        f'#include <stdio.h>\n__attribute__((constructor)) static void f(void) {{ fclose(fopen("{trace}", "w")); }}\n'
    )
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("needs a C compiler")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    with Executable.link(chain()) as e:
        saved = e.save(folder / "good.korch")
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(folder / "bad.korch", "w") as new:
        for name in old.namelist():
            data = library.read_bytes() if name == "program.so" else old.read(name)
            if name == "manifest.json":
                d = json.loads(data)
                d["digests"]["program.so"] = hashlib.sha256(library.read_bytes()).hexdigest()
                data = json.dumps(d).encode()
            new.writestr(name, data)
    return folder / "bad.korch", trace


def test_what_is_only_looked_at_runs_no_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, trace = poisoned(tmp_path)
    assert main(["explain", str(path)]) == 0 and "total: " in capsys.readouterr().out
    assert main(["explain", str(path), "--json"]) == 0
    with load(path, runs=False) as e:
        assert e.inputs and e.peak_bytes
        with pytest.raises(Error, match="to be looked at"):
            e.run(feeds_of(chain()))
    assert not trace.exists()
    with pytest.raises((ArchiveError, AttributeError)):
        load(path)
    assert trace.exists(), "this archive's code leaves a trace where it is loaded"
