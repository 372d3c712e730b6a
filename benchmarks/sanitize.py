"""Fails where the C compiler's sanitizers find fault with generated code.

    python benchmarks/sanitize.py [TESTS] [-o results.json] [-- PYTEST OPTIONS]

The tests of kernels and of programs run, or those that are named, while every library is compiled for
AddressSanitizer and UndefinedBehaviorSanitizer: they stop a kernel that reads or writes beyond an array, an operand or
its workspace, uses freed memory, overflows a signed number, or shifts or converts beyond a type. Each finding is a
report; exit status 1 if there is one, or if a test fails. Needs GCC with its sanitizers.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
TESTS = ("tests/backends", "tests/executable/test_runtime.py", "tests/session/test_loops.py")
SANITIZERS = "address,undefined"
RUNTIME = "libasan.so"
"""The library that must be in a process before it loads code that was compiled for AddressSanitizer."""
UNDEFINED = "runtime error:"
"""In reports of UndefinedBehaviorSanitizer, which go to standard error."""


@dataclass(frozen=True)
class Findings:
    """How many tests ran and failed, and the first line of each report."""

    tests: int
    failed: int
    reports: tuple[str, ...]

    @property
    def clean(self) -> bool:
        return self.tests > 0 and not self.failed and not self.reports


def environment(reports: Path) -> dict[str, str]:
    """For a process whose libraries are compiled for the sanitizers, and leave what they find in the folder `reports`.
    Compilers run without them."""
    options = f"abort_on_error=1:detect_leaks=0:print_stacktrace=1:log_path={reports / 'report'}"
    compiler = f"env -u LD_PRELOAD gcc -fsanitize={SANITIZERS} -fno-sanitize-recover=all -g1"
    return {
        **os.environ,
        "CC": compiler,
        "LD_PRELOAD": _runtime(),
        "ASAN_OPTIONS": options,
        "UBSAN_OPTIONS": options,
        "KORCH_CACHE_DIR": str(reports / "cache"),
    }


def _runtime() -> str:
    """Where GCC has it; SystemExit where it has not."""
    found = subprocess.run(["gcc", f"-print-file-name={RUNTIME}"], capture_output=True, text=True, check=True)
    path = found.stdout.strip()
    if path == RUNTIME:
        raise SystemExit(f"gcc has no {RUNTIME}: install its sanitizers")
    return path


def sanitized(tests: Sequence[str], options: Sequence[str] = ()) -> Findings:
    """Runs the tests under the sanitizers."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "tests.xml"
        command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", f"--junitxml={results}"]
        command += [*options, *tests]
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment(Path(folder)), stdout=subprocess.PIPE, text=True, errors="replace"
        )
        assert process.stdout
        text = ""
        for line in process.stdout:
            text += line
            print(line, end="", file=sys.stderr, flush=True)
        process.wait()
        files = [file.read_text(errors="replace") for file in sorted(Path(folder).glob("report.*"))]
        suite = ElementTree.parse(results).find("testsuite") if results.exists() else None
    reports = [line.strip() for line in text.splitlines() if UNDEFINED in line]
    reports += [next((line for line in file.splitlines() if "ERROR:" in line), file) for file in files]
    if suite is None:
        return Findings(0, 1, tuple(reports))
    count = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors")}
    return Findings(count["tests"], count["failures"] + count["errors"], tuple(reports))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tests", nargs="*", default=TESTS)
    parser.add_argument("-o", "--output", type=Path)
    arguments, options = parser.parse_known_args()
    found = sanitized(arguments.tests, [o for o in options if o != "--"] or ["-m", "not slow"])
    text = json.dumps(asdict(found), indent=1)
    print(text)
    if arguments.output:
        arguments.output.write_text(text + "\n")
    sys.exit(not found.clean)


if __name__ == "__main__":
    main()
