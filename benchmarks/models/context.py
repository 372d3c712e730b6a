"""context: residual 3x3 convolutions of growing dilation (Yu & Koltun, 2016), then three dilations side by side
(Chen et al., 2017), not tuned for."""

from __future__ import annotations

import torch
from torch import nn

from .workload import Workload, seeded

WIDTH, BRANCH, CLASSES = 128, 64, 19
DILATIONS = (1, 2, 4, 8, 4, 2)
SIDE_BY_SIDE = (6, 12, 18)


def conv(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, dilation: int = 1) -> nn.Sequential:
    """A convolution whose output is as large as the input, or half; BatchNorm and ReLU."""
    pad = dilation * (kernel // 2)
    layer = nn.Conv2d(inputs, outputs, kernel, stride, pad, dilation, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs), nn.ReLU())


class Context(nn.Module):
    """1x3x256x256 to the class maps 1x19x64x64."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 32, stride=2), conv(32, WIDTH, stride=2))
        self.blocks = nn.ModuleList(conv(WIDTH, WIDTH, dilation=d) for d in DILATIONS)
        self.branches = nn.ModuleList([conv(WIDTH, BRANCH, 1), *(conv(WIDTH, BRANCH, 3, 1, d) for d in SIDE_BY_SIDE)])
        self.join = conv(BRANCH * (1 + len(SIDE_BY_SIDE)), BRANCH, 1)
        self.classify = nn.Conv2d(BRANCH, CLASSES, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.classify(self.join(torch.cat([branch(x) for branch in self.branches], 1)))


def build() -> nn.Module:
    """The seeded network."""
    return seeded(Context(), seed=21)


WORKLOAD = Workload("context", build, (1, 3, 256, 256), gmacs=4.8)
