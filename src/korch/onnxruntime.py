"""onnxruntime with Korch's `InferenceSession`: `import korch.onnxruntime as onnxruntime`.

All other names are onnxruntime's own. A program whose source must stay as it is gets Korch's session by `install`,
called before anything imports onnxruntime's, or by `python -m korch.onnxruntime program.py arguments`.
"""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from korch.errors import Error
from korch.integrations.session import InferenceSession as InferenceSession
from korch.system.sessions import inference_session

_theirs = import_module("onnxruntime")
globals().update({name: getattr(_theirs, name) for name in dir(_theirs) if name not in globals()})


def install(**defaults: Any) -> None:
    """Puts Korch's session in the place of onnxruntime's in this process, for whoever imports it from now on.

    `defaults`: Korch's own arguments for each session (`tune`, `time_budget`, `threads`, `numerics`, `cache`,
    `max_specialisations`). Sessions that exist stay as they are.
    """
    kind = type("InferenceSession", (InferenceSession,), {"defaults": defaults, "__module__": __name__})
    setattr(_theirs, "InferenceSession", kind)  # noqa: B010


def uninstall() -> None:
    """Takes `install` back."""
    setattr(_theirs, "InferenceSession", inference_session())  # noqa: B010


def main(arguments: Sequence[str]) -> None:
    """Runs a Python program with Korch's session in the place of onnxruntime's."""
    if not arguments:
        raise Error("give a program: python -m korch.onnxruntime program.py [arguments], or -m module [arguments]")
    install()
    module = arguments[0] == "-m" and len(arguments) > 1
    sys.argv = list(arguments[1:] if module else arguments)
    if module:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
