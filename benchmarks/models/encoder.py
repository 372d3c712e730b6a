"""encoder: four pre-norm transformer layers over 128 tokens of width 384 (Vaswani et al., 2017), not tuned for."""

from __future__ import annotations

import torch
from torch import nn

from .workload import Workload, seeded

LAYERS, TOKENS, WIDTH, HEADS, HIDDEN = 4, 128, 384, 6, 1536


class Attention(nn.Module):
    """Multi-head self-attention with one projection to queries, keys and values."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, _ = x.shape
        q, k, v = self.qkv(x).reshape(batch, tokens, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4).unbind(0)
        scores = torch.matmul(q, k.transpose(-1, -2)) * (WIDTH // HEADS) ** -0.5
        return self.project(torch.matmul(scores.softmax(-1), v).transpose(1, 2).reshape(batch, tokens, WIDTH))


class Layer(nn.Module):
    """x + attention(norm x), then x + feed-forward(norm x) with GELU."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.between = nn.LayerNorm(WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, HIDDEN), nn.GELU(), nn.Linear(HIDDEN, WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before(x))
        return x + self.feed(self.between(x))


def build() -> nn.Module:
    """The seeded network: layers and a last norm."""
    return seeded(nn.Sequential(*(Layer() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)), seed=11, gain=1.0)


WORKLOAD = Workload("encoder", build, (1, TOKENS, WIDTH), gmacs=0.96, free=((1, "length"),))
