"""Fails where the C that another version of Korch generates differs and is faster: kernel by kernel, both in one run.

    git worktree add ../before COMMIT
    python benchmarks/generated_code.py models/*.onnx --before ../before/src [--plans archives] [--cones 200]

The kernels of a model are those of its plan, where `--plans` has NAME.korch, else all that each processor backend
offers for some of its cones. Their C is compared token by token, without comments, prototypes, names of their own and
the order of functions. Kernels that differ are timed by both versions in turn, each in a process of its own; the least
of `--rounds` counts. Exit status 1 where a kernel has less than 0.98 of the old one's speed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

LEAST = 0.98
"""Speed of a kernel, of the old one's: at least."""
OWN = re.compile(r"\b(?:KERNEL|k0)_\w+|\bkorch_f[0-9a-f]{16}\b")
Key = tuple[str, str, str, str]
"""A model, a cone's signature, a backend and a variant."""


def tokens(text: str) -> list[list[str]]:
    """The tokens of the functions and data of C, sorted; each numbers the kernel's own names in their order."""
    text = re.sub(r",\s*}", "}", re.sub(r"//.*", "", text))
    parts, depth = [list[str]()], 0
    for token in re.findall(r"\w+|[^\w\s]", text):
        parts[-1].append(token)
        depth += (token in "({[") - (token in ")}]")
        if not depth and token in ";}":
            parts.append([])
    return sorted(_numbered(part) for part in parts if part[-2:] != [")", ";"])


def _numbered(part: list[str]) -> list[str]:
    names: dict[str, str] = {}
    return [names.setdefault(t, f"own{len(names)}") if OWN.fullmatch(t) else t for t in part]


# In a process of each version ---------------------------------------------------------------------------------------


def kernels(model: Path, plans: Path | None, most: int, threads: int) -> Iterator[tuple[Key, Any]]:
    """The kernels of a model by the version of Korch that this process imports."""
    from korch.backends.table import entries
    from korch.candidates import enumerate_cones
    from korch.candidates.chains import chained_cones
    from korch.fission import fission
    from korch.fission.importer import read
    from korch.options import Options
    from korch.rewrite import add_choices
    from korch.targets import target_of

    options = Options(threads, None, "default", {}, "cpu", "measured", "", {})
    graph = target_of(options).choices(add_choices(fission(read(model, {}, {})), True, unproved=False))
    cones = list(enumerate_cones(graph))
    distinct = {c.signature: c for c in (*cones, *chained_cones(graph, cones, 1 << 20))}
    wanted = planned(plans / f"{model.stem}.korch") if plans else None
    for entry in entries():
        backend = entry.backend
        if not backend or entry.target != "cpu" or entry.name == "onnxruntime":
            continue
        refuses = getattr(backend, "refuses", None) or backend.declines  # its name in older versions
        taken = [c for c in distinct.values() if refuses(c) is None]
        if wanted is not None:
            taken = [c for c in taken if (c.signature, backend.name) in wanted]
        for cone in taken[:: max(len(taken) // most, 1)]:
            for kernel in backend.build(cone, threads):
                yield (model.stem, cone.signature, backend.name, str(kernel.variant)), kernel


def planned(archive: Path) -> set[tuple[str, str]]:
    """The cones and backends of the plan in an archive."""
    import korch

    with korch.load(archive) as program:
        return {(s.kernel.cone.signature, s.kernel.backend) for s in program.plan.steps}


def text_of(kernel: Any) -> str:
    """The C of a kernel, without headers."""
    from korch.backends.program import compose

    return compose([getattr(kernel, "code", kernel)]).split("} korch_entry;", 1)[1] if kernel.source else ""


def serve(arguments: argparse.Namespace) -> None:
    """Writes every kernel's tokens, then times those whose numbers arrive."""
    from korch.profile import Database, Measurement, Profiler

    found = [k for m in arguments.models for k in kernels(m, arguments.plans, arguments.cones, arguments.threads)]
    print(json.dumps([[key, tokens(text_of(kernel))] for key, kernel in found]), flush=True)
    for line in sys.stdin:
        with tempfile.TemporaryDirectory() as folder, Profiler(arguments.threads, Database(Path(folder))) as profiler:
            (result,) = profiler.measure([found[int(line)][1]])
        print(result.seconds if isinstance(result, Measurement) else -1.0, flush=True)


# Both versions ------------------------------------------------------------------------------------------------------


class Version:
    """A process with one version of Korch: the tokens of its kernels, and their times when they are asked for."""

    def __init__(self, source: Path, arguments: list[str]) -> None:
        command = [sys.executable, __file__, *arguments]
        environment = {**os.environ, "PYTHONPATH": str(source.resolve())}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process: Any = subprocess.Popen(command, env=environment, text=True, **pipes)
        found = [(tuple(key), text) for key, text in json.loads(self._process.stdout.readline())]
        self.number: Mapping[Key, int] = {key: i for i, (key, _) in enumerate(found)}
        self.tokens: Mapping[Key, list[list[str]]] = dict(found)

    def seconds(self, key: Key) -> float:
        """The time of a run of the kernel."""
        print(self.number[key], file=self._process.stdin, flush=True)
        return float(self._process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the old version's src; without it, this process is one version's")
    parser.add_argument("--plans", type=Path)
    parser.add_argument("--cones", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most", type=int, default=20, help="kernels that are timed, of those that differ")
    parser.add_argument("models", type=Path, nargs="+")
    arguments = parser.parse_args()
    if not arguments.before:
        return serve(arguments)
    given = [*map(str, arguments.models), "--cones", str(arguments.cones), "--threads", str(arguments.threads)]
    given += ["--plans", str(arguments.plans)] if arguments.plans else []
    old, new = Version(arguments.before, given), Version(Path(__file__).parents[1] / "src", given)
    different = [key for key in old.tokens if key in new.tokens and old.tokens[key] != new.tokens[key]]
    lost, added = old.tokens.keys() - new.tokens.keys(), new.tokens.keys() - old.tokens.keys()
    print(f"{len(old.tokens)} kernels, {len(different)} differ, {len(lost)} are gone, {len(added)} are new")
    slow = False
    for key in different[:: max(len(different) // arguments.most, 1)]:
        times = [(old.seconds(key), new.seconds(key)) for _ in range(arguments.rounds)]
        speed = min(t for t, _ in times) / min(t for _, t in times)
        slow |= speed < LEAST
        print(f"{key[0]} {key[2]} {key[3]}: {speed:.3f} of the old speed{'' if speed >= LEAST else ', TOO SLOW'}")
    sys.exit(slow or bool(lost))


if __name__ == "__main__":
    main()
