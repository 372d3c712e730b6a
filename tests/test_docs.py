"""The code of the README, of the pages in docs/ and of docstrings runs; links lead somewhere."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from korch.cli.main import commands

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [p for p in sorted((ROOT / "src").rglob("*.py")) if re.search(r"^ +>>> ", p.read_text(), re.M)]
"""Modules whose docstrings have examples."""
LINK = re.compile(r"\[[^]]*\]\(([^)#:]+)(?:#[^)]*)?\)")
SECTION_LINK = re.compile(r"\[[^]]*\]\(([^)#:]*)#([^)]*)\)")
FOLDERS = ("src", "tests", "benchmarks", "examples")
FILE = re.compile(r"`([\w/.-]+\.(?:py|c|h))`")
MOST_WORDS = 900
"""Of a page, as `wc -w` counts them: five minutes of reading."""
SPEEDUPS = re.compile(r"^\| [\w-]+, two threads \|.*", re.MULTILINE)
ALL_PAGES = [ROOT / "README.md", *PAGES]


def run_code(page: Path) -> int:
    """Runs the page's Python in one namespace, as a reader would; how many pieces there were."""
    text = page.read_text()
    names: dict[str, object] = {"__name__": page.stem}
    for found in CODE.finditer(text):
        line = text[: found.start()].count("\n") + 1
        exec(compile("\n" * line + found[1], str(page), "exec"), names)
    return len(CODE.findall(text))


def test_pages_that_say_how_to_add_something_have_code():
    with_code = {p.stem for p in PAGES if CODE.search(p.read_text())}
    pages = {"fission-rule", "primitive", "rewrite", "backend", "kernel-form"}
    assert with_code >= {f"add-a-{page}" for page in pages}


@pytest.mark.parametrize("page", [p for p in PAGES if CODE.search(p.read_text())], ids=lambda p: p.stem)
def test_code_in_docs(page: Path):
    assert run_code(page)


def test_ir_and_solve_show_examples():
    assert {p.parent.name for p in EXAMPLES} >= {"ir", "solve"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: f"{p.parent.name}.{p.stem}")
def test_examples_in_docstrings(path: Path):
    module = import_module(".".join(path.relative_to(ROOT / "src").with_suffix("").parts))
    failed, tried = doctest.testmod(module)
    assert tried and not failed


TRIU_RULE = """
from korch.fission.rule import fission

@fission("Triu", domain="com.example")
def triu(b, x, *, k=0):
    return b.op("Triu", x, k=k)
"""
USES_TRIU = """
import onnx.parser
from korch import optimize
from korch.report.explain import explain
import numpy as np

model = onnx.parser.parse_model('''
<ir_version: 8, opset_import: ["": 17, "com.example": 1]>
masked (float[3,40,70] x) => (float[3,40,70] y) { e = Exp(x)  t = com.example.Triu<k = -2>(e)  y = Neg(t) }
''')
if __name__ == "__main__":
    x = np.random.default_rng(0).standard_normal((3, 40, 70)).astype(np.float32)
    with optimize(model, threads=1, time_budget=5) as program:
        np.testing.assert_allclose(program.run({"x": x})["y"], -np.triu(np.exp(x), -2), rtol=1e-5)
        explanation = explain(program)
    assert explanation.accuracy.passed
    assert [k.backend for k in explanation.kernels] == ["loops"], explanation
    print(explanation)
"""
"""A model with the primitive of docs/add-a-primitive.md between two others."""


def test_a_primitive_is_one_file(tmp_path: Path):
    """That page's first piece of code, put where it says, is all that the pipeline needs beside an operator's rule."""
    first = CODE.search((ROOT / "docs" / "add-a-primitive.md").read_text())
    assert first
    shutil.copytree(ROOT / "src" / "korch", tmp_path / "korch", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "korch" / "ir" / "ops" / "triu.py").write_text(first[1])
    (tmp_path / "korch" / "fission" / "triu.py").write_text(TRIU_RULE)
    (tmp_path / "use.py").write_text(USES_TRIU)
    environment = os.environ | {"PYTHONPATH": str(tmp_path), "KORCH_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "use.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "triu(" in done.stdout


def test_code_in_the_readme(small_model: Path, small_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "model.onnx").write_bytes(small_model.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert run_code(ROOT / "README.md") >= 2
    assert (tmp_path / "exported" / "libmodel.so").is_file()


@pytest.mark.parametrize("page", ["README.md", "docs/use.md"])
def test_the_readme_and_the_manual_name_every_command(page: str):
    text = (ROOT / page).read_text()
    assert all(f"`korch {name} " in text for name in commands())


def test_the_speedups_of_the_readme_were_measured():
    rows = SPEEDUPS.findall((ROOT / "README.md").read_text())
    assert rows and rows == SPEEDUPS.findall((ROOT / "benchmarks" / "RESULTS.md").read_text())


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda p: p.name)
def test_a_page_is_read_in_minutes(page: Path):
    assert len(page.read_text().split()) <= MOST_WORDS


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda p: p.name)
def test_files_that_pages_name_exist(page: Path):
    files = [f"/{p.relative_to(ROOT)}" for folder in FOLDERS for p in (ROOT / folder).rglob("*")]
    named = set(FILE.findall(page.read_text())) - {"src/korch/ir/ops/triu.py"}  # the file that a reader adds
    assert not [name for name in named if not any(f.endswith(f"/{name}") for f in files)]


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES, *ROOT.glob("*/README.md")], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path):
    assert not [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]


def anchors(page: Path) -> set[str]:
    """The sections of a page as links name them."""
    titles = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda p: p.name)
def test_links_lead_to_sections(page: Path):
    links = SECTION_LINK.findall(page.read_text())
    assert not [(to, section) for to, section in links if section not in anchors(page.parent / to if to else page)]
