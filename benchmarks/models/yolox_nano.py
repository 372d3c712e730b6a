"""yolox_nano: depthwise-separable CSPDarknet, PAFPN, decoupled heads (Ge et al., 2021), 416x416."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .workload import Workload, seeded

CLASSES = 80
WIDTHS = (64, 128, 256)  # channels at strides 8, 16, 32: the full model's at width 0.25
HEAD_WIDTH = 64


def conv(inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution, BatchNorm, SiLU."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.SiLU(),
    )


def separable(inputs: int, outputs: int, stride: int = 1) -> nn.Sequential:
    """3x3 depthwise, then 1x1."""
    return nn.Sequential(conv(inputs, inputs, 3, stride, groups=inputs), conv(inputs, outputs, 1))


class Focus(nn.Module):
    """Space to depth by four strided slices and a concat, then a convolution."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.conv = conv(4 * inputs, outputs, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        even, odd = x[..., ::2, :], x[..., 1::2, :]
        return self.conv(torch.cat([even[..., ::2], odd[..., ::2], even[..., 1::2], odd[..., 1::2]], 1))


class Bottleneck(nn.Module):
    """separable(conv1x1(x)), plus x where `shortcut` says so."""

    damping = 0.7

    def __init__(self, channels: int, *, shortcut: bool) -> None:
        super().__init__()
        self.shortcut = shortcut
        self.body = nn.Sequential(conv(channels, channels, 1), separable(channels, channels))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.body(x)
        return x + y if self.shortcut else y


class Csp(nn.Module):
    """Two 1x1 branches of half the width, bottlenecks on one of them, concat, 1x1."""

    def __init__(self, inputs: int, outputs: int, blocks: int = 1, *, shortcut: bool = False) -> None:
        super().__init__()
        hidden = outputs // 2
        self.enter = conv(inputs, hidden, 1)
        self.bypass = conv(inputs, hidden, 1)
        self.merge = conv(2 * hidden, outputs, 1)
        self.blocks = nn.Sequential(*(Bottleneck(hidden, shortcut=shortcut) for _ in range(blocks)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.merge(torch.cat([self.blocks(self.enter(x)), self.bypass(x)], 1))


class Pyramid(nn.Module):
    """Spatial pyramid pooling between two 1x1 convolutions."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.enter = conv(channels, channels // 2, 1)
        self.pools = nn.ModuleList(nn.MaxPool2d(size, 1, size // 2) for size in (5, 9, 13))
        self.leave = conv(2 * channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.enter(x)
        return self.leave(torch.cat([x, *(pool(x) for pool in self.pools)], 1))


class Backbone(nn.Module):
    """CSPDarknet at depth 0.33: the features at strides 8, 16 and 32."""

    def __init__(self) -> None:
        super().__init__()
        self.low = nn.Sequential(
            *(Focus(3, 16), separable(16, 32, 2), Csp(32, 32, 1, shortcut=True)),
            *(separable(32, 64, 2), Csp(64, 64, 3, shortcut=True)),
        )
        self.mid = nn.Sequential(separable(64, 128, 2), Csp(128, 128, 3, shortcut=True))
        self.high = nn.Sequential(separable(128, 256, 2), Pyramid(256), Csp(256, 256))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        low = self.low(x)
        mid = self.mid(low)
        return low, mid, self.high(mid)


class Neck(nn.Module):
    """PAFPN: top down by nearest 2x upsamples, then bottom up by strided separable convolutions."""

    def __init__(self) -> None:
        super().__init__()
        low, mid, high = WIDTHS
        self.narrow_high, self.narrow_mid = conv(high, mid, 1), conv(mid, low, 1)
        self.up_mid, self.up_low = Csp(2 * mid, mid), Csp(2 * low, low)
        self.stride_low, self.stride_mid = separable(low, low, 2), separable(mid, mid, 2)
        self.down_mid, self.down_high = Csp(2 * low, mid), Csp(2 * mid, high)

    def forward(self, low: torch.Tensor, mid: torch.Tensor, high: torch.Tensor) -> tuple[torch.Tensor, ...]:
        top = self.narrow_high(high)
        mid = self.up_mid(torch.cat([_twice(top), mid], 1))
        middle = self.narrow_mid(mid)
        low = self.up_low(torch.cat([_twice(middle), low], 1))
        mid = self.down_mid(torch.cat([self.stride_low(low), middle], 1))
        return low, mid, self.down_high(torch.cat([self.stride_mid(mid), top], 1))


def _twice(x: torch.Tensor) -> torch.Tensor:
    return F.interpolate(x, scale_factor=2.0, mode="nearest")


class Head(nn.Module):
    """Decoupled head of one level: 85 channels, 4 raw box numbers, then sigmoids."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        width = HEAD_WIDTH
        self.stem = conv(inputs, width, 1)
        self.classes = nn.Sequential(separable(width, width), separable(width, width))
        self.boxes = nn.Sequential(separable(width, width), separable(width, width))
        self.to_classes = nn.Conv2d(width, CLASSES, 1)
        self.to_box, self.to_object = nn.Conv2d(width, 4, 1), nn.Conv2d(width, 1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        classes, boxes = self.classes(x), self.boxes(x)
        scores = [self.to_object(boxes).sigmoid(), self.to_classes(classes).sigmoid()]
        return torch.cat([self.to_box(boxes), *scores], 1)


class YoloXNano(nn.Module):
    """1x3x416x416 to 1x3549x85."""

    def __init__(self) -> None:
        super().__init__()
        self.backbone, self.neck = Backbone(), Neck()
        self.heads = nn.ModuleList(Head(width) for width in WIDTHS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        levels = self.neck(*self.backbone(x))
        maps = [head(level).flatten(2) for head, level in zip(self.heads, levels, strict=True)]
        return torch.cat(maps, 2).permute(0, 2, 1)


def build() -> nn.Module:
    """The seeded network."""
    return seeded(YoloXNano(), seed=3)


WORKLOAD = Workload("yolox_nano", build, (1, 3, 416, 416), gmacs=0.52, exporter="dynamo")
