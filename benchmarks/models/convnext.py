"""convnext: 7x7 depthwise convolutions, norms over channels and wide linears (Liu et al., 2022), not tuned for."""

from __future__ import annotations

import torch
from torch import nn

from .workload import Workload, seeded

STAGES = ((48, 2), (96, 2), (192, 4), (384, 2))
"""Channels and blocks."""


class ChannelNorm(nn.LayerNorm):
    """A norm over the channels of every place of [n, c, h, w]."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return super().forward(input.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class Block(nn.Module):
    """x + scaled project(gelu(expand(norm(depthwise x)))), channels last behind the convolution."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(channels, channels, 7, padding=3, groups=channels)
        self.mix = nn.Sequential(
            nn.LayerNorm(channels), nn.Linear(channels, 4 * channels), nn.GELU(), nn.Linear(4 * channels, channels)
        )
        self.scale = nn.Parameter(torch.full((channels,), 0.2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + (self.scale * self.mix(self.depthwise(x).permute(0, 2, 3, 1))).permute(0, 3, 1, 2)


def build() -> nn.Module:
    """The seeded network: 1x3x224x224 to 1x1000."""
    layers: list[nn.Module] = []
    before = 3
    for channels, blocks in STAGES:
        step = 2 if layers else 4
        layers += [ChannelNorm(before)] if layers else []
        layers += [nn.Conv2d(before, channels, step, step), *(Block(channels) for _ in range(blocks))]
        before = channels
    return seeded(
        nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(before), nn.Linear(before, 1000)),
        seed=16,
    )


WORKLOAD = Workload("convnext", build, (1, 3, 224, 224), gmacs=0.66)
