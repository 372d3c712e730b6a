"""Programs made by another process: what becomes of it, of the session, of forks and of the end."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from korch.options import Options
from korch.session import service, specialisations, worker_process
from korch.session.archives import Outcome
from korch.session.service import Service
from korch.session.source import ModelSource
from korch.session.specialisations import Specialisations

SECONDS = 60.0


class Client:
    """A session that has met shapes; its base is never watched."""

    def __init__(self, programs: Specialisations, makes: bool = True) -> None:
        self.programs, self.makes = programs, makes

    def activity(self) -> int:
        return 0

    def let_idle_base_go(self) -> bool:
        return False


@pytest.fixture
def running() -> Iterator[Service]:
    made = Service()
    yield made
    made.stop()


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(Specialisations(ModelSource(b"model"), ["x"], Options(1, 5.0), tmp_path / "cache", {}, 4))


def worker(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the program `text` be the worker."""
    (tmp_path / "worker_in_test.py").write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(worker_process, "WORKER", "worker_in_test")


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def states(client: Client) -> list[str]:
    return [s.state for s in client.programs.statuses()]


def test_a_worker_that_crashes_leaves_its_reason(running: Service, client: Client, tmp_path: Path, monkeypatch):
    worker("import sys, os\nprint('out of luck', file=sys.stderr, flush=True)\nos._exit(3)", tmp_path, monkeypatch)
    client.programs.find(((1,),))
    running.attend(client)
    until(lambda: states(client) == ["failed"])
    (status,) = client.programs.statuses()
    assert status.reason == "the process that made the program ended with status 3: out of luck"
    running.attend(client)
    until(lambda: running._thread is None)
    assert states(client) == ["failed"]  # and it is not tried again


def test_where_the_disk_is_full_the_session_says_so(running: Service, client: Client, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("korch.session.source.owned_folder", full)
    client.programs.find(((1,),))
    running.attend(client)
    until(lambda: states(client) == ["failed"])
    assert client.programs.statuses()[0].reason == "the model's file: No space left on device"


def test_a_worker_that_is_killed_says_by_what(running: Service, client: Client, tmp_path: Path, monkeypatch):
    worker("import os\nos.kill(os.getpid(), 9)", tmp_path, monkeypatch)
    client.programs.find(((1,),))
    running.attend(client)
    until(lambda: states(client) == ["failed"])
    assert "was killed by SIGKILL" in client.programs.statuses()[0].reason


def test_a_worker_whose_session_is_gone_ends(running: Service, client: Client, tmp_path: Path, monkeypatch):
    worker(
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)",
        tmp_path,
        monkeypatch,
    )
    client.programs.find(((1,),))
    running.attend(client)
    until(lambda: bool((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()))
    pid = int((tmp_path / "pid").read_text())
    client.programs = Specialisations(ModelSource(b"model"), ["x"], Options(1), tmp_path, {}, 4)
    until(lambda: not alive(pid))


def alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


MAKING = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    with open(os.path.join(request["folder"], "pids"), "a") as file:
        file.write(f"{os.getpid()} ")
    options = request["options"]
    outcome = {"budget": options["time_budget"], "base_ms": 1.0, "needs": [], "reason": f"slow for {options['shapes']}"}
    print(json.dumps(outcome), flush=True)
"""


def test_one_process_makes_all_that_is_wanted_and_ends_when_it_idles(
    running: Service, client: Client, tmp_path: Path, monkeypatch
):
    worker(MAKING, tmp_path, monkeypatch)
    monkeypatch.setattr(service, "WORKER_IDLE_SECONDS", 1.0)
    client.programs.folder.mkdir()
    for n in (1, 2, 3):
        client.programs.find(((n,),))
    running.attend(client)
    until(lambda: states(client) == ["rejected"] * 3)
    assert {s.reason for s in client.programs.statuses()} == {f"slow for {{'x': [{n}]}}" for n in (1, 2, 3)}
    (pid,) = {int(n) for n in (client.programs.folder / "pids").read_text().split()}
    until(lambda: running._thread is None)
    assert not alive(pid)


LONGER = """
import json, sys, time
for line in sys.stdin:
    request = json.loads(line)
    if request["options"]["time_budget"] > 3.0:
        open({begun!r}, "w").close()
        time.sleep(600)
    print(json.dumps({{"budget": 1.0, "base_ms": 1.0, "needs": [], "reason": "slow"}}), flush=True)
"""


def test_a_new_shape_ends_a_longer_search(running: Service, client: Client, tmp_path: Path, monkeypatch):
    begun = tmp_path / "begun"
    worker(LONGER.format(begun=str(begun)), tmp_path, monkeypatch)
    monkeypatch.setattr(service, "QUIET_SECONDS", 0.5)
    monkeypatch.setattr(specialisations, "FIRST_BUDGET", 2.0)
    client.programs.find(((1,),))
    running.attend(client)
    until(begun.exists)
    client.programs.find(((2,),))
    running.attend(client)
    until(lambda: states(client) == ["rejected"] * 2)


def test_a_worker_that_hangs_is_given_up(running: Service, client: Client, tmp_path: Path, monkeypatch):
    worker("import time\ntime.sleep(600)", tmp_path, monkeypatch)
    monkeypatch.setattr(service, "LONGEST_SEARCH", 0.0)
    monkeypatch.setattr(service, "LONGEST_BESIDES", 0.5)
    client.programs.find(((1,),))
    running.attend(client)
    until(lambda: states(client) == ["failed"])
    assert client.programs.statuses()[0].reason == "making the program took too long"
    until(lambda: running._thread is None)


def test_where_no_process_starts_the_session_says_so(running: Service, client: Client, monkeypatch):
    def none(*_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(service, "SpecialisationProcess", none)
    client.programs.find(((1,),))
    running.attend(client)
    until(lambda: states(client) == ["failed"])
    assert "no process could be started: Resource" in client.programs.statuses()[0].reason


@pytest.mark.parametrize("makes", [True, False])
def test_only_who_may_make_programs_starts_a_process(
    makes: bool, running: Service, client: Client, tmp_path, monkeypatch
):
    worker("print('{}')", tmp_path, monkeypatch)
    client.makes = makes
    client.programs.find(((1,),))
    running.attend(client)
    until(lambda: states(client) == ["failed" if makes else "absent"])


ENDING = """
import os, sys, time
import numpy as np
import korch
session = korch.InferenceSession({model!r}, threads=1, time_budget=60)
x = np.ones((1, 4, 8, 8), np.float32)
session.run(None, {{"x": x}})
from korch.session.service import SERVICE
while SERVICE._worker is None:
    time.sleep(0.01)
print(SERVICE._worker._process.pid, flush=True)
{end}
"""
ENDS = {
    "ends": "",
    "is killed": "os.kill(os.getpid(), 9)",
    "ends at once": "os._exit(0)",
    "forks, and the fork lives longer": "if os.fork() == 0: session.run(None, {'x': x}); os._exit(0)\nos._exit(0)",
}


@pytest.mark.parametrize("end", ENDS)
def test_no_worker_outlives_a_process_that(end: str, small_model: Path, tmp_path: Path):
    code = ENDING.format(model=str(small_model), end=ENDS[end])
    environment = {**os.environ, "KORCH_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS, env=environment
    )
    assert done.stdout.strip(), done.stderr
    pid = int(done.stdout.split()[0])
    until(lambda: not alive(pid))
    assert "Traceback" not in done.stderr


def test_a_session_is_not_held_by_the_service(running: Service, tmp_path: Path):
    client = Client(Specialisations(ModelSource(b"model"), ["x"], Options(1), tmp_path, {}, 4))
    gone = weakref.ref(client)
    running.attend(client)
    until(lambda: running._thread is None)
    del client
    gc.collect()
    assert gone() is None


def test_without_a_thread_a_session_goes_on(running: Service, client: Client, monkeypatch: pytest.MonkeyPatch):
    """As in a container with a limit of processes."""

    def none(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    client.programs.find(((1,),))
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none)
        running.attend(client)
    (status,) = client.programs.statuses()
    assert (status.state, status.reason) == ("failed", "no thread could be started to make it")


def test_a_worker_that_does_not_start_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(*_: object, **__: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(worker_process, "start", refused)
    with pytest.raises(BlockingIOError):
        worker_process.SpecialisationProcess()
    assert not list(tmp_path.iterdir())


def test_models_that_cannot_be_read_share_no_program(tmp_path: Path):
    """They may be readable a moment later."""
    one, other = (ModelSource(tmp_path / name).digest for name in ("one.onnx", "other.onnx"))
    assert one != other


@pytest.mark.parametrize(("at", "reason"), [("truncate", "made"), ("read", "cannot be read: Input/output error")])
def test_a_worker_whose_answer_cannot_be_read_is_given_up(
    running: Service, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str, reason: str
):
    """A session must not wait for ever for what it makes. That old complaints stay is no reason."""
    worker(
        "import sys\nprint(sys.stdin.readline() and OUTCOME, flush=True)\n".replace("OUTCOME", repr(MADE)),
        tmp_path,
        monkeypatch,
    )
    begin = worker_process.SpecialisationProcess.begin

    def with_fault(self: worker_process.SpecialisationProcess, request: object) -> None:
        begin(self, request)
        broken = self._errors if at == "truncate" else self._process.stdout
        fault = SimpleNamespace(**{n: getattr(broken, n) for n in ("seek", "read", "close", "fileno", "truncate")})
        setattr(fault, at, _broken)
        if at == "truncate":
            self._errors = fault
        else:
            self._process.stdout = fault

    monkeypatch.setattr(worker_process.SpecialisationProcess, "begin", with_fault)
    client.programs.find(((1,),))
    running.attend(client)
    until(lambda: client.programs.statuses()[0].state == "failed")
    assert reason in client.programs.statuses()[0].reason


MADE = Outcome(5.0, reason="made").to_json()


def _broken(*_: object) -> None:
    raise OSError(errno.EIO, "Input/output error")
