"""What holds of the whole tree: who may import whom, how rooms introduce themselves, how long files are."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import korch
from korch.backends.table import entries
from korch.fission import all_rules

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "korch"
LONGEST = 600

LAYERS = (
    ("errors",),
    ("system",),
    ("limits", "machine"),
    ("devices",),
    ("ir",),
    ("fission",),
    ("numerics",),
    ("options",),
    ("rewrite",),
    ("candidates",),
    ("backends",),
    ("profile",),
    ("solve",),
    ("executable",),
    ("targets",),
    ("search",),
    ("optimize",),
    ("session",),
    ("report",),
    ("integrations",),
    ("onnxruntime", "onnx_backend"),
    ("cli",),
    ("__main__",),
)
"""From the bottom up; each may import from those below it."""
ROOMS = [path.parent.name for path in sorted(SOURCE.glob("*/__init__.py"))]
FILES = sorted(SOURCE.rglob("*.py"))
OURS = [p for folder in ("src", "tests", "benchmarks", "examples", "docs") for p in sorted((ROOT / folder).rglob("*"))]
TEXTS = [p for p in OURS if p.suffix in (".py", ".c", ".h", ".md", ".toml", ".sh") and "__pycache__" not in p.parts]

TWICE = set[str]()
"""Classes defined twice. The set may only shrink."""
AVOIDED = {
    *("means", "exacter", "excuse", "doubt", "hope", "apart", "spell", "joins", "told", "office", "yard", "shelf"),
    *("excuses", "doubts", "doubted", "hopes", "hoped", "hopeless", "spells", "spelled", "unspelled"),
    *("util", "utils", "helper", "helpers", "common", "manager", "handler"),
}
"""Words in names that are not the field's."""


def layer_of(room: str) -> int:
    return next(i for i, names in enumerate(LAYERS) if room in names)


def imported(path: Path) -> Iterator[str]:
    """The rooms of korch that a file imports, anywhere in it; imports for type checkers do not run."""
    tree = ast.parse(path.read_text())
    skipped = {id(n) for node in ast.walk(tree) if _for_checkers(node) for n in ast.walk(node)}
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{a.name}" for a in node.names)]
        elif isinstance(node, ast.Import):
            names = [a.name for a in node.names]
        if id(node) not in skipped:
            yield from (n.split(".")[1] for n in names if n.startswith("korch.") and n.split(".")[1][0].islower())


def _for_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def test_every_room_is_in_the_table():
    files = {p.stem for p in SOURCE.glob("*.py")} - {"__init__"}
    assert files | set(ROOMS) == {name for names in LAYERS for name in names}


@pytest.mark.parametrize(
    "path", [p for p in FILES if p.parent != SOURCE or p.stem != "__init__"], ids=lambda p: str(p.relative_to(SOURCE))
)
def test_imports_run_down_the_table(path: Path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    known = {name for names in LAYERS for name in names}
    rooms = set(imported(path)) & known - {own}
    assert not {room for room in rooms if layer_of(room) >= layer_of(own)}


@pytest.mark.parametrize("path", sorted((SOURCE / "solve").glob("*.py")), ids=lambda p: p.name)
def test_the_solver_knows_no_clock_and_no_kernels(path: Path):
    """Its deadlines come from outside, so that the same problem has the same plan while there is time."""
    tree = ast.parse(path.read_text())
    names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    barred = ("time", "datetime", "korch.profile", "korch.backends")
    assert not [n for n in names if any(n == b or n.startswith(f"{b}.") for b in barred)]


@pytest.mark.parametrize("room", ROOMS)
def test_rooms_say_what_comes_in_and_what_goes_out_and_where_to_start(room: str):
    text = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text())) or ""
    lines = [line for line in text.splitlines() if line]
    assert 2 <= len(lines) <= 4, text
    for word in ("in", "out", "start"):
        assert re.search(rf"\b{word}\b", text, re.IGNORECASE), f"{room}: its docstring has no {word!r}"


def named(path: Path, *kinds: type[ast.AST]) -> Iterator[str]:
    """The names of a file's definitions of these kinds, at any depth."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, kinds):
            yield vars(node)["name"]


def with_avoided_words(names: Iterable[str]) -> set[str]:
    """Those of `names` that contain an avoided word, between underscores or capitals."""
    return {n for n in names if not AVOIDED.isdisjoint(w.lower() for w in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", n))}


def test_a_class_name_means_one_class():
    count = Counter(name for path in FILES for name in set(named(path, ast.ClassDef)) if name[0] != "_")
    assert {name for name, n in count.items() if n > 1} == TWICE


def test_names_are_those_of_the_field():
    names = {name for path in FILES for name in (path.stem, *named(path, ast.ClassDef, ast.FunctionDef))}
    assert not with_avoided_words(names)


@pytest.mark.parametrize(
    ("name", "avoided"),
    [("told", True), ("_told_by", True), ("OfficeYard", True), ("string_utils", True), ("mean_times", False)],
)
def test_avoided_words_are_found(name: str, avoided: bool):
    assert (with_avoided_words([name]) == {name}) is avoided


def test_files_are_no_longer_than_people_read():
    long = {str(p.relative_to(ROOT)): n for p in TEXTS if (n := p.read_text().count("\n")) > LONGEST}
    assert not long


def test_no_file_speaks_of_one_machine():
    pattern = re.compile(r"/(home|Users|root|work|mnt|workspace)/\w")
    found = [
        f"{p.relative_to(ROOT)}: {line}"
        for p in TEXTS
        for line in p.read_text().splitlines()
        if pattern.search(line) and p != Path(__file__)
    ]
    assert not found


MOST_NAMES_TESTED = 80
"""Comparisons of operators by name outside of the operator table and fission: algebra and the text of functions."""


def test_rooms_ask_the_operator_table():
    """Knowledge of operators stands beside them, as traits and relations (docs/add-a-primitive.md)."""
    comparison = re.compile(r"\.op (==|!=|in\b|not in\b)")
    elsewhere = [p for p in FILES if not p.is_relative_to(SOURCE / "ir" / "ops") and "fission" not in p.parts]
    found = [p for p in elsewhere for line in p.read_text().splitlines() if comparison.search(line)]
    assert len(found) <= MOST_NAMES_TESTED, sorted({str(p.relative_to(SOURCE)) for p in found})


def test_every_backend_file_is_found_by_scanning():
    usable = {e.name for e in entries() if e.backend and e.target == "cpu"}
    assert usable >= {"loops", "tiles", "onnxruntime"}, [e.reason for e in entries()]
    assert "onednn" in {e.name for e in entries()}
    assert len({e.name for e in entries()}) == len(entries())


def test_every_file_with_rules_is_found_by_scanning():
    written = {p.stem for p in (SOURCE / "fission").glob("*.py") if re.search(r"^@fission\(", p.read_text(), re.M)}
    assert {rule.fn.__module__.rpartition(".")[2] for rule in all_rules()} == written


def test_the_module_does_not_hide_the_function():
    from korch.optimize import optimized

    assert callable(korch.optimize) and korch.optimize.__module__ == optimized.__module__ == "korch.optimize"


def test_every_module_can_be_imported_without_assertions():
    """In a process of its own: what belongs to devices would be compiled there, not interpreted."""
    files = [p for p in FILES if p.stem not in ("__init__", "__main__")]
    modules = [".".join(p.relative_to(SOURCE.parent).with_suffix("").parts) for p in files]
    script = "import sys\nfor module in sys.argv[1:]: __import__(module)"
    done = subprocess.run([sys.executable, "-O", "-c", script, *modules], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_public_names_exist():
    for name in korch.__all__:
        assert getattr(korch, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'optimise'"):
        korch.optimise  # noqa: B018
