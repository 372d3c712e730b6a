"""video: 3x3x3 convolutions over frames, between pools (Tran et al., 2015), not tuned for."""

from __future__ import annotations

from torch import nn

from .workload import Workload, seeded


def conv(inputs: int, outputs: int) -> tuple[nn.Module, nn.Module]:
    """Convolution over frames, rows and columns, ReLU."""
    return nn.Conv3d(inputs, outputs, 3, padding=1), nn.ReLU()


def build() -> nn.Module:
    """The seeded network: eight frames of 64x64 to 101 classes."""
    return seeded(
        nn.Sequential(
            *conv(3, 32),
            nn.MaxPool3d((1, 2, 2)),
            *conv(32, 64),
            nn.MaxPool3d(2),
            *conv(64, 128),
            nn.MaxPool3d(2),
            *conv(128, 128),
            nn.AdaptiveAvgPool3d(1),
            nn.Flatten(),
            nn.Linear(128, 101),
        ),
        seed=18,
    )


WORKLOAD = Workload("video", build, (1, 3, 8, 64, 64), gmacs=0.82)
