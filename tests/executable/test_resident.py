"""What a loaded program keeps in memory: each weight once, no library in vain, nothing when it is closed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from korch.backends.cpu.onednn.backend import BACKEND as ONEDNN
from korch.executable import weights
from korch.executable.plan import Plan, Step
from korch.executable.runtime import Executable
from korch.ir import Builder, Cone, Tensor

from .small_plans import chain

MEASURE = """
import sys
from pathlib import Path
import numpy as np
import korch

def kib(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))

def run(path):
    with korch.load(path) as e:
        e.run({i.name: np.zeros(i.shape, i.dtype) for i in e.inputs})

small, large = sys.argv[1:]
run(small)  # brings in all that any program takes
before = kib("VmRSS")
run(large)
run(large)  # once malloc has freed large blocks it takes those of this size from the heap
print(before, kib("VmHWM"), kib("VmRSS"))
"""
NEEDED = "import sys, korch; korch.load(sys.argv[1]).close(); print({'onnx', 'onnxruntime'} & set(sys.modules))"


def python(script: str, *arguments: Path) -> str:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def products(count: int, inner: int) -> Plan:
    """`count` products by weights of 4 * 1024 * `inner` bytes, which oneDNN packs, each with a bias, which it reads."""
    b, r = Builder(), np.random.default_rng(0)
    v = b.input("x", "float32", (8, 1024))
    for i in range(count):
        rows, columns = (inner, 1024) if i % 2 else (1024, inner)
        w = b.constant(r.random((rows, columns), dtype=np.float32), name=f"w{i}")
        v = b.op("MatMul", v, w) + b.constant(np.ones(columns, np.float32), name=f"b{i}")
    g = b.graph([("y", v)])
    cones = [Cone.of(g.primitives[k : k + 2]) for k in range(0, 2 * count, 2)]
    return Plan(g, tuple(Step.of(ONEDNN.build(c, 2)[0]) for c in cones), threads=2)


def saved(plan: Plan, path: Path) -> Path:
    with Executable.link(plan) as e:
        return e.save(path)


@pytest.mark.onednn
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read in /proc")
def test_packed_weights_are_in_memory_once_and_not_at_all_when_closed(tmp_path: Path) -> None:
    plan = products(8, 2048)
    size = sum(t.nbytes for t in plan.constants) / 1024
    archives = saved(products(2, 16), tmp_path / "small.korch"), saved(plan, tmp_path / "large.korch")
    before, peak, after = map(int, python(MEASURE, *archives).split())
    assert size < peak - before < 1.4 * size
    assert after - before < 0.25 * size


HELD = """
import sys
import numpy as np
import korch

def kib():
    lines = open("/proc/self/status").readlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

def opened(path):
    e = korch.load(path)
    (x,) = e.inputs
    e.run({x.name: np.zeros(x.shape, x.dtype)})
    return e

first, second = sys.argv[1:]
opened(first).close()
levels = [kib()]
one = opened(first)
levels.append(kib())
two = opened(second)
levels.append(kib())
one.close()
levels.append(kib())
y = two.run({i.name: np.ones(i.shape, i.dtype) for i in two.inputs})["y"]
two.close()
levels.append(kib())
print(*levels, int(np.isfinite(y).all()))
"""


def product(rows: int) -> Plan:
    """One product of so many rows by 16 MB of weights, which generated code packs."""
    from korch.backends.cpu.loops.backend import BACKEND

    b, r = Builder(), np.random.default_rng(0)
    w = b.constant(r.random((2048, 2048), dtype=np.float32), name="w")
    g = b.graph([("y", b.op("MatMul", b.input("x", "float32", (rows, 2048)), w))])
    (kernel, *_) = BACKEND.build(Cone.of(g.primitives), 1)
    return Plan(g, (Step.of(kernel),), threads=1)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read in /proc")
def test_programs_for_several_shapes_hold_their_weights_once(tmp_path: Path) -> None:
    archives = (saved(product(n), tmp_path / f"{n}.korch") for n in (48, 96))
    *levels, fine = map(int, python(HELD, *archives).split())
    before, one, two, other, none = levels
    size = 2048 * 2048 * 4 / 1024
    assert one - before > 0.9 * size and fine
    assert two - one < 0.2 * size and other - before > 0.9 * size and none - before < 0.2 * size


def test_a_program_without_host_steps_loads_without_onnx(tmp_path: Path) -> None:
    assert python(NEEDED, saved(chain(), tmp_path / "m.korch")) == "set()\n"


def test_small_tensors_lie_together_and_come_back(tmp_path: Path) -> None:
    sizes = (4096, 3, 0, 100_000, 17, 4096)
    tensors = [Tensor(f"t{i}", "float32", (n,), const=True) for i, n in enumerate(sizes)]
    values = {t.name: np.full(t.shape, i, np.float32) for i, t in enumerate(tensors)}
    offsets = weights.write(tmp_path / "w", tensors, values).offsets
    assert [i for _, i in sorted(zip(offsets, range(6), strict=True)) if sizes[i]] == [1, 4, 0, 5, 3]
    found, where = weights.read(tmp_path / "w"), weights.offsets(tmp_path / "w")
    assert tuple(where[t.name] for t in tensors) == offsets
    for name, x in values.items():
        np.testing.assert_array_equal(found[name], x)


CLOSED = """
import sys
from pathlib import Path
import numpy as np
import korch

def libraries():
    return {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "program.so" in line}

for _ in range(10):
    with korch.load(sys.argv[1]) as first, korch.load(sys.argv[1]) as second:
        for e in (first, second):
            e.run({i.name: np.zeros(i.shape, i.dtype) for i in e.inputs})
    second.close()
print(len(libraries()))
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="mapped files are listed in /proc")
def test_the_code_of_closed_programs_is_unloaded(tmp_path: Path) -> None:
    """But that of the first one, whose pool of packed constants the others share."""
    assert python(CLOSED, saved(chain(), tmp_path / "model.korch")) == "1\n"
