"""The page of results: the workloads in their order, and tables between marks."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
WORKLOADS = ("candy", "yolov4", "yolox_nano", "segformer", "efficientvit")


def markdown(rows: Iterable[list[str]]) -> str:
    """A table; the first row is its head."""
    head, *rest = rows
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rest])


def put(mark: str, table: str) -> None:
    """Replaces what RESULTS.md has between `mark: begin` and `mark: end`."""
    begin, end = f"<!-- {mark}: begin -->", f"<!-- {mark}: end -->"
    file = HERE / "RESULTS.md"
    before, found, rest = file.read_text().partition(begin)
    if not found:
        raise SystemExit(f"RESULTS.md has no place for the table '{mark}': add {begin} and {end} to it")
    file.write_text(f"{before}{begin}\n{table}\n{end}{rest.split(end)[1]}")
