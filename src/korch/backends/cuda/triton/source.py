"""Texts of kernels become Python functions that Triton can compile or interpret."""

from __future__ import annotations

import hashlib
import linecache
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from korch.errors import BackendError

HEAD = "import triton\nimport triton.language as tl\n"
MODULES = {"libdevice": "triton.language.extra.libdevice", "folds": "korch.backends.cuda.triton.folds"}
"""What texts may call besides `tl`: the device's library of functions, and folds of our own."""


def python_functions(source: str, host: Mapping[str, object] | None = None) -> dict[str, Any]:
    """The functions that `source` defines, plain ones: their text is where `inspect` finds it, in no file.

    What `host` has stands in for `MODULES` of the same name.
    """
    text = HEAD + source
    name = f"<korch {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "korch_kernel", "__file__": name, **(host or {})}
    try:
        scope |= {known: import_module(module) for known, module in MODULES.items() if known not in scope}
        exec(compile(text, name, "exec"), scope)  # our own generator's text, or an archive's that passed its digest
    except ImportError as e:
        raise BackendError(f"Triton is not installed ({e}): pip install 'korch[cuda]'") from None
    return {n: f for n, f in scope.items() if callable(f) and getattr(f, "__module__", "") == "korch_kernel"}
