"""What a workload is, and how its weights are drawn."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import nn

_LINEAR = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ConvTranspose2d, nn.Linear)
_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d)
_NORMS = (*_BATCH_NORMS, nn.InstanceNorm2d, nn.LayerNorm)


@dataclass(frozen=True)
class Workload:
    """One model with its input.

    `build` returns a fresh module in eval mode, with the same weights each time. `exporter` is the form of
    torch's ONNX export that leaves the file raw. `gmacs` are the multiply-adds of one run, in 1e9. `free`: axes of the
    input that may have other lengths, with their names.
    """

    name: str
    build: Callable[[], nn.Module]
    shape: tuple[int, ...]
    gmacs: float
    exporter: Literal["torchscript", "dynamo"] = "torchscript"
    outputs: tuple[str, ...] = ("output",)
    free: tuple[tuple[int, str], ...] = ()

    def inputs(self, seed: int = 0) -> torch.Tensor:
        """Standard normal float32 numbers in the input's shape."""
        return torch.randn(self.shape, generator=torch.Generator().manual_seed(seed))


def seeded(model: nn.Module, seed: int, *, gain: float = math.sqrt(2.0)) -> nn.Module:
    """`model` in eval mode, every parameter and statistic redrawn from `seed`, gradients off.

    Conv and Linear get Kaiming-normal weights (standard deviation `gain` / sqrt(fan in); sqrt(2) keeps the
    size through a ReLU, 1 where there is none), norms a scale near 1 and a shift near 0, LSTMs what torch
    gives them. A module that has an attribute `damping` has the weight of its last Conv, Linear or norm
    multiplied by it: residual branches use that, or activations would grow with depth.
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in model.modules():
            _draw(module, gain, generator)
        for module in model.modules():
            _damp(module)
    return model.eval().requires_grad_(False)


def _draw(module: nn.Module, gain: float, generator: torch.Generator) -> None:
    if isinstance(module, _LINEAR):
        nn.init.kaiming_normal_(module.weight, nonlinearity="linear", generator=generator)
        module.weight.mul_(gain)
        if module.bias is not None:
            module.bias.normal_(0.0, 0.1, generator=generator)
    elif isinstance(module, nn.LSTM):
        most = 1 / math.sqrt(module.hidden_size)
        for parameter in module.parameters():
            parameter.uniform_(-most, most, generator=generator)
    elif isinstance(module, _NORMS) and module.weight is not None:
        module.weight.normal_(1.0, 0.1, generator=generator)
        module.bias.normal_(0.0, 0.1, generator=generator)
    if isinstance(module, _BATCH_NORMS):
        module.running_mean.normal_(0.0, 0.1, generator=generator)
        module.running_var.uniform_(0.9, 1.1, generator=generator)


def _damp(module: nn.Module) -> None:
    damping = getattr(module, "damping", None)
    if damping is None:
        return
    scaled = [part for part in module.modules() if isinstance(part, _LINEAR + _NORMS)]
    scaled[-1].weight.mul_(damping)
