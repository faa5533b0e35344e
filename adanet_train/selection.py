"""What is chosen on the points that a committee holds out: λ, on a path from large to small, and when to stop.

At each λ of the path AdaNet's own rule, the least F, says which candidate it would keep; the held-out loss of that one
judges the λ. So λ r_k decides on the depth as in the paper, and the sample on λ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from adanet_train.committee import Member, Sample
from adanet_train.growth import Growth
from adanet_train.surrogates import Surrogate

DECADES, PER_DECADE = 6, 2
POINTS = 100_000
"""The path is followed on at most this many points of the sample: it only says which λ to take."""
LEAST_GAIN = 0.02
"""The share of the held-out loss by which a further subnetwork must lower it, and by more than a standard error."""
CAUTION = 1.0
"""The largest λ whose held-out loss is within so many standard errors of the least is taken."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """f^(j) at the points held out from member j: [K, v], as y and the sample weights."""

    f: Tensor
    y: Tensor
    weights: Tensor
    rows: Tensor
    Phi: Surrogate

    @classmethod
    def of(cls, growth: Growth, sample: Sample, Phi: Surrogate) -> HeldOut:
        rows = sample.held_out
        x = torch.stack([sample.points.rows(part) for part in rows])
        f = Member(growth, sample.members).f(x)
        return cls(f, sample.y[rows], sample.held_out_weights, rows, Phi)

    def losses(self, change: Tensor | float = 0.0) -> Tensor:
        """s_i Φ(1 - y f), point by point, with f changed."""
        return self.weights * self.Phi.value(1 - self.y * (self.f + change))

    def loss(self, change: Tensor | float = 0.0) -> float:
        return float(self.losses(change).mean())

    def falls(self, change: Tensor) -> bool:
        """Whether the loss falls by enough to be worth another subnetwork: in the first round, whether it falls."""
        before, after = self.losses(), self.losses(change)
        gain = (before - after).flatten()
        error = float(gain.std(correction=0)) / math.sqrt(len(gain))
        first = not bool(self.f.any())
        return float(gain.mean()) > (0.0 if first else max(error, LEAST_GAIN * float(before.mean())))

    def of_members(self, H: Tensor) -> Tensor:
        """[K, v]: the outputs of member j, column j of H, at its own held-out points."""
        return torch.stack([H[rows, j] for j, rows in enumerate(self.rows)])


@dataclass(frozen=True, eq=False)
class Choice:
    """A candidate on the path: its one column z on the sample, r of it, and what w z adds to the members' outputs."""

    z: Tensor
    r: float
    held_out: Tensor


def choose_lambda(
    choices: Sequence[Choice], y: Tensor, f: Tensor, held_out: HeldOut, beta: float, *, weights: Tensor | None
) -> float:
    """λ from the path below the least λ that leaves every w at 0."""
    every = math.ceil(len(y) / POINTS)
    y, f, Phi = y[::every], f[::every], held_out.Phi
    s = None if weights is None else weights[::every]
    columns = [choice.z[::every] for choice in choices]
    pull = y * Phi.derivative(1 - y * f) * (1.0 if s is None else s)
    tops = [(abs(float(pull @ z)) / len(y) - beta) / c.r for z, c in zip(columns, choices, strict=True) if c.r > 0]
    largest = max([*tops, 0.0])
    if largest == 0.0:
        return 0.0
    path = largest * torch.tensor([10 ** (-i / PER_DECADE) for i in range(1, DECADES * PER_DECADE + 1)]).to(y)
    solved = [scalar_path(z, y, f, path * c.r + beta, Phi, s) for z, c in zip(columns, choices, strict=True)]
    winners = torch.stack([values for _, values in solved]).argmin(0).tolist()
    changes = [solved[winner][0][i] * choices[winner].held_out for i, winner in enumerate(winners)]
    return float(path[_cautious(torch.stack([held_out.losses(change).flatten() for change in changes]))])


def scalar_path(
    z: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, Phi: Surrogate, s: Tensor | None
) -> tuple[Tensor, Tensor]:
    """(w, F) of  min_w mean(s Φ(1 - y f - y w z)) + Γ |w|  for every Γ at once: Newton steps kept in a bracket.

    Good to about 1e-6, which is enough to tell one λ from another; what is kept is minimised again with a certificate.
    """
    sign = -1.0 if float((y * z) @ (Phi.derivative(1 - y * f) * (1.0 if s is None else s))) < 0 else 1.0
    a, b = 1 - y * f, sign * y * z
    weight = (torch.ones_like(y) if s is None else s) / len(y)
    w, low, high = torch.zeros_like(Gamma), torch.zeros_like(Gamma), torch.full_like(Gamma, torch.inf)
    for _ in range(30):
        x = a - w[:, None] * b
        slope = Gamma - Phi.derivative(x) @ (weight * b)
        low, high = torch.where(slope < 0, w, low), torch.where(slope < 0, high, w)
        step = w - slope / (Phi.second(x) @ (weight * b * b)).clamp_min(1e-300)
        middle = torch.where(high.isinf(), 2 * low + 1, (low + high) / 2)
        inside = (step > low) & (step < high) & (step < 4 * low + 10)
        w = torch.where((w == 0) & (slope >= 0), w, torch.where(inside, step, middle))
    return sign * w, Phi.value(a - w[:, None] * b) @ weight + Gamma * w


def _cautious(losses: Tensor) -> int:
    """The first λ whose mean loss is within CAUTION standard errors, of the paired difference, of the least."""
    means = losses.mean(1)
    best = int(means.argmin())
    errors = (losses - losses[best]).std(1, correction=0) / math.sqrt(losses.shape[1])
    close = means <= means[best] + CAUTION * errors
    return int(close.to(torch.uint8).argmax())
