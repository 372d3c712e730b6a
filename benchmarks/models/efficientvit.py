"""efficientvit: a classifier like EfficientViT-B1, multi-scale linear attention (Cai et al., 2023), 2048x2048."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .workload import Workload, seeded

HEAD_WIDTH = 16
CLASSES = 1000


def conv(
    inputs: int, outputs: int, kernel: int, stride: int = 1, *, groups: int = 1, relu: bool = True
) -> nn.Sequential:
    """Convolution, BatchNorm, and ReLU unless told otherwise."""
    layers = [
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([nn.ReLU()] if relu else []))


class Residual(nn.Module):
    """x + body(x)."""

    damping = 0.3

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x)


def separable(channels: int) -> nn.Module:
    """3x3 depthwise, 1x1, residual."""
    depthwise = conv(channels, channels, 3, groups=channels)
    return Residual(nn.Sequential(depthwise, conv(channels, channels, 1, relu=False)))


def mbconv(inputs: int, outputs: int, stride: int = 1) -> nn.Module:
    """1x1 to four times the inputs, 5x5 depthwise, 1x1 back; residual where the shape stays."""
    hidden = 4 * inputs
    body = nn.Sequential(
        conv(inputs, hidden, 1),
        conv(hidden, hidden, 5, stride, groups=hidden),
        conv(hidden, outputs, 1, relu=False),
    )
    return Residual(body) if stride == 1 and inputs == outputs else body


class LinearAttention(nn.Module):
    """ReLU linear attention on two scales: the row sum of the weights is an extra column of ones in v."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        total = 3 * channels
        self.qkv = nn.Conv2d(channels, total, 1, bias=False)
        self.scale = nn.Sequential(
            nn.Conv2d(total, total, 5, padding=2, groups=total, bias=False),
            nn.Conv2d(total, total, 1, groups=total // HEAD_WIDTH, bias=False),
        )
        self.project = conv(2 * channels, channels, 1, relu=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, _, height, width = x.shape
        qkv = self.qkv(x)
        qkv = torch.cat([qkv, self.scale(qkv)], 1)
        qkv = qkv.reshape(batch, -1, 3 * HEAD_WIDTH, height * width).transpose(-1, -2)
        q, k, v = qkv[..., :HEAD_WIDTH], qkv[..., HEAD_WIDTH : 2 * HEAD_WIDTH], qkv[..., 2 * HEAD_WIDTH :]
        q, k, v = torch.relu(q), torch.relu(k), F.pad(v, (0, 1), value=1.0)
        o = torch.matmul(q, torch.matmul(k.transpose(-1, -2), v))
        o = o[..., :-1] / (o[..., -1:] + 1e-15)
        return self.project(o.transpose(-1, -2).reshape(batch, -1, height, width))


def attention_stage(inputs: int, outputs: int, blocks: int) -> list[nn.Module]:
    """A strided MBConv, then `blocks` times linear attention and MBConv."""
    layers = [mbconv(inputs, outputs, 2)]
    for _ in range(blocks):
        layers += [Residual(LinearAttention(outputs)), mbconv(outputs, outputs)]
    return layers


def build() -> nn.Module:
    """The seeded network: 1x3x2048x2048 in, 1x1000 out."""
    layers = [
        *(conv(3, 16, 3, 2), separable(16)),
        *(mbconv(16, 24, 2), mbconv(24, 24)),
        *(mbconv(24, 48, 2), mbconv(48, 48), mbconv(48, 48)),
        *attention_stage(48, 96, 5),
        *attention_stage(96, 192, 2),
        *(conv(192, 1152, 1), nn.AdaptiveAvgPool2d(1)),
        *(nn.Conv2d(1152, 1280, 1), nn.ReLU(), nn.Flatten(), nn.Linear(1280, CLASSES)),
    ]
    return seeded(nn.Sequential(*layers), seed=5, gain=1.15)


WORKLOAD = Workload("efficientvit", build, (1, 3, 2048, 2048), gmacs=28.0, exporter="dynamo")
