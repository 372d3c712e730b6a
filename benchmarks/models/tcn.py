"""tcn: a mask over a waveform by dilated depthwise convolutions over time (Luo and Mesgarani, 2019), not tuned for."""

from __future__ import annotations

import torch
from torch import nn

from .workload import Workload, seeded

CHANNELS, HIDDEN, REPEATS, DEPTH = 128, 256, 2, 6


class Block(nn.Module):
    """x + expand, depthwise over so many steps of `dilation`, project; PReLU and BatchNorm behind the first two."""

    damping = 0.3

    def __init__(self, dilation: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(CHANNELS, HIDDEN, 1),
            nn.PReLU(),
            nn.BatchNorm1d(HIDDEN),
            nn.Conv1d(HIDDEN, HIDDEN, 3, padding=dilation, dilation=dilation, groups=HIDDEN),
            nn.PReLU(),
            nn.BatchNorm1d(HIDDEN),
            nn.Conv1d(HIDDEN, CHANNELS, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


class Masked(nn.Module):
    """The waveform in frames, times what the blocks say of them."""

    def __init__(self) -> None:
        super().__init__()
        self.frames = nn.Conv1d(1, CHANNELS, 16, 8, 4, bias=False)
        self.blocks = nn.Sequential(*(Block(2**k) for _ in range(REPEATS) for k in range(DEPTH)))
        self.mask = nn.Conv1d(CHANNELS, CHANNELS, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        frames = torch.relu(self.frames(x))
        return frames * torch.sigmoid(self.mask(self.blocks(frames)))


def build() -> nn.Module:
    """The seeded network: 1x1x16000 to 1x128x2000."""
    return seeded(Masked(), seed=14, gain=1.0)


WORKLOAD = Workload("tcn", build, (1, 1, 16000), gmacs=1.63)
