"""What is chosen on the points that a committee holds out: the first subnetwork with its λ, and when to stop.

Every candidate is judged at the best λ of a path of its own. At one λ for all, the least F would say more of how well
each fits the points that it was trained on, and of r_k, which grows by a large factor with every layer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_train.convex.labels import Labels
from adanet_train.core.config import LARGE
from adanet_train.core.history import LEAST_HELD_OUT, SIMPLER
from adanet_train.core.network import read
from adanet_train.core.points import Points
from adanet_train.core.world import ALONE, World
from adanet_train.search.committee import Member, SplitSample
from adanet_train.search.growth import Growth

DECADES, PER_DECADE = 4, 2
"""The path of a candidate goes so far below the least λ that leaves its w at 0, in so many steps a decade."""
POINTS = 100_000
"""The path is followed on at most this many points (1/C of them for C classes), since it only chooses λ."""
LEAST_GAIN, LARGE_GAIN = 0.02, 0.1
"""The share of the held-out loss by which a further subnetwork must lower it, and by more than a standard error: of a
large sample, where nearly every one lowers it and each costs more than the last, a larger one."""
CAUTION = 1.0
"""The simplest candidate whose held-out loss is within so many standard errors of the least is taken."""


@dataclass(frozen=True, eq=False)
class HeldOutValues:
    """f^(j) at the points held out from member j: [K, v], as y and the sample weights, or [K, v, C]."""

    f: Tensor
    sample: SplitSample
    first: bool
    """Whether the network has no subnetwork yet."""

    @classmethod
    def of(cls, growth: Growth, sample: SplitSample) -> HeldOutValues:
        rows = sample.held_out
        if not growth.parts:
            return cls(sample.labels.none(*rows.shape, like=growth.f), sample, first=True)
        x = torch.stack([sample.points.rows(part) for part in rows])
        return cls(Member.of(growth, sample.members).f(x), sample, first=False)

    def losses(self, change: Tensor | float = 0.0) -> Tensor:
        """s_i times the loss, point by point, with f changed; 0 where a row only fills."""
        sample = self.sample
        return sample.held_out_weights * sample.labels.values(sample.y[sample.held_out], self.f + change)

    def mean(self, values: Tensor) -> Tensor:
        """Over the last two dimensions [K, v], the points of all processes."""
        sums = (values * self.sample.counts).sum((-2, -1))
        return self.sample.points.world.sum(sums) / self.sample.held_out_points

    def error(self, values: Tensor) -> Tensor:
        """The standard error of the mean."""
        variance = self.mean((values - self.mean(values)[..., None, None]) ** 2)
        return (variance / self.sample.held_out_points).sqrt()

    def loss(self, change: Tensor | float = 0.0) -> float:
        return float(self.mean(self.losses(change)))

    def falls(self, change: Tensor) -> bool:
        """Whether the loss falls by enough to be worth another subnetwork: in the first round, whether it falls."""
        before, after = self.losses(), self.losses(change)
        gain, error = float(self.mean(before - after)), float(self.error(before - after))
        least = LARGE_GAIN if len(self.sample.points) >= LARGE else LEAST_GAIN
        return gain > (0.0 if self.first else max(error, least * float(self.mean(before))))

    def of_members(self, H: Tensor, w: Tensor) -> Tensor:
        """What the new units of member j, with weights w, add to f^(j) at the points held out from it."""
        K, tops = self.sample.members, self.sample.labels.tops
        shares = [slice(j * tops, (j + 1) * tops) for j in range(K)]
        held_out = zip(self.sample.held_out, shares, strict=True)
        return torch.stack([read(H[rows][:, own], K * w[..., own]) for rows, own in held_out])


@dataclass(frozen=True, eq=False)
class Direction:
    """A candidate on the path: its one direction z of f on the sample, r of it, and z at the members' own points."""

    z: Tensor
    r: float
    held_out: Tensor


@dataclass(frozen=True, eq=False)
class Judged:
    """A candidate at the λ of its path where the held-out loss is least: the losses there, point by point, and r."""

    lam: float
    losses: Tensor
    r: float


def judge(
    direction: Direction, y: Tensor, f: Tensor, held_out: HeldOutValues, beta: float, *, weights: Tensor | None
) -> Judged:
    """The best λ of a candidate on the path that begins where its w leaves 0."""
    points, labels, world = held_out.sample.points, held_out.sample.labels, held_out.sample.points.world
    every = math.ceil(len(points) * labels.tops / POINTS)
    some = _some(points, every)
    z, y, f = direction.z[some], y[some], f[some]
    weight = (f.new_ones(len(f)) if weights is None else weights[some]) / -(-len(points) // every)
    below = torch.tensor([10 ** (-i / PER_DECADE) for i in range(1, DECADES * PER_DECADE + 1)]).to(f)
    pull = abs(float(world.sum(labels.fall(y, f, z, weight))))
    path = below * (max(0.0, pull - beta) / direction.r if direction.r > 0 else 0.0)
    w, _ = scalar_path(z, y, f, path * direction.r + beta, labels, weight, world)
    values = torch.stack([held_out.losses(w_i * direction.held_out) for w_i in w])
    best = int(held_out.mean(values).argmin())
    return Judged(float(path[best]), values[best], direction.r)


def choose(candidates: Sequence[Judged], held_out: HeldOutValues) -> tuple[int, str]:
    """The candidate of least r among those whose loss is close to the least, and why it was chosen."""
    losses = torch.stack([candidate.losses for candidate in candidates])
    least, close = int(held_out.mean(losses).argmin()), _close(held_out, losses)
    chosen = min((i for i, near in enumerate(close) if near), key=lambda i: candidates[i].r)
    return chosen, LEAST_HELD_OUT if chosen == least else SIMPLER


def _some(points: Points, every: int) -> slice | Tensor:
    """Every so manieth row of the sample, of which some are here."""
    return slice(None, None, every) if points.numbers is None else points.numbers.to(points.device) % every == 0


def scalar_path(
    z: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, labels: Labels, weight: Tensor, world: World = ALONE
) -> tuple[Tensor, Tensor]:
    """(w, F) of  min_w Σ_i weight_i loss_i(f + w z) + Γ |w|  for every Γ at once: Newton steps kept in a bracket.

    Good to about 1e-6, which is enough to tell one λ from another; what is kept is minimised again with a certificate.
    """
    sign = -1.0 if float(world.sum(labels.fall(y, f, z, weight))) < 0 else 1.0
    line = labels.line(y, f, sign * z, weight)
    w, low, high = torch.zeros_like(Gamma), torch.zeros_like(Gamma), torch.full_like(Gamma, torch.inf)
    for _ in range(30):
        first, second = world.sum(line.derivatives(w))
        slope = Gamma - first
        low, high = torch.where(slope < 0, w, low), torch.where(slope < 0, high, w)
        step = w - slope / second.clamp_min(1e-300)
        middle = torch.where(high.isinf(), 2 * low + 1, (low + high) / 2)
        inside = (step > low) & (step < high) & (step < 4 * low + 10)
        w = torch.where((w == 0) & (slope >= 0), w, torch.where(inside, step, middle))
    return sign * w, world.sum(line.values(w)) + Gamma * w


def _close(held_out: HeldOutValues, losses: Tensor) -> list[bool]:
    """Which mean losses are within CAUTION standard errors, of the paired difference, of the least."""
    means = held_out.mean(losses)
    best = int(means.argmin())
    close: list[bool] = (means <= means[best] + CAUTION * held_out.error(losses - losses[best])).tolist()
    return close
