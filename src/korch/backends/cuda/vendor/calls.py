"""The calls by name: each gets torch, the tensors of a kernel's buffers and the attributes of its `Call`.

Where the tensors are decides who is asked: `device.py` for a GPU, `plain.py` for the host, where results are the same
but for the order of sums. Nothing here waits for the device or looks at data, so that calls can be recorded in a graph.
Temporary memory is torch's: record with torch's own graphs, in the thread that has run each call once before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import repeat
from typing import Any

from korch.backends.cuda.vendor.device import CudaLibraries
from korch.backends.cuda.vendor.plain import Plain
from korch.ir.primitive import Attrs


def product(torch: Any, tensors: Sequence[Any], attrs: Attrs) -> None:
    """out = activation(scale * a b + add); whatever is before the last three axes is one product after another."""
    given = dict(attrs)
    a, b, out, add = (_view(tensors, given[name]) for name in ("a", "b", "out", "add"))
    library = _library(torch, out, given["precision"])
    with library.settings():
        _each_product(library, a, b, out, add, given["scale"], given["activation"])


def convolution(torch: Any, tensors: Sequence[Any], attrs: Attrs) -> None:
    """out = conv(x, w), with a bias; with a Relu after it, a residual too."""
    given = dict(attrs)
    x, w, out, bias, residual = (_view(tensors, given[name]) for name in ("x", "w", "out", "bias", "residual"))
    library = _library(torch, out, given["precision"])
    with library.settings():
        if given["relu"]:
            library.convolve_relu(x, w, out, bias, residual, _window(given))
        else:
            library.convolve(x, w, out, bias, _window(given))


def transposed_convolution(torch: Any, tensors: Sequence[Any], attrs: Attrs) -> None:
    """out = transposed conv(x, w), with a bias."""
    given = dict(attrs)
    x, w, out, bias = (_view(tensors, given[name]) for name in ("x", "w", "out", "bias"))
    library = _library(torch, out, given["precision"])
    with library.settings():
        library.convolve_transposed(x, w, out, bias, _window(given))


def depthwise(torch: Any, tensors: Sequence[Any], attrs: Attrs) -> None:
    """out = conv(x, w) with a bias, by torch's own kernel, for groups of one channel."""
    given = dict(attrs)
    x, w, out, bias = (_view(tensors, given[name]) for name in ("x", "w", "out", "bias"))
    _library(torch, out, given["precision"]).depthwise(x, w, out, bias, _window(given))


def attention(torch: Any, tensors: Sequence[Any], attrs: Attrs) -> None:
    """out = softmax(scale * q k^T + mask) v."""
    given = dict(attrs)
    q, k, v, out, mask = (_view(tensors, given[name]) for name in ("q", "k", "v", "out", "mask"))
    library = _library(torch, out, given["precision"])
    library.attend(q, k, v, out, mask, given["scale"], given["implementation"])


CALLS: dict[str, Callable[[Any, Sequence[Any], Attrs], None]] = {
    f.__name__: f for f in (product, convolution, transposed_convolution, depthwise, attention)
}


def _library(torch: Any, out: Any, precision: str) -> CudaLibraries | Plain:
    return (CudaLibraries if out.is_cuda else Plain)(torch, precision)


def _view(tensors: Sequence[Any], spec: Any) -> Any:
    """The view that `spec` describes; None where there is none."""
    if spec is None:
        return None
    number, shape, strides, offset = spec
    return tensors[number].as_strided(shape, strides, tensors[number].storage_offset() + offset)


def _window(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("strides", "pads", "dilations", "extra", "group")}


def _each_product(
    library: CudaLibraries | Plain, a: Any, b: Any, out: Any, add: Any, scale: float, activation: str
) -> None:
    if out.dim() > 3:
        for parts in zip(a, b, out, repeat(None) if add is None else add, strict=False):
            _each_product(library, *parts, scale, activation)
    elif activation:
        library.multiply_activated(a, b, out, add, scale, activation)
    else:
        library.multiply(a, b, out, add, scale)
