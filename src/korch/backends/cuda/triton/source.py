"""Texts of kernels become Python functions that Triton can compile or interpret."""

from __future__ import annotations

import hashlib
import linecache
from importlib import import_module
from typing import Any

from korch.errors import BackendError

HEAD = "import triton\nimport triton.language as tl\n"


def python_functions(source: str, libdevice: object = None) -> dict[str, Any]:
    """The functions that `source` defines, plain ones: their text is where `inspect` finds it, in no file.

    `libdevice` stands in for the device's library of functions.
    """
    text = HEAD + source
    name = f"<korch {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    scope: dict[str, Any] = {"__name__": "korch_kernel", "__file__": name}
    try:
        scope["libdevice"] = libdevice or import_module("triton.language.extra.libdevice")
        exec(compile(text, name, "exec"), scope)  # our own generator's text, or an archive's that passed its digest
    except ImportError as e:
        raise BackendError(f"Triton is not installed ({e}): pip install 'korch[cuda]'") from None
    return {n: f for n, f in scope.items() if callable(f) and getattr(f, "__module__", "") == "korch_kernel"}
