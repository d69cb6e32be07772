# SPDX-License-Identifier: BSD-3-Clause
"""Networks that tell ten classes of pictures of 28 x 28 pixels, small enough to be trained without an accelerator.

alexnet, vgg and resnet have the structure of those that papers measure: convolutions and then wide layers that have
most of the parameters, many convolutions of 3 x 3 in stages of the same size, and blocks beside which their input
goes on.
"""

import torch
from torch import nn


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 5 * 5, 64), nn.ReLU(), nn.Linear(64, 10))


def mlp(width: int) -> nn.Module:
    return nn.Sequential(nn.Flatten(), nn.Linear(28 * 28, width), nn.ReLU(), nn.Linear(width, width),
                         nn.ReLU(), nn.Linear(width, 10))


def alexnet() -> nn.Module:
    """Five convolutions and three wide layers (Krizhevsky et al., 2012)."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, stride=2, padding=2), nn.ReLU(), nn.MaxPool2d(3, stride=2, padding=1),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(),
        nn.Conv2d(48, 48, 3, padding=1), nn.ReLU(), nn.Conv2d(48, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 3 * 3, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))


def vgg() -> nn.Module:
    """Stages of two convolutions of 3 x 3, each of half the size of the one before (Simonyan and Zisserman, 2015)."""
    layers: list[nn.Module] = []
    channels = 1
    for stage, width in enumerate((16, 32, 64)):
        layers += [nn.Conv2d(channels, width, 3, stride=2 if stage == 0 else 1, padding=1), nn.ReLU(),
                   nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
        layers += [] if stage == 2 else [nn.MaxPool2d(2)]
        channels = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 3 * 3, 256), nn.ReLU(), nn.Linear(256, 10))


class Residual(nn.Module):
    """Two convolutions, to whose output their input is added."""

    def __init__(self, channels: int, width: int, stride: int) -> None:
        super().__init__()
        self.inner = nn.Sequential(
            nn.Conv2d(channels, width, 3, stride=stride, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))
        self.beside = nn.Identity() if stride == 1 and channels == width else nn.Sequential(
            nn.Conv2d(channels, width, 1, stride=stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return nn.functional.relu(self.inner(pictures) + self.beside(pictures))


def resnet() -> nn.Module:
    """Three stages of a residual block (He et al., 2016)."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        Residual(16, 16, 1), Residual(16, 32, 2), Residual(32, 64, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


MODELS = {"cnn": cnn, "mlp": mlp, "alexnet": alexnet, "vgg": vgg, "resnet": resnet}


def of_name(name: str, width: int) -> nn.Module:
    """`width` is of the layers of mlp."""
    return mlp(width) if name == "mlp" else MODELS[name]()
