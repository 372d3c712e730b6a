"""`python benchmarks/multiply_adds.py [NAMES]`: the multiply-adds and activation sizes of the workloads.

Counted while the model runs once in torch: convolutions, linears, matrix products and LSTMs; nothing else.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from models import Workload, workloads

aten = torch.ops.aten
_PRODUCTS = {aten.mm.default: 0, aten.bmm.default: 0, aten.addmm.default: 1, aten.baddbmm.default: 1}


class Counter(TorchDispatchMode):
    """Adds up multiply-adds under it; `largest` is the largest root mean square of a product's result."""

    macs = 0
    largest = 0.0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        macs = _multiply_adds(func, args, result)
        if macs:
            self.macs += macs
            first = result[0] if isinstance(result, tuple) else result
            self.largest = max(self.largest, float(first.square().mean().sqrt()))
        return result


def _multiply_adds(func: Any, args: Any, result: Any) -> int:
    if func is aten.convolution.default:
        return result.numel() * math.prod(args[1].shape[1:])
    if func in _PRODUCTS:
        return result.numel() * args[_PRODUCTS[func]].shape[-1]
    if func is aten.mkldnn_rnn_layer.default:  # one direction of one layer
        x, weights, recurrent = args[:3]
        return math.prod(x.shape[:2]) * (weights.numel() + recurrent.numel())
    return 0


def report(workload: Workload) -> str:
    """One line: the count, the table's figure, and how large activations and outputs are."""
    with torch.no_grad(), Counter() as counter:
        outputs = workload.build()(workload.inputs())
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    sizes = ", ".join(f"{tuple(y.shape)} rms {float(y.square().mean().sqrt()):.2f}" for y in outputs)
    figures = f"{counter.macs / 1e9:7.3f} G multiply-adds (expected {workload.gmacs})"
    return f"{workload.name:13s} {figures}, activations up to rms {counter.largest:.1f}, outputs {sizes}"


def main() -> None:
    """Prints a line for each workload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    known = workloads()
    for name in parser.parse_args().names or known:
        print(report(known[name]), flush=True)


if __name__ == "__main__":
    main()
