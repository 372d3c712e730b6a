"""A process with a child, a grandchild in another session, a folder and a lock, whatever becomes of it.

`python -m tests.system.orphan FOLDER [end]` writes the numbers of both to FOLDER/started and waits, or ends by itself.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from korch.system.processes import plain_environment, start, work_folder

CHILD = """
import subprocess, sys, time, os
from pathlib import Path
from korch.system.locks import locked
folder = Path(sys.argv[1])
other = subprocess.Popen(["sleep", "3600"], start_new_session=True)
with locked(folder / "lock"):
    (folder / "new").write_text(f"{os.getpid()} {other.pid}")
    (folder / "new").replace(folder / "started")
    time.sleep(3600)
"""


def main(folder: Path, ends: bool) -> None:
    with work_folder("korch-test-") as mine:
        (mine / "file").touch()
        start([sys.executable, "-c", CHILD, str(folder)], plain_environment())
        while not (folder / "started").exists():
            time.sleep(0.01)
        if not ends:
            print("ready", flush=True)
            time.sleep(3600)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] == ["end"])
