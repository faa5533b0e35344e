"""Fine-tuning with the bits in the loss: straight-through rounding, loss + λ bits/m, the steps 2^e fixed.

Bits are the code length with the counts of the moment, linear between two integers, so that a weight feels what the
next integer would save. The chance that a weight is not zero is the product of those of its row and its column, as in
the context "both" of the code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from adanet_train.compression import code
from adanet_train.compression.code import Coded
from adanet_train.compression.problem import CodingProblem, Score

LEARNING_RATE = 1 / 24
"""Of a step 2^e."""
EVERY = 50
LOOKS, LOOKED = (2, 40), 0.1
"""Fewest and most looks at the certificate, all in the last 40 %, and the share of the steps that they may cost."""
LEAST, MOST = 1e-5, 0.9


@dataclass(frozen=True)
class Prices:
    """Bits of 0, of the first step away from it, and of |q| = 1, 2, .. given that."""

    zero: Tensor
    other: Tensor
    level: Tensor

    def bits(self, u: Tensor) -> Tensor:
        """Between two integers the bits are linear."""
        size = u.abs()
        floor = size.detach().floor()
        at = floor.long().clamp(max=len(self.level) - 1)
        low = torch.where(at == 0, self.zero, self.other + self.level[(at - 1).clamp(min=0)])
        high = self.other + self.level[at]
        return (low + (high - low) * (size - floor)).sum()


def prices(q: Tensor) -> Prices:
    """Prices at the counts of the integers q of one tensor."""
    rows, columns = code.matrix_shape(tuple(q.shape))
    matrix = q.reshape(rows, columns)
    on = (matrix != 0).to(q.dtype)
    share = (on.sum() + 0.5) / (on.numel() + 1)
    if columns > 1:
        by_row = (on.sum(dim=1, keepdim=True) + 0.5) / (columns + 1)
        by_column = (on.sum(dim=0, keepdim=True) + 0.5) / (rows + 1)
        p = by_row * by_column / share
    else:
        p = share.expand(matrix.shape)
    p = p.clamp(LEAST, MOST).reshape(q.shape)
    size = matrix.abs()[matrix != 0].long()
    counts = torch.bincount(size, minlength=3)[1:].to(q.dtype)
    counts = counts + 0.5 * 0.5 ** torch.arange(len(counts), dtype=q.dtype)
    level = -torch.log2(counts / counts.sum())
    more = level[-1] + torch.arange(1, 33, dtype=q.dtype)
    return Prices(-torch.log2(1 - p), 1 - torch.log2(p), torch.cat([level, more]))


@dataclass(frozen=True)
class Schedule:
    """λ from the first value to the second in the first half of the steps; the learning rate falls in the second."""

    lam: tuple[float, float]
    steps: int
    batch: int
    rate: float = 1.0
    """Times the learning rate."""

    def at(self, share: float) -> tuple[float, float]:
        """(λ, learning rate) after this share of the steps."""
        first, last = self.lam
        return first + (last - first) * min(1.0, 2 * share), self.rate * LEARNING_RATE * min(1.0, 2 * (1 - share))


def tune(
    problem: CodingProblem,
    start: Sequence[Tensor],
    exponents: Sequence[int],
    schedule: Schedule,
    generator: torch.Generator,
    report: Callable[[Score], None] = lambda score: None,
) -> tuple[Score, list[Coded]]:
    """The best network that was looked at, with its score."""
    steps = [math.ldexp(1.0, e) for e in exponents]
    u = [
        (w.float() / step).clone().requires_grad_(free)
        for w, step, free in zip(start, steps, problem.is_free, strict=True)
    ]
    free = [x for x in u if x.requires_grad]
    optimiser = torch.optim.Adam(free, lr=LEARNING_RATE, betas=(0.9, 0.99))
    looks = _looks(problem, schedule)
    best: tuple[Score, list[Coded]] | None = None
    charged = [prices(x.detach().round()) for x in free]
    for number in range(1, schedule.steps + 1):
        if number % EVERY == 0:
            problem.spend(EVERY * problem.seconds(schedule.batch, backward=True))
            charged = [prices(x.detach().round()) for x in free]
        lam, rate = schedule.at((number - 1) / schedule.steps)
        for group in optimiser.param_groups:
            group["lr"] = rate
        rows = torch.randint(problem.m, (schedule.batch,), generator=generator)
        values = [
            _straight_through(x, step) if x.requires_grad else w for x, step, w in zip(u, steps, start, strict=True)
        ]
        loss = problem.loss(problem.f(values, problem.X[rows]), problem.y[rows])
        bits = torch.stack([price.bits(x) for price, x in zip(charged, free, strict=True)]).sum()
        optimiser.zero_grad()
        (loss + lam * bits / problem.m).backward()
        optimiser.step()
        if number in looks:
            found = problem.rounded(exponents, [_units(x, step, w) for x, step, w in zip(u, steps, start, strict=True)])
            score = problem.score(found)
            report(score)
            if best is None or score.key < best[0].key:
                best = score, found
    assert best is not None
    return best


def _looks(problem: CodingProblem, schedule: Schedule) -> set[int]:
    """The steps after which the certificate is looked at: rounded networks differ much from step to step."""
    spent = schedule.steps * problem.seconds(schedule.batch, backward=True)
    count = int(min(max(LOOKED * spent / problem.seconds(problem.m), LOOKS[0]), LOOKS[1]))
    return {schedule.steps - i * 2 * schedule.steps // (5 * count) for i in range(count)}


def _straight_through(u: Tensor, step: float) -> Tensor:
    return ((u.round() - u).detach() + u) * step


def _units(u: Tensor, step: float, own: Tensor) -> np.ndarray:
    return (u.detach().double() * step).numpy() if u.requires_grad else own.double().numpy()
