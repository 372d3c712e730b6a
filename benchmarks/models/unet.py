"""unet: four levels of 3x3 convolutions, down by pooling, up by transposed convolution (Ronneberger et al., 2015),
not tuned for."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from .workload import Workload, seeded

WIDTHS = (32, 64, 128, 256)
CLASSES = 2


def twice(inputs: int, outputs: int) -> nn.Sequential:
    """Two convolutions, each with BatchNorm and ReLU."""
    layers: list[nn.Module] = []
    for n in (inputs, outputs):
        layers += [nn.Conv2d(n, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """1x3x256x256 to the class maps 1x2x256x256."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.ModuleList(twice(a, b) for a, b in zip((3, *WIDTHS), WIDTHS))
        self.grow = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in pairwise(WIDTHS))
        self.up = nn.ModuleList(twice(2 * a, a) for a in WIDTHS[:-1])
        self.pool, self.classify = nn.MaxPool2d(2), nn.Conv2d(WIDTHS[0], CLASSES, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = list[torch.Tensor]()
        for i, block in enumerate(self.down):
            x = block(self.pool(x) if i else x)
            levels.append(x)
        for fine, grow, block in reversed(list(zip(levels[:-1], self.grow, self.up))):
            x = block(torch.cat([fine, grow(x)], 1))
        return self.classify(x)


def build() -> nn.Module:
    """The seeded network."""
    return seeded(UNet(), seed=13)


WORKLOAD = Workload("unet", build, (1, 3, 256, 256), gmacs=9.1)
