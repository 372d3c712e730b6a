"""Names of inputs, outputs, weights and nodes are a stranger's text, in linked programs and archives too."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.backends.test_names import HOSTILE

from korch.executable.runtime import Executable, load
from korch.ir import Builder, Value

from .small_plans import plan_of

NAMES = (*HOSTILE, "__metadata__", "../../escaped", "/absolute", "plan.json", "ÿ€𝄞", " ")


PLAIN = tuple(f"n{i}" for i in range(len(NAMES)))


def program(inputs: tuple[str, ...], weights: tuple[str, ...], outputs: tuple[str, ...]) -> Executable:
    """relu(x + w) for each input x, weight w and output."""
    b = Builder(weights[0])
    b.reserve(outputs)
    xs = [b.input(name, "float32", (4,)) for name in inputs]
    ys: list[Value] = []
    for i, (x, name) in enumerate(zip(xs, weights, strict=True)):
        b.origin = b.rule = name
        ys.append(b.op("Relu", x + b.constant(np.full(4, i, np.float32), name=name)))
    return Executable.link(plan_of(b.graph(list(zip(outputs, ys, strict=True)))))


def texts_of(archive: Path) -> dict[str, str]:
    """The members of C, without comments, the contents of strings, and the places of weights, which begin after a list
    of their names."""

    def plain(line: str) -> str:
        code = re.sub(r"(KORCH_WEIGHTS\w*)\W.*", r"\1", line.partition("//")[0].rstrip())
        return '"'.join(code.split('"')[::2])

    with zipfile.ZipFile(archive) as z:
        return {n: "\n".join(map(plain, z.read(n).decode().split("\n"))) for n in z.namelist() if n.endswith(".c")}


def weights_and(names: tuple[str, ...], kind: str) -> tuple[str, ...]:
    return tuple(f"{name}{kind}" for name in names)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with program(weights_and(PLAIN, "x"), PLAIN, weights_and(PLAIN, "y")) as e:
        return e.save(tmp_path_factory.mktemp("plain") / "model.korch")


@pytest.mark.slow
@pytest.mark.parametrize("where", ["ports", "weights"])
def test_hostile_names_are_only_names(where: str, plain: Path, tmp_path: Path):
    own = weights_and(PLAIN, "x"), PLAIN, weights_and(PLAIN, "y")
    names = (NAMES, own[1], weights_and(NAMES, "y")) if where == "ports" else (own[0], NAMES, own[2])
    with program(*names) as e:
        hostile = e.save(tmp_path / "model.korch")
    x = np.array([-50, 1, 2, -9], np.float32)
    with load(hostile) as e:
        answer = e.run(dict.fromkeys(names[0], x))
    assert list(answer) == list(names[2])
    for i, y in enumerate(answer.values()):
        np.testing.assert_array_equal(y, np.maximum(x + i, 0))
    for (file, text), other in zip(texts_of(plain).items(), texts_of(hostile).values(), strict=True):
        assert [(file, a, b) for a, b in zip(text.split("\n"), other.split("\n"), strict=True) if a != b] == []
    with zipfile.ZipFile(plain) as a, zipfile.ZipFile(hostile) as b:
        assert a.namelist() == b.namelist()
