"""tiny: one small network with a bit of everything the five workloads are made of, 64x64.

Its export is `examples/tiny.onnx`, small enough to live in the repository: the README and the tests use it.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .workload import Workload, seeded

WIDTH = 32
CLASSES = 10


class Stem(nn.Module):
    """Reflection pad, strided 3x3 convolution, InstanceNorm, ReLU."""

    def __init__(self) -> None:
        super().__init__()
        self.pad = nn.ReflectionPad2d(1)
        self.conv = nn.Conv2d(3, WIDTH // 2, 3, 2)
        self.norm = nn.InstanceNorm2d(WIDTH // 2, affine=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.norm(self.conv(self.pad(x))))


class Mish(nn.Module):
    """x * tanh(softplus(x))."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.tanh(F.softplus(x))


def conv(inputs: int, outputs: int, kernel: int, stride: int, groups: int, act: nn.Module) -> nn.Sequential:
    """Convolution, BatchNorm, activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        act,
    )


class Attention(nn.Module):
    """x + softmax attention over the 16x16 positions, two heads, behind a LayerNorm."""

    damping = 0.5

    def __init__(self, heads: int = 2) -> None:
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, channels, height, width = x.shape
        tokens = self.norm(x.flatten(2).transpose(1, 2))
        split = self.qkv(tokens).reshape(batch, -1, 3, self.heads, channels // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(q, k.transpose(-1, -2)) * (channels // self.heads) ** -0.5
        mixed = torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(batch, -1, channels)
        return x + self.project(mixed).transpose(1, 2).reshape(batch, channels, height, width)


class Tiny(nn.Module):
    """1x3x64x64 to the class maps 1x10x32x32."""

    def __init__(self) -> None:
        super().__init__()
        half = WIDTH // 2
        self.stem = Stem()
        self.depthwise = conv(half, half, 5, 2, half, nn.SiLU())
        self.widen = conv(half, WIDTH, 1, 1, 1, Mish())
        self.attention = Attention()
        self.merge = conv(WIDTH + half, WIDTH, 3, 1, 1, nn.SiLU())
        self.classify = nn.Conv2d(WIDTH, CLASSES, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fine = self.stem(x)
        coarse = self.attention(self.widen(self.depthwise(fine)))
        up = F.interpolate(coarse, scale_factor=2.0, mode="nearest")
        return self.classify(self.merge(torch.cat([up, fine], 1)))


def build() -> nn.Module:
    """The seeded network."""
    return seeded(Tiny(), seed=6)


WORKLOAD = Workload("tiny", build, (1, 3, 64, 64), gmacs=0.02)
