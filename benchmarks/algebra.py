"""`python benchmarks/algebra.py MODEL.onnx...`: multiply-adds as written, and the fewest that the algebra allows.

A line a model: primitives and multiply-adds as written, what the rules derive, what is kept, and the choice-free
selection of that with the fewest multiply-adds; seconds for it all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from pathlib import Path

from korch.fission import fission
from korch.fission.importer import read
from korch.ir import Primitive
from korch.ir.macs import multiply_adds
from korch.rewrite.extract import cheapest
from korch.rewrite.saturate import all_algebra, kept, saturated

BARELY = 1e-3
"""What a primitive without multiply-adds costs, so that none is taken for nothing."""


def report(path: Path) -> str:
    """The line of one model."""
    plain = fission(read(path))
    start = time.perf_counter()
    full = saturated(plain, all_algebra())
    graph = kept(plain, full)
    best = cheapest(graph, plain, lambda p: multiply_adds(p) + BARELY)
    seconds = time.perf_counter() - start
    sizes = f"{len(plain.primitives)} -> {len(full.primitives)} derived, {len(graph.primitives)} kept"
    macs = f"{_giga(plain.primitives)} -> {_giga(best.primitives)} G multiply-adds"
    return f"{path.stem:13s} {macs}; primitives {sizes}; {seconds:.1f} s"


def _giga(primitives: Iterable[Primitive]) -> str:
    return f"{sum(map(multiply_adds, primitives)) / 1e9:.3f}"


def main() -> None:
    """Prints a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    for path in parser.parse_args().models:
        print(report(path), flush=True)


if __name__ == "__main__":
    main()
