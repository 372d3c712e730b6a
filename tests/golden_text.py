"""Text is compared with the files below `tests/golden`; `--update-golden` writes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"
MOST_LINES = 40
"""Lines of a difference that a report shows."""
UPDATE = "update it: python -m pytest {test} --update-golden; then read the difference in Git"

Golden = Callable[[str, str], None]
"""Takes the name of a file below `tests/golden` and the text that it should hold."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the files below tests/golden")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Fails where a file differs from a text; with `--update-golden` it writes the file."""
    if request.config.getoption("update_golden"):
        return write
    test = request.path.relative_to(request.config.rootpath)
    return lambda name, text: compare(name, text, UPDATE.format(test=test))


def write(name: str, text: str) -> None:
    (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text(text)


def compare(name: str, text: str, advice: str) -> None:
    """Fails where the file `name` is missing or holds another text."""
    if not (FOLDER / name).is_file():
        pytest.fail(f"tests/golden/{name} is missing; {advice}", pytrace=False)
    expected = (FOLDER / name).read_text()
    if expected != text:
        pytest.fail(f"{difference(name, expected, text)}\n{advice}", pytrace=False)


def difference(name: str, expected: str, text: str) -> str:
    """A unified diff from the file to the text, cut after some lines."""
    lines = unified_diff(expected.splitlines(), text.splitlines(), f"tests/golden/{name}", "generated", lineterm="")
    shown = [*islice(lines, MOST_LINES)]
    left = sum(1 for _ in lines)
    return "\n".join([*shown, *([f"... {left} more lines"] if left else [])])


def unused(names: Iterable[str]) -> list[str]:
    """The files below `tests/golden` that are not among `names`."""
    found = {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*") if p.is_file()}
    return sorted(found - set(names))
