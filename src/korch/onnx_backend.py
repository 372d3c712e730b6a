"""The functions that onnx expects of a module that is a backend: `prepare`, `run_model`, `run_node`, `supports_device`.

The suite that the installed onnx brings runs by `python benchmarks/conformance.py`.
"""

from __future__ import annotations

from korch.integrations.onnx_backend import KorchBackend as KorchBackend

prepare = KorchBackend.prepare
run_model = KorchBackend.run_model
run_node = KorchBackend.run_node
supports_device = KorchBackend.supports_device
is_compatible = KorchBackend.is_compatible
