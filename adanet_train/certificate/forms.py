"""The certificates as smooth functions of a network's weights θ: normal laws for the counts, any real N and k.

A linear network has one node f/B, or C nodes f_c/B: z_v = q_v · Ψ, and p_v is the mass of node v, Σ p_v = 1.
Networks are trained side by side, one row each; `means` are the z_v, [rows, nodes, m].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from adanet_theory.certificates.grids import classes_grid, vote_grid
from adanet_theory.certificates.kl import xi
from adanet_train.certificate.smooth import RateCost, kl_inverse, normal_cdf

_LEAST = 1e-6  # of a variance
_NODES = 8  # of the quadrature over the count of the right class


class Form:
    """F = kl^-1(empirical, [KL + price]/m) / b at log N and the threshold t in standard deviations, [rows, 1]."""

    def __init__(
        self,
        y: Tensor,
        n_0: int,
        nodes: int,
        betas: Sequence[float],
        delta: float,
        m: int | None = None,
    ) -> None:
        """m is the size of the sample where y are the labels of a part of it."""
        self.y, self.m = y, y.shape[-1] if m is None else m
        self.atoms = 2 * n_0 * nodes
        self.beta = y.new_tensor(list(betas))
        self.cost = RateCost(tuple(betas), y)
        self.price = math.log(xi(self.m) / delta)

    def __call__(self, means: Tensor, mass: Tensor, log_theta: Tensor, log_N: Tensor, t: Tensor) -> Tensor:
        """mass: p_v, [rows, nodes]; log_theta: [rows, atoms]."""
        N = log_N.exp()
        q = self.losses(means, mass, N, t).mean(1)
        KL = self.cost(log_theta + log_N).sum(1) + self.base_kl(N[:, 0])
        return kl_inverse(q, (KL + self.price + self.grid(N[:, 0])) / self.m) / self.b(mass, N, t)

    def losses(self, means: Tensor, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        """E_Q of the loss at every example, [rows, m]; their mean is the empirical part."""
        raise NotImplementedError

    def b(self, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        """The least probability of the loss where f is wrong."""
        raise NotImplementedError

    def base_kl(self, N: Tensor) -> Tensor:
        """The part of KL that does not depend on the single atoms."""
        raise NotImplementedError

    def grid(self, N: Tensor) -> Tensor:
        raise NotImplementedError


class Vote(Form):
    """vote-certificate: Bin(N, (1+u)/2) right votes, k = (N + t sqrt(N))/2."""

    def losses(self, means: Tensor, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        u = self.y * means[:, 0]
        return normal_cdf((t - N.sqrt() * u) / (1 - u * u).clamp_min(_LEAST).sqrt())

    def b(self, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        return normal_cdf(t[:, 0])

    def base_kl(self, N: Tensor) -> Tensor:
        urn = self.atoms * self.beta
        return torch.lgamma(urn + N) - torch.lgamma(urn) - N * N.log()

    def grid(self, N: Tensor) -> Tensor:
        return torch.log(N + 1) + vote_grid(0)


class ClassVote(Form):
    """vote-certificate-multiclass: g_c of mean N f_c/B' and variance N p_c, k = t sqrt(Nπ); y is one row per class."""

    def losses(self, means: Tensor, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        """1 - E Π_{c != y} Φ((g_y - k - 1/2 - N f_c)/s_c), by quadrature over g_y."""
        f, sd = N[:, :, None] * means, (N * mass).clamp_min(_LEAST).sqrt()
        own = (f * self.y).sum(1) - t.clamp_min(0) * self.size(mass, N).sqrt() - 0.5
        nodes, weights = (f.new_tensor(part) for part in hermite(_NODES))
        g = own[:, None] + (sd @ self.y)[:, None] * nodes[:, None]  # [rows, nodes, m]
        right: Tensor | float = 1.0
        for c, mine in enumerate(self.y):
            wins = normal_cdf((g - f[:, None, c]) / sd[:, None, c, None])
            right = right * torch.where(mine > 0, 1.0, wins)
        assert isinstance(right, Tensor)
        return 1 - (weights[:, None] * right).sum(1)

    def size(self, mass: Tensor, N: Tensor) -> Tensor:
        """Nπ, π the sum of the two largest p_c, [rows, 1]."""
        return N * mass.topk(2, dim=1).values.sum(1, keepdim=True)

    def b(self, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        return normal_cdf(t.clamp_min(0) + 0.5 / self.size(mass, N).sqrt())[:, 0]

    def base_kl(self, N: Tensor) -> Tensor:
        urn = self.atoms * self.beta
        return N * (torch.log1p(urn / N) - 1) + urn * torch.log1p(N / urn)

    def grid(self, N: Tensor) -> Tensor:
        return torch.log(N + 1) + classes_grid(0)


def hermite(nodes: int) -> tuple[list[float], list[float]]:
    """Points and weights of E h(Z), Z standard normal."""
    from numpy.polynomial.hermite_e import hermegauss

    points, weights = hermegauss(nodes)
    return points.tolist(), (weights / weights.sum()).tolist()
