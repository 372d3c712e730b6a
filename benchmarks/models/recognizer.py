"""recognizer: a line of text by convolutions and two bidirectional LSTMs (Shi, Bai and Yao, 2015), not tuned for."""

from __future__ import annotations

import torch
from torch import nn

from .workload import Workload, seeded

WIDTHS = (32, 64, 128, 128, 256)
HIDDEN, SYMBOLS = 256, 96


class Recognizer(nn.Module):
    """Columns of features from convolutions, read in both directions; scores of symbols, column by column."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for i, (before, after) in enumerate(zip((1, *WIDTHS), WIDTHS)):
            layers += [nn.Conv2d(before, after, 3, padding=1), nn.BatchNorm2d(after), nn.ReLU()]
            layers.append(nn.MaxPool2d(2 if i < 2 else (2, 1)))
        self.features = nn.Sequential(*layers)
        self.reader = nn.LSTM(WIDTHS[-1], HIDDEN, 2, batch_first=True, bidirectional=True)
        self.scores = nn.Linear(2 * HIDDEN, SYMBOLS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = self.features(x).squeeze(2).transpose(1, 2)
        return self.scores(self.reader(columns)[0]).log_softmax(-1)


def build() -> nn.Module:
    """The seeded network: 1x1x32x320 to 1x80x96."""
    return seeded(Recognizer(), seed=19)


WORKLOAD = Workload("recognizer", build, (1, 1, 32, 320), gmacs=0.41, free=((3, "width"),))
