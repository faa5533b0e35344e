"""One descent for every search: steps on one vector of parameters, now and then a look, and the best of all looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from adanet_train.core.bar import inside

LONG = 0.999
"""How much of the mean of the squared slopes a step of Adam keeps; of the mean of the slopes it keeps 0.9."""


class Descending(Protocol):
    """Parameters on their way down."""

    theta: Tensor

    def step(self, number: int) -> None:
        """Step 1, 2, .., which changes theta in place."""

    def look(self) -> float:
        """The value to minimise, or an estimate of it."""


def descend(search: Descending, *, steps: int, every: int, patience: int) -> tuple[Tensor, float]:
    """Descend; (theta, value) at the least look. It ends after `patience` looks in a row without a new least value.

    Parameters
    ----------
    search : the parameters, how they step and how they are looked at; they go on from where they are.
    steps : the number of steps at most.
    every : steps between two looks; there is one before the first step and one after the last.
    patience : looks without a new least value before the descent ends. It also ends at a look that is not finite.
    """
    best, least, bad = search.theta.clone(), search.look(), 0
    for number in range(1, steps + 1):
        search.step(number)
        inside(number, steps)
        if number % every and number < steps:
            continue
        seen = search.look()
        bad = 0 if seen < least else bad + 1
        if seen < least:
            best, least = search.theta.clone(), seen
        if bad == patience or not math.isfinite(seen):
            break
    return best, least


def views(flat: Tensor, shapes: Sequence[Sequence[int]]) -> list[Tensor]:
    """The parts of a vector, one after the other, in these shapes."""
    pieces = flat.split([math.prod(shape) for shape in shapes])
    return [piece.view(*shape) for piece, shape in zip(pieces, shapes, strict=True)]


class Gradient:
    """Plain gradient steps."""

    def __init__(self, theta: Tensor) -> None:
        self.theta = theta

    def step(self, slopes: Tensor, rate: float) -> None:
        self.theta.add_(slopes, alpha=-rate)


class Adam:
    """Adam (Kingma and Ba, 2015), in place.

    torch.optim would first import the compiler, which takes longer than a search on a small sample.
    """

    def __init__(self, theta: Tensor, memory: float = LONG) -> None:
        self.theta, self.memory, self.steps = theta, memory, 0
        self.mean, self.square, self.root = torch.zeros_like(theta), torch.zeros_like(theta), theta.new_empty(0)

    @torch.no_grad()
    def step(self, slopes: Tensor, rate: float, rows: Any = None) -> None:
        """One step; with `rows`, on these alone: `slopes` are theirs, and the moments of the others stay."""
        self.steps += 1
        whole = (self.theta, self.mean, self.square)
        theta, mean, square = whole if rows is None else (part[rows] for part in whole)
        mean.lerp_(slopes, 0.1)
        square.mul_(self.memory).addcmul_(slopes, slopes, value=1 - self.memory)
        root = torch.div(square, 1 - self.memory**self.steps, out=self.root if rows is None else None)
        theta.addcdiv_(mean, root.sqrt_().add_(1e-8), value=-rate / (1 - 0.9**self.steps))
        if rows is not None:
            self.theta[rows], self.mean[rows], self.square[rows] = theta, mean, square


OPTIMISERS = {"sgd": Gradient, "adam": Adam}
