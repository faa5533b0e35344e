"""Fine-tuning with the bits in the loss: straight-through rounding, loss + λ bits/m, the steps 2^e fixed.

Bits are the code length with the current counts, linear between two integers, so that the slope shows what the next
integer would save. As in the code's context "both", P(weight is not 0) is a product of one for its row and its column.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_train.compression import code
from adanet_train.compression.code import Coded
from adanet_train.compression.problem import CodingProblem, Score
from adanet_train.core.descend import Adam

LEARNING_RATE = 1 / 24
"""Of a step 2^e."""
EVERY = 50
LOOKS, LOOKED = (2, 40), 0.1
"""Fewest and most looks at the certificate, all in the last 40 %, and the share of the steps that they may cost."""
LEAST, MOST = 1e-5, 0.9
SEEN, RECENT, MOST_JUMPS = 4, 0.02, (0.3, 0.02)
"""Jumps are looked for every so many steps; the weight of the last look in a mean; and the share of looks with a jump
above which a weight is held, in the middle of the run and at its end."""


@dataclass(frozen=True)
class Prices:
    """Bits of 0, of the first step away from it, and of |q| = 1, 2, .. given that: of one tensor, or of several.

    For several, `first` is where the levels of a weight's tensor begin, and `last` its last one.
    """

    zero: Tensor
    other: Tensor
    level: Tensor
    first: Tensor
    last: Tensor

    @classmethod
    def of(cls, tensors: Sequence[Tensor]) -> Prices:
        """The prices at the integers of these tensors, as those of one vector."""
        parts = [prices(q) for q in tensors]
        sizes, levels = [q.numel() for q in tensors], [len(part.level) for part in parts]
        numbers = torch.arange(len(parts)).repeat_interleave(torch.tensor(sizes))
        ends = torch.tensor(levels).cumsum(0)
        first, last = (ends - torch.tensor(levels))[numbers], (ends - 1)[numbers]
        zero, other = (torch.cat([getattr(part, name).flatten() for part in parts]) for name in ("zero", "other"))
        return cls(zero, other, torch.cat([part.level for part in parts]), first, last)

    def slopes(self, u: Tensor) -> Tensor:
        """How the bits change with u: between two integers they are linear."""
        size = u.abs()
        at = torch.minimum(self.first + size.long(), self.last)
        low = torch.where(at == self.first, self.zero, self.other + self.level[torch.maximum(at - 1, self.first)])
        return (self.other + self.level[at] - low) * u.sign()


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
    level = torch.cat([level, more])
    return Prices(-torch.log2(1 - p), 1 - torch.log2(p), level, torch.tensor(0), torch.tensor(len(level) - 1))


@dataclass(frozen=True)
class Schedule:
    """λ from the first value to the second in the first half of the steps; the learning rate falls in the second.

    A first value above the second helps: expensive weights are dropped first, and those that are missed come back.
    """

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
    """The best network that was evaluated, with its score."""
    free = [t for t, is_free in enumerate(problem.is_free) if is_free]
    sizes = [start[t].numel() for t in free]
    steps = torch.cat([torch.full((size,), math.ldexp(1.0, exponents[t])) for t, size in zip(free, sizes, strict=True)])
    u = torch.cat([start[t].float().flatten() for t in free]) / steps
    values = list(start)

    def fill(vector: Tensor) -> list[Tensor]:
        """The free tensors, as parts of this vector."""
        for t, part in zip(free, vector.split(sizes), strict=True):
            values[t] = part.view(start[t].shape)
        return [values[t] for t in free]

    def charged() -> Prices:
        return Prices.of([part.clone() for part in fill(u.round())])

    optimiser, held = Adam(u, memory=0.99), _Held(u)
    looks = _looks(problem, schedule)
    best: tuple[Score, list[Coded]] | None = None
    price, per_point = charged(), torch.tensor(float(problem.m)).reciprocal()
    for number in range(1, schedule.steps + 1):
        if number % EVERY == 0:
            problem.spend(EVERY * problem.seconds(schedule.batch, backward=True))
            price = charged()
        lam, rate = schedule.at((number - 1) / schedule.steps)
        rows = torch.randint(problem.m, (schedule.batch,), generator=generator)
        # straight-through: the loss is at the rounded weights, its slopes are taken for those at u
        parts = [part.requires_grad_() for part in fill(((u.round() - u) + u) * steps)]
        loss = problem.loss(problem.f(values, problem.X.index_select(0, rows)), problem.y.index_select(0, rows))
        slopes = torch.autograd.grad(loss, parts, materialize_grads=True)
        slope = torch.cat([slope.flatten() for slope in slopes]) * steps + lam * per_point * price.slopes(u)
        optimiser.step(slope, rate)
        if number % SEEN == 0:
            held.after(number / schedule.steps)
        if number in looks:
            fill(u.double() * steps)
            coded = problem.rounded(exponents, [w.double().numpy() for w in values])
            score = problem.score(coded)
            report(score)
            if best is None or score.key < best[0].key:
                best = score, coded
    assert best is not None
    return best


class _Held:
    """In the second half of the steps a weight that keeps jumping between integers stays where it was most of the time.

    Rounding such weights all at once, after the last step, costs more errors than the others can make up for.
    """

    def __init__(self, u: Tensor) -> None:
        self.u, self.last, self.mean, self.at = u, u.round(), u.round(), u.round()
        self.jumps, self.is_held = torch.zeros_like(u), torch.zeros_like(u, dtype=torch.bool)

    def after(self, share: float) -> None:
        """After this share of the steps."""
        now = self.u.round()
        self.jumps.lerp_((now != self.last).to(now.dtype), RECENT)
        self.mean.lerp_(now, RECENT)
        if share >= 0.5:
            most = MOST_JUMPS[0] + (MOST_JUMPS[1] - MOST_JUMPS[0]) * (2 * share - 1)
            is_new = (self.jumps > most) & ~self.is_held
            self.at = torch.where(is_new, self.mean.round(), self.at)
            self.is_held |= is_new
            self.u.copy_(torch.where(self.is_held, self.at, self.u))
        self.last = self.u.round()


def _looks(problem: CodingProblem, schedule: Schedule) -> set[int]:
    """The steps after which the certificate is looked at: rounded networks differ much from step to step."""
    spent = schedule.steps * problem.seconds(schedule.batch, backward=True)
    count = int(min(max(LOOKED * spent / problem.seconds(problem.m), LOOKS[0]), LOOKS[1]))
    return {schedule.steps - i * 2 * schedule.steps // (5 * count) for i in range(count)}
