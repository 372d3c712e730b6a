"""mobilenet: inverted residuals with squeeze-and-excitation and HardSwish (Howard et al., 2019), not tuned for."""

from __future__ import annotations

import torch
from torch import nn

from .workload import Workload, seeded

# kernel, expanded channels, channels, squeeze, activation, stride
ROWS = (
    (3, 16, 16, True, nn.ReLU, 2),
    (3, 72, 24, False, nn.ReLU, 2),
    (3, 88, 24, False, nn.ReLU, 1),
    (5, 96, 40, True, nn.Hardswish, 2),
    (5, 240, 40, True, nn.Hardswish, 1),
    (5, 240, 40, True, nn.Hardswish, 1),
    (5, 120, 48, True, nn.Hardswish, 1),
    (5, 144, 48, True, nn.Hardswish, 1),
    (5, 288, 96, True, nn.Hardswish, 2),
    (5, 576, 96, True, nn.Hardswish, 1),
    (5, 576, 96, True, nn.Hardswish, 1),
)
CLASSES = 1000


def conv(inputs: int, outputs: int, kernel: int, stride: int, groups: int, act: type[nn.Module]) -> nn.Sequential:
    """Convolution, BatchNorm, activation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        act(),
    )


class Squeeze(nn.Module):
    """Every channel scaled by what two small layers make of all channels' means."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        few = max(channels // 4, 8)
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1),
            nn.Conv2d(channels, few, 1),
            nn.ReLU(),
            nn.Conv2d(few, channels, 1),
            nn.Hardsigmoid(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.gate(x)


class Inverted(nn.Module):
    """Expand, depthwise, squeeze, project; plus x where the shape stays."""

    damping = 0.7

    def __init__(self, inputs: int, row: tuple[int, int, int, bool, type[nn.Module], int]) -> None:
        super().__init__()
        kernel, wide, outputs, squeeze, act, stride = row
        self.shortcut = stride == 1 and inputs == outputs
        self.body = nn.Sequential(
            conv(inputs, wide, 1, 1, 1, act),
            conv(wide, wide, kernel, stride, wide, act),
            Squeeze(wide) if squeeze else nn.Identity(),
            conv(wide, outputs, 1, 1, 1, nn.Identity),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.body(x)
        return x + y if self.shortcut else y


def build() -> nn.Module:
    """The seeded network: 1x3x224x224 to 1x1000."""
    widths = (16, *(row[2] for row in ROWS))
    body = [Inverted(inputs, row) for inputs, row in zip(widths, ROWS)]
    last = ROWS[-1][2]
    head = [
        conv(last, 6 * last, 1, 1, 1, nn.Hardswish),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(6 * last, 1024),
        nn.Hardswish(),
        nn.Linear(1024, CLASSES),
    ]
    return seeded(nn.Sequential(conv(3, 16, 3, 2, 1, nn.Hardswish), *body, *head), seed=12)


WORKLOAD = Workload("mobilenet", build, (1, 3, 224, 224), gmacs=0.06, free=((0, "batch"),))
