"""segformer: SegFormer-B0 with its decode head, 150 classes (Xie et al., 2021), 512x512."""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn

from .workload import Workload, seeded

CLASSES = 150
DECODER = 256


@dataclass(frozen=True)
class Level:
    """One stage: its width, attention heads, spatial reduction of keys, and patch embedding."""

    width: int
    heads: int
    reduction: int
    kernel: int
    stride: int
    depth: int = 2


LEVELS = (Level(32, 1, 8, 7, 4), Level(64, 2, 4, 3, 2), Level(160, 5, 2, 3, 2), Level(256, 8, 1, 3, 2))


def to_map(tokens: torch.Tensor, height: int, width: int) -> torch.Tensor:
    """[B, H*W, C] as [B, C, H, W]."""
    batch, _, channels = tokens.shape
    return tokens.transpose(1, 2).reshape(batch, channels, height, width)


def to_tokens(image: torch.Tensor) -> torch.Tensor:
    """[B, C, H, W] as [B, H*W, C]."""
    return image.flatten(2).transpose(1, 2)


class Attention(nn.Module):
    """Efficient self-attention: keys and values come from a map that is smaller by `reduction`."""

    damping = 0.5

    def __init__(self, level: Level) -> None:
        super().__init__()
        width = level.width
        self.heads, self.reduction = level.heads, level.reduction
        self.query = nn.Linear(width, width)
        if level.reduction > 1:
            self.reduce = nn.Conv2d(width, width, level.reduction, level.reduction)
            self.norm = nn.LayerNorm(width)
        self.key, self.value = nn.Linear(width, width), nn.Linear(width, width)
        self.project = nn.Linear(width, width)

    def split(self, tokens: torch.Tensor) -> torch.Tensor:
        """[B, N, C] as [B, heads, N, C / heads]."""
        batch, count, channels = tokens.shape
        return tokens.reshape(batch, count, self.heads, channels // self.heads).transpose(1, 2)

    def forward(self, x: torch.Tensor, height: int, width: int) -> torch.Tensor:
        source = x
        if self.reduction > 1:
            source = self.norm(to_tokens(self.reduce(to_map(x, height, width))))
        q, k, v = self.split(self.query(x)), self.split(self.key(source)), self.split(self.value(source))
        scores = torch.matmul(q, k.transpose(-1, -2)) / (q.shape[-1] ** 0.5)
        mixed = torch.matmul(scores.softmax(-1), v)
        return self.project(mixed.transpose(1, 2).reshape(x.shape))


class MixFfn(nn.Module):
    """Linear to four times the width, 3x3 depthwise convolution, GELU, linear back."""

    damping = 0.5

    def __init__(self, width: int) -> None:
        super().__init__()
        hidden = 4 * width
        self.widen = nn.Linear(width, hidden)
        self.depthwise = nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden)
        self.narrow = nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor, height: int, width: int) -> torch.Tensor:
        hidden = self.depthwise(to_map(self.widen(x), height, width))
        return self.narrow(F.gelu(to_tokens(hidden)))


class Block(nn.Module):
    """x + attention(norm(x)), then x + ffn(norm(x))."""

    def __init__(self, level: Level) -> None:
        super().__init__()
        self.before_attention, self.before_ffn = nn.LayerNorm(level.width), nn.LayerNorm(level.width)
        self.attention, self.ffn = Attention(level), MixFfn(level.width)

    def forward(self, x: torch.Tensor, height: int, width: int) -> torch.Tensor:
        x = x + self.attention(self.before_attention(x), height, width)
        return x + self.ffn(self.before_ffn(x), height, width)


class Stage(nn.Module):
    """Overlapping patch embedding, blocks, norm: a map of `level.width` channels."""

    def __init__(self, inputs: int, level: Level) -> None:
        super().__init__()
        self.embed = nn.Conv2d(inputs, level.width, level.kernel, level.stride, level.kernel // 2)
        self.enter, self.leave = nn.LayerNorm(level.width), nn.LayerNorm(level.width)
        self.blocks = nn.ModuleList(Block(level) for _ in range(level.depth))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        image = self.embed(image)
        height, width = image.shape[2], image.shape[3]
        x = self.enter(to_tokens(image))
        for block in self.blocks:
            x = block(x, height, width)
        return to_map(self.leave(x), height, width)


class Decoder(nn.Module):
    """A linear for each level, bilinear upsample to the finest, concat, 1x1 fuse, 1x1 classes."""

    def __init__(self) -> None:
        super().__init__()
        self.linears = nn.ModuleList(nn.Linear(level.width, DECODER) for level in LEVELS)
        self.fuse = nn.Conv2d(len(LEVELS) * DECODER, DECODER, 1, bias=False)
        self.norm = nn.BatchNorm2d(DECODER)
        self.classify = nn.Conv2d(DECODER, CLASSES, 1)

    def forward(self, levels: list[torch.Tensor]) -> torch.Tensor:
        size = (levels[0].shape[2], levels[0].shape[3])
        maps: list[torch.Tensor] = []
        for linear, image in zip(self.linears, levels, strict=True):
            y = to_map(linear(to_tokens(image)), image.shape[2], image.shape[3])
            maps.append(F.interpolate(y, size=size, mode="bilinear", align_corners=False))
        return self.classify(torch.relu(self.norm(self.fuse(torch.cat(maps[::-1], 1)))))


class SegFormer(nn.Module):
    """1x3x512x512 to the raw class scores 1x150x128x128."""

    def __init__(self) -> None:
        super().__init__()
        inputs = (3, *(level.width for level in LEVELS[:-1]))
        self.stages = nn.ModuleList(Stage(n, level) for n, level in zip(inputs, LEVELS, strict=True))
        self.decoder = Decoder()

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        levels: list[torch.Tensor] = []
        for stage in self.stages:
            image = stage(image)
            levels.append(image)
        return self.decoder(levels)


def build() -> nn.Module:
    """The seeded network."""
    return seeded(SegFormer(), seed=4, gain=1.0)


WORKLOAD = Workload("segformer", build, (1, 3, 512, 512), gmacs=8.4)
