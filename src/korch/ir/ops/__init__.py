"""The primitive operators: meaning (reference evaluation), shapes and ONNX form, one file a category.

In: inputs and attributes. Out: dtype, shape, values, ONNX nodes. Start with `table.py`.
"""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
