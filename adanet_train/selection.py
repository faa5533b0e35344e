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

from adanet_train.committee import Member, Sample
from adanet_train.config import LARGE
from adanet_train.growth import Growth
from adanet_train.points import Points
from adanet_train.surrogates import Surrogate
from adanet_train.world import ALONE, World

DECADES, PER_DECADE = 4, 2
"""The path of a candidate goes so far below the least λ that leaves its w at 0, in so many steps a decade."""
POINTS = 100_000
"""The path is followed on at most this many points of the sample: it only says which λ to take."""
LEAST_GAIN, LARGE_GAIN = 0.02, 0.1
"""The share of the held-out loss by which a further subnetwork must lower it, and by more than a standard error: of a
large sample, where nearly every one lowers it and each costs more than the last, a larger one."""
CAUTION = 1.0
"""The simplest candidate whose held-out loss is within so many standard errors of the least is taken."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """f^(j) at the points held out from member j: [K, v], as y and the sample weights."""

    f: Tensor
    sample: Sample
    Phi: Surrogate

    @classmethod
    def of(cls, growth: Growth, sample: Sample, Phi: Surrogate) -> HeldOut:
        rows = sample.held_out
        x = torch.stack([sample.points.rows(part) for part in rows])
        f = Member(growth, sample.members).f(x)
        return cls(f, sample, Phi)

    def losses(self, change: Tensor | float = 0.0) -> Tensor:
        """s_i Φ(1 - y f), point by point, with f changed; 0 where a row only fills."""
        sample = self.sample
        return sample.held_out_weights * self.Phi.value(1 - sample.y[sample.held_out] * (self.f + change))

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
        first = float(self.mean(self.f.abs())) == 0
        least = LARGE_GAIN if len(self.sample.points) >= LARGE else LEAST_GAIN
        return gain > (0.0 if first else max(error, least * float(self.mean(before))))

    def of_members(self, H: Tensor) -> Tensor:
        """[K, v]: the outputs of member j, column j of H, at its own held-out points."""
        return torch.stack([H[rows, j] for j, rows in enumerate(self.sample.held_out)])


@dataclass(frozen=True, eq=False)
class Choice:
    """A candidate on the path: its one column z on the sample, r of it, and what w z adds to the members' outputs."""

    z: Tensor
    r: float
    held_out: Tensor


def choose(
    choices: Sequence[Choice], y: Tensor, f: Tensor, held_out: HeldOut, beta: float, *, weights: Tensor | None
) -> tuple[int, list[float]]:
    """The best λ of each candidate, and of those whose loss there is close to the least the one with the least r."""
    points, Phi, world = held_out.sample.points, held_out.Phi, held_out.sample.points.world
    some = _some(points)
    m = -(-len(points) // math.ceil(len(points) / POINTS))
    y, f = y[some], f[some]
    weight = (torch.ones_like(y) if weights is None else weights[some]) / m
    below = torch.tensor([10 ** (-i / PER_DECADE) for i in range(1, DECADES * PER_DECADE + 1)]).to(y)
    lams, losses = [], []
    for choice in choices:
        z = choice.z[some]
        pull = abs(float(world.sum((y * Phi.derivative(1 - y * f) * weight) @ z)))
        path = below * (max(0.0, pull - beta) / choice.r if choice.r > 0 else 0.0)
        w, _ = scalar_path(z, y, f, path * choice.r + beta, Phi, weight, world)
        values = torch.stack([held_out.losses(w_i * choice.held_out) for w_i in w])
        best = int(held_out.mean(values).argmin())
        lams.append(float(path[best]))
        losses.append(values[best])
    close = _close(held_out, torch.stack(losses))
    return min((i for i, near in enumerate(close) if near), key=lambda i: choices[i].r), lams


def _some(points: Points) -> slice | Tensor:
    """Every so many rows of the sample, of which some are here."""
    every = math.ceil(len(points) / POINTS)
    return slice(None, None, every) if points.numbers is None else points.numbers.to(points.device) % every == 0


def scalar_path(
    z: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, Phi: Surrogate, weight: Tensor, world: World = ALONE
) -> tuple[Tensor, Tensor]:
    """(w, F) of  min_w Σ_i weight_i Φ(1 - y f - y w z) + Γ |w|  for every Γ at once: Newton steps kept in a bracket.

    Good to about 1e-6, which is enough to tell one λ from another; what is kept is minimised again with a certificate.
    """
    sign = -1.0 if float(world.sum((y * z) @ (Phi.derivative(1 - y * f) * weight))) < 0 else 1.0
    a, b = 1 - y * f, sign * y * z
    w, low, high = torch.zeros_like(Gamma), torch.zeros_like(Gamma), torch.full_like(Gamma, torch.inf)
    for _ in range(30):
        x = a - w[:, None] * b
        first, second = world.sum(torch.stack([Phi.derivative(x) @ (weight * b), Phi.second(x) @ (weight * b * b)]))
        slope = Gamma - first
        low, high = torch.where(slope < 0, w, low), torch.where(slope < 0, high, w)
        step = w - slope / second.clamp_min(1e-300)
        middle = torch.where(high.isinf(), 2 * low + 1, (low + high) / 2)
        inside = (step > low) & (step < high) & (step < 4 * low + 10)
        w = torch.where((w == 0) & (slope >= 0), w, torch.where(inside, step, middle))
    return sign * w, world.sum(Phi.value(a - w[:, None] * b) @ weight) + Gamma * w


def _close(held_out: HeldOut, losses: Tensor) -> list[bool]:
    """Which mean losses are within CAUTION standard errors, of the paired difference, of the least."""
    means = held_out.mean(losses)
    best = int(means.argmin())
    close: list[bool] = (means <= means[best] + CAUTION * held_out.error(losses - losses[best])).tolist()
    return close
