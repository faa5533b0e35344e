"""The certificates as smooth functions of a network's weights θ: normal laws for the counts, any real N and k.

A network is a root that reads Ψ and ReLU units under it, z_v = q_v · Ψ, f/B = z_0 + Σ s_i relu(z_i), p_v the mass of
node v, Σ p_v = 1. Networks are trained side by side, one row each; `means` are the z_v, [rows, nodes, m].
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from adanet_theory.certificates.grids import classes_grid, path_classes_grid, path_grid, vote_grid
from adanet_theory.certificates.kl import xi
from adanet_train.certificate.smooth import RateCost, kl_inverse, normal_cdf

_LEAST = 1e-6  # of a variance
_NODES = 8  # of the quadrature over the count of the right class


class Form:
    """F = kl^-1(empirical, [KL + price]/m) / b at log N and the threshold t in standard deviations, [rows, 1]."""

    id: str

    def __init__(
        self,
        y: Tensor,
        n_0: int,
        units: Sequence[int],
        betas: Sequence[float],
        delta: float,
        m: int | None = None,
    ) -> None:
        """m is the size of the sample where y are the labels of a part of it."""
        self.y, self.m = y, y.shape[-1] if m is None else m
        self.atoms = 2 * n_0 * (1 + len(units))
        self.units = y.new_tensor(list(units))
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
        """KL without what the atoms cost each."""
        raise NotImplementedError

    def grid(self, N: Tensor) -> Tensor:
        raise NotImplementedError


class Vote(Form):
    """vote-certificate: Bin(N, (1+u)/2) right votes, k = (N + t sqrt(N))/2."""

    id = "vote-certificate"

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


class Path(Form):
    """path-certificate: T_v ~ Skellam of mean N z_v and variance N p_v, g = T_0 + Σ s_i relu(T_i), k = t sqrt(N)."""

    id = "path-certificate"

    def losses(self, means: Tensor, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        mean, variance = N[:, :, None] * means[:, 0:1], N * mass
        size, noise = positive_parts(N[:, :, None] * means[:, 1:], variance[:, 1:, None])
        g = mean[:, 0] + (self.units[:, None] * size).sum(1)
        spread = variance[:, :1] + noise.sum(1)
        return normal_cdf((t * N.sqrt() + 0.5 - self.y * g) / spread.clamp_min(_LEAST).sqrt())

    def b(self, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        """1 - eps at J = all; relu of a centred normal has mean sd/sqrt(2π) and variance sd² (1/2 - 1/2π)."""
        variance, k = N * mass, t * N.sqrt() + 0.5
        sides = []
        for e in (1, -1):
            positive = variance[:, 1:] * (self.units == e)
            mean = (positive / (2 * math.pi)).clamp_min(_LEAST).sqrt().sum(1, keepdim=True)
            spread = variance.sum(1, keepdim=True) - (0.5 + 0.5 / math.pi) * positive.sum(1, keepdim=True)
            sides.append(normal_cdf((k - mean) / spread.clamp_min(_LEAST).sqrt())[:, 0])
        return torch.minimum(*sides)

    def base_kl(self, N: Tensor) -> Tensor:
        urn = self.atoms * self.beta
        return N * (torch.log1p(urn / N) - 1) + urn * torch.log1p(N / urn)

    def grid(self, N: Tensor) -> Tensor:
        plus = int((self.units > 0).sum())
        counts = [[(plus, len(self.units) - plus)]] if len(self.units) else []
        return torch.full_like(N, path_grid(counts))


class ClassVote(Form):
    """vote-certificate-multiclass: g_c of mean N f_c/B' and variance N p_c, k = t sqrt(Nπ); y is one row per class.

    The nodes are the classes, each with the sign 0: none is under another.
    """

    id = "vote-certificate-multiclass"

    def losses(self, means: Tensor, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        """1 - E Π_{c != y} Φ((g_y - k - 1/2 - N f_c)/s_c), by quadrature over g_y."""
        f, sd = N[:, :, None] * means, (N * mass).clamp_min(_LEAST).sqrt()
        own = (f * self.y).sum(1) - t.clamp_min(0) * self.size(mass, N).sqrt() - 0.5
        return self.behind(own, sd @ self.y, f, sd[:, :, None])

    def behind(self, own: Tensor, deviation: Tensor, f: Tensor, sd: Tensor) -> Tensor:
        """1 - E Π_{c != y} Φ((X - f_c)/s_c), X of that mean and deviation, [rows, m]; f and sd: [rows, classes, m]."""
        nodes, weights = (f.new_tensor(part) for part in hermite(_NODES))
        g = own[:, None] + deviation[:, None] * nodes[:, None]  # [rows, nodes, m]
        right: Tensor | float = 1.0
        for c, mine in enumerate(self.y):
            wins = normal_cdf((g - f[:, None, c]) / sd[:, None, c])
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


class ClassPath(ClassVote):
    """path-certificate-multiclass: as Path, g_c = T_c + Σ s_i relu(T_i) over the units of class c, k = t sqrt(N).

    The first nodes are the classes. A unit that follows is ±(c + 1) where it is under class c with that sign.
    """

    id = "path-certificate-multiclass"

    def __init__(
        self,
        y: Tensor,
        n_0: int,
        units: Sequence[int],
        betas: Sequence[float],
        delta: float,
        m: int | None = None,
    ) -> None:
        super().__init__(y, n_0, units, betas, delta, m)
        hidden = self.units[len(y) - 1 :]
        self.sign = hidden.sign()
        self.under = torch.nn.functional.one_hot(hidden.abs().long() - 1, len(y)).to(y.dtype)  # [units, classes]

    def losses(self, means: Tensor, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        C, f, variance = len(self.y), N[:, :, None] * means, N * mass
        size, noise = positive_parts(f[:, C:], variance[:, C:, None])
        g = f[:, :C] + torch.einsum("rum,uc->rcm", self.sign[:, None] * size, self.under)
        spread = variance[:, :C, None] + torch.einsum("rum,uc->rcm", noise, self.under)
        sd = spread.clamp_min(_LEAST).sqrt()
        own = (g * self.y).sum(1) - t.clamp_min(0) * N.sqrt() - 0.5
        return self.behind(own, (sd * self.y).sum(1), g, sd)

    def b(self, mass: Tensor, N: Tensor, t: Tensor) -> Tensor:
        """1 - eps at J = all: the least over y and c of P(D^+(y) + D^-(c) <= k)."""
        C, variance = len(self.y), N * mass
        total = variance[:, :C] + variance[:, C:] @ self.under
        sides = []
        for e in (1, -1):
            positive = variance[:, C:] * (self.sign == e)
            mean = (positive / (2 * math.pi)).clamp_min(_LEAST**2).sqrt() @ self.under
            sides.append((mean, total - (0.5 + 0.5 / math.pi) * positive @ self.under))
        (ahead, own), (behind, other) = sides
        k = (t.clamp_min(0) * N.sqrt() + 0.5)[:, :, None]
        spread = (own[:, :, None] + other[:, None]).clamp_min(_LEAST).sqrt()
        right = normal_cdf((k - ahead[:, :, None] - behind[:, None]) / spread)
        return (right + 2 * torch.eye(C, dtype=right.dtype, device=right.device)).flatten(1).min(1).values

    def grid(self, N: Tensor) -> Tensor:
        C, units = len(self.y), len(self.sign)
        return torch.full_like(N, path_classes_grid([C, units] if units else [C]))


def positive_parts(mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and variance of relu of a normal variable."""
    sd = variance.clamp_min(_LEAST).sqrt()
    z = mean / sd
    cdf, density = normal_cdf(z), torch.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    first, second = z * cdf + density, (z * z + 1) * cdf + z * density
    return sd * first, sd * sd * (second - first * first).clamp_min(0)


def hermite(nodes: int) -> tuple[list[float], list[float]]:
    """Points and weights of E h(Z), Z standard normal."""
    from numpy.polynomial.hermite_e import hermegauss

    points, weights = hermegauss(nodes)
    return points.tolist(), (weights / weights.sum()).tolist()
