"""The code of the README, of the pages in docs/ and of docstrings runs; links lead somewhere."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

from korch.cli.main import commands

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLES = [p for p in sorted((ROOT / "src").rglob("*.py")) if re.search(r"^ +>>> ", p.read_text(), re.M)]
"""Modules whose docstrings have examples."""
LINK = re.compile(r"\[[^]]*\]\(([^)#:]+)\)")


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
    assert with_code >= {"add-a-fission-rule", "add-a-rewrite", "add-a-backend", "add-a-kernel-form"}


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


def test_code_in_the_readme(small_model: Path, small_archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "model.onnx").write_bytes(small_model.read_bytes())
    monkeypatch.chdir(tmp_path)
    assert run_code(ROOT / "README.md") >= 2
    assert (tmp_path / "exported" / "libmodel.so").is_file()


def test_the_readme_names_every_command():
    text = (ROOT / "README.md").read_text()
    assert all(f"| `korch {name}" in text for name in commands())


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES, *ROOT.glob("*/README.md")], ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path):
    assert not [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
