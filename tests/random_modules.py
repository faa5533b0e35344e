"""Random modules for the fuzz of reading: chains, skips, views, in-place changes, in any type of numbers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

WIDTH = 6

PURE: list[Callable[[Tensor], Tensor]] = [
    functional.relu,
    torch.abs,
    lambda h: functional.leaky_relu(h, 0.25),
    lambda h: h * 0.75,
    lambda h: h + 0.1,
    lambda h: h.flip(1),
    lambda h: h.view(-1, 2, 3).transpose(1, 2).reshape(-1, WIDTH),
    lambda h: h.clamp(-2.0, 2.0),
    lambda h: functional.max_pool1d(h[:, None], 3, stride=1, padding=1)[:, 0],
]


def _increased(h: Tensor) -> Tensor:
    h += 0.3
    return h


def _scaled(h: Tensor) -> Tensor:
    h *= -0.8
    return h


IN_PLACE: list[Callable[[Tensor], Tensor]] = [
    lambda h: functional.relu(h, inplace=True),
    lambda h: h.relu_(),
    lambda h: h.add_(0.25),
    lambda h: h.mul_(-0.5),
    lambda h: h.view(-1, 2, 3).relu_().flatten(1),
    lambda h: torch.relu_(h),
    lambda h: functional.leaky_relu(h, 0.1, inplace=True),
    _increased,
    _scaled,
]


class Random(nn.Module):
    """`depth` steps, each on one of the last values: a Linear, a BatchNorm, a function, a sum with an earlier value."""

    def __init__(self, seed: int, depth: int, in_place: float, outputs: int = 1) -> None:
        super().__init__()
        draw = random.Random(seed)
        self.plan: list[Any] = []
        self.parts = nn.ModuleList()
        for _ in range(depth):
            kind = draw.choice(["linear", "norm", "function", "function", "sum", "iadd"])
            if kind in ("linear", "norm"):
                self.parts.append(nn.Linear(WIDTH, WIDTH) if kind == "linear" else nn.BatchNorm1d(WIDTH))
                self.plan.append((kind, len(self.parts) - 1, draw.randrange(3)))
            elif kind == "function":
                chosen = draw.choice(IN_PLACE if draw.random() < in_place else PURE)
                self.plan.append((kind, chosen, draw.randrange(3)))
            else:
                changes = kind == "iadd" and draw.random() < in_place
                self.plan.append(("iadd" if changes else "sum", draw.randrange(3), draw.randrange(3)))
        self.first, self.last = nn.Linear(4, WIDTH), nn.Linear(WIDTH, outputs)
        with torch.no_grad():
            generator = torch.Generator().manual_seed(seed)
            for weight in self.parameters():
                weight.copy_(torch.randn(weight.shape, generator=generator) * 0.4)
            for part in self.parts:
                if isinstance(part, nn.BatchNorm1d):
                    part.running_mean.copy_(torch.randn(WIDTH, generator=generator) * 3)
                    part.running_var.copy_(torch.rand(WIDTH, generator=generator) + 0.2)
        self.eval()

    def forward(self, x: Tensor) -> Tensor:
        values = [self.first(x)]
        for kind, what, place in self.plan:
            h = values[-1 - min(place, len(values) - 1)]
            if kind in ("linear", "norm"):
                h = self.parts[what](h)
            elif kind == "function":
                h = what(h)
            elif kind == "iadd":
                h += values[-1 - min(what, len(values) - 1)]
            else:
                h = h + values[-1 - min(what, len(values) - 1)]
            values.append(h)
        return self.last(values[-1])
