"""candy: the fast neural style transfer network (Johnson et al., 2016), 224x224."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .workload import Workload, seeded


class PaddedConv(nn.Module):
    """Reflection pad, so that a stride of 1 keeps the size, then a convolution."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1) -> None:
        super().__init__()
        self.pad = nn.ReflectionPad2d(kernel // 2)
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.conv(self.pad(x))


class ConvNorm(nn.Module):
    """PaddedConv and an affine InstanceNorm, after a nearest 2x upsample where `upsample` says so."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, *, upsample: bool = False) -> None:
        super().__init__()
        self.upsample = upsample
        self.conv = PaddedConv(inputs, outputs, kernel, stride)
        self.norm = nn.InstanceNorm2d(outputs, affine=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.upsample:
            x = F.interpolate(x, scale_factor=2.0, mode="nearest")
        return self.norm(self.conv(x))


class Residual(nn.Module):
    """x + norm(conv(relu(norm(conv(x))))), no activation after the sum."""

    damping = 0.5

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = ConvNorm(channels, channels, 3)
        self.second = ConvNorm(channels, channels, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(torch.relu(self.first(x)))


def build() -> nn.Module:
    """The seeded network: 1x3x224x224 in, 1x3x224x224 out."""
    layers = [
        *(ConvNorm(3, 32, 9), nn.ReLU()),
        *(ConvNorm(32, 64, 3, stride=2), nn.ReLU()),
        *(ConvNorm(64, 128, 3, stride=2), nn.ReLU()),
        *(Residual(128) for _ in range(5)),
        *(ConvNorm(128, 64, 3, upsample=True), nn.ReLU()),
        *(ConvNorm(64, 32, 3, upsample=True), nn.ReLU()),
        PaddedConv(32, 3, 9),
    ]
    return seeded(nn.Sequential(*layers), seed=1)


WORKLOAD = Workload("candy", build, (1, 3, 224, 224), gmacs=7.7)
