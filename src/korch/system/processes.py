"""What the processes that this one starts are given."""

from __future__ import annotations

import os
import sys


def plain_environment(**changes: str) -> dict[str, str]:
    """This process's variables, with `changes`, and its imports: a child takes nothing from the working directory that
    this process would not. Changes that are empty take a variable away."""
    paths = os.pathsep.join(p or os.getcwd() for p in sys.path)
    own = {"PYTHONPATH": paths, "PYTHONSAFEPATH": "1"}
    return {k: v for k, v in {**os.environ, **changes, **own}.items() if v or k not in changes}
