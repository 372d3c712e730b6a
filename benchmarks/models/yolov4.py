"""yolov4: CSPDarknet53, SPP, PANet and three raw heads (Bochkovskiy et al., 2020), 416x416."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .workload import Workload, seeded

CLASSES = 80
HEAD = 3 * (5 + CLASSES)


class Mish(nn.Module):
    """x * tanh(softplus(x)), written out: exporters of that time had no Mish operator."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.tanh(F.softplus(x))


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1, *, mish: bool = False) -> nn.Sequential:
    """Convolution, BatchNorm, then Mish in the backbone or LeakyReLU(0.1) behind it."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
        Mish() if mish else nn.LeakyReLU(0.1),
    )


class Residual(nn.Module):
    """x + conv3x3(conv1x1(x))."""

    damping = 0.25

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.first = conv(channels, hidden, 1, mish=True)
        self.second = conv(hidden, channels, 3, mish=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.second(self.first(x))


class Stage(nn.Module):
    """A cross-stage-partial stage: downsample, two branches, residual blocks on one of them, concat.

    The first stage of the network keeps the branches at full width (`width == outputs`).
    """

    def __init__(self, inputs: int, outputs: int, width: int, blocks: int) -> None:
        super().__init__()
        hidden = width if width < outputs else width // 2
        self.down = conv(inputs, outputs, 3, 2, mish=True)
        self.bypass = conv(outputs, width, 1, mish=True)
        self.enter = conv(outputs, width, 1, mish=True)
        self.blocks = nn.Sequential(*(Residual(width, hidden) for _ in range(blocks)))
        self.leave = conv(width, width, 1, mish=True)
        self.merge = conv(2 * width, outputs, 1, mish=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.down(x)
        deep = self.leave(self.blocks(self.enter(x)))
        return self.merge(torch.cat([deep, self.bypass(x)], 1))


class Backbone(nn.Module):
    """CSPDarknet53: the features at strides 8, 16 and 32."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = conv(3, 32, 3, mish=True)
        self.low = nn.Sequential(Stage(32, 64, 64, 1), Stage(64, 128, 64, 2), Stage(128, 256, 128, 8))
        self.mid = Stage(256, 512, 256, 8)
        self.high = Stage(512, 1024, 512, 4)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        low = self.low(self.stem(x))
        mid = self.mid(low)
        return low, mid, self.high(mid)


def alternating(inputs: int, narrow: int, count: int) -> nn.Sequential:
    """`count` convolutions, 1x1 to `narrow` and 3x3 to twice that in turn."""
    layers: list[nn.Module] = []
    for index in range(count):
        outputs, kernel = (narrow, 1) if index % 2 == 0 else (2 * narrow, 3)
        layers.append(conv(inputs, outputs, kernel))
        inputs = outputs
    return nn.Sequential(*layers)


class Pyramid(nn.Module):
    """Spatial pyramid pooling: the maxima over 5x5, 9x9 and 13x13 beside the input."""

    def __init__(self) -> None:
        super().__init__()
        self.pools = nn.ModuleList(nn.MaxPool2d(size, 1, size // 2) for size in (13, 9, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([*(pool(x) for pool in self.pools), x], 1)


class Lift(nn.Module):
    """The top-down step of PANet: upsample the coarse level, join the finer one, five convolutions."""

    def __init__(self, coarse: int, fine: int, width: int) -> None:
        super().__init__()
        self.narrow = conv(coarse, width, 1)
        self.lateral = conv(fine, width, 1)
        self.merge = alternating(2 * width, width, 5)

    def forward(self, coarse: torch.Tensor, fine: torch.Tensor) -> torch.Tensor:
        up = F.interpolate(self.narrow(coarse), scale_factor=2.0, mode="nearest")
        return self.merge(torch.cat([self.lateral(fine), up], 1))


class Sink(nn.Module):
    """The bottom-up step of PANet: downsample the fine level, join the coarser one, five convolutions."""

    def __init__(self, fine: int, width: int) -> None:
        super().__init__()
        self.down = conv(fine, width, 3, 2)
        self.merge = alternating(2 * width, width, 5)

    def forward(self, fine: torch.Tensor, coarse: torch.Tensor) -> torch.Tensor:
        return self.merge(torch.cat([self.down(fine), coarse], 1))


def head(width: int) -> nn.Sequential:
    """Raw predictions: 3 anchors of 4 coordinates, 1 objectness and the classes."""
    return nn.Sequential(conv(width, 2 * width, 3), nn.Conv2d(2 * width, HEAD, 1))


class YoloV4(nn.Module):
    """1x3x416x416 to the raw maps 1x255x52x52, 1x255x26x26 and 1x255x13x13."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone = Backbone()
        self.spp = nn.Sequential(alternating(1024, 512, 3), Pyramid(), alternating(2048, 512, 3))
        self.lift_mid, self.lift_low = Lift(512, 512, 256), Lift(256, 256, 128)
        self.sink_mid, self.sink_high = Sink(128, 256), Sink(256, 512)
        self.heads = nn.ModuleList(head(width) for width in (128, 256, 512))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        low, mid, high = self.backbone(x)
        high = self.spp(high)
        mid = self.lift_mid(high, mid)
        low = self.lift_low(mid, low)
        mid = self.sink_mid(low, mid)
        high = self.sink_high(mid, high)
        return tuple(predict(level) for predict, level in zip(self.heads, (low, mid, high), strict=True))


def build() -> nn.Module:
    """The seeded network."""
    return seeded(YoloV4(), seed=2, gain=1.3)


WORKLOAD = Workload("yolov4", build, (1, 3, 416, 416), gmacs=30.1, outputs=("fine", "middle", "coarse"))
