"""resnet: bottlenecks of 1x1, 3x3 and 1x1 convolutions with shortcuts, 50 layers (He et al., 2015), not tuned for."""

from __future__ import annotations

import torch
from torch import nn

from .workload import Workload, seeded

STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))
"""Inner channels, blocks, stride of the first."""
WIDER = 4


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Convolution and BatchNorm."""
    return nn.Sequential(nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(outputs))


class Bottleneck(nn.Module):
    """relu(shortcut x + project(relu(conv(relu(reduce x)))))."""

    damping = 0.5

    def __init__(self, inputs: int, inner: int, stride: int) -> None:
        super().__init__()
        outputs = WIDER * inner
        self.shortcut = nn.Identity() if inputs == outputs and stride == 1 else conv(inputs, outputs, 1, stride)
        self.body = nn.Sequential(
            conv(inputs, inner, 1), nn.ReLU(), conv(inner, inner, 3, stride), nn.ReLU(), conv(inner, outputs, 1)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.shortcut(x) + self.body(x))


def build() -> nn.Module:
    """The seeded network: 1x3x224x224 to 1x1000."""
    layers: list[nn.Module] = [conv(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    channels = 64
    for inner, blocks, stride in STAGES:
        for k in range(blocks):
            layers.append(Bottleneck(channels, inner, 1 if k else stride))
            channels = WIDER * inner
    return seeded(nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000)), seed=15)


WORKLOAD = Workload("resnet", build, (1, 3, 224, 224), gmacs=4.09)
