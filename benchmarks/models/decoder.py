"""decoder: four layers of a language model that see what is before them: rotary positions, root-mean-square norms and
gated SiLU (Touvron et al., 2023), over 128 tokens; not tuned for."""

from __future__ import annotations

import torch
from torch import nn

from .workload import Workload, seeded

LAYERS, TOKENS, WIDTH, HEADS, HIDDEN = 4, 128, 384, 6, 1024
EACH = WIDTH // HEADS


class RootMeanSquare(nn.Module):
    """x / sqrt(mean x²), scaled channel by channel."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * self.scale


class Attention(nn.Module):
    """Of every token to itself and those before it, places as rotations of queries and keys."""

    def __init__(self) -> None:
        super().__init__()
        self.queries, self.keys, self.values, self.project = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        angles = torch.outer(torch.arange(TOKENS).float(), 10000 ** -(torch.arange(0, EACH, 2) / EACH)).repeat(1, 2)
        self.register_buffer("cosines", angles.cos())
        self.register_buffer("sines", angles.sin())
        self.register_buffer("unseen", torch.full((TOKENS, TOKENS), float("-inf")).triu(1))

    def heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], HEADS, EACH).transpose(1, 2)

    def rotated(self, x: torch.Tensor) -> torch.Tensor:
        a, b = x.chunk(2, -1)
        return x * self.cosines + torch.cat((-b, a), -1) * self.sines

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k = self.rotated(self.heads(self.queries(x))), self.rotated(self.heads(self.keys(x)))
        scores = (q @ k.transpose(-1, -2) * EACH**-0.5 + self.unseen).softmax(-1)
        return self.project((scores @ self.heads(self.values(x))).transpose(1, 2).reshape(x.shape))


class Layer(nn.Module):
    """x + attention(norm x), then x + down(silu(gate(norm x)) up(norm x))."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.attention, self.between = RootMeanSquare(), Attention(), RootMeanSquare()
        self.gate, self.up = (nn.Linear(WIDTH, HIDDEN, bias=False) for _ in range(2))
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before(x))
        y = self.between(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


def build() -> nn.Module:
    """The seeded network: layers and a last norm."""
    return seeded(nn.Sequential(*(Layer() for _ in range(LAYERS)), RootMeanSquare()), seed=17, gain=1.0)


WORKLOAD = Workload("decoder", build, (1, TOKENS, WIDTH), gmacs=0.96)
