"""Differentiable forms of the parts of a certificate, for gradient descent on the bound itself.

Approximations: laws of counts by their mean and variance, KL through a table. They choose the network; the value
that is stated is computed from the exact laws in adanet_theory.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

_NEWTON = 10  # from the right of a convex function: monotone, and to the bits of float32 well before
_TINY = 1e-7
_LOW, _HIGH, _POINTS = -14.0, 14.0, 2801  # log r of the table: up to e^14, more counts than any N has


class _KlInverse(torch.autograd.Function):
    """Newton forward; backward by dp/dc = 1/kl_p and dp/dq = -kl_q/kl_p of kl(q, p) = c."""

    @staticmethod
    def forward(ctx: Any, q: Tensor, c: Tensor) -> Tensor:
        q = q.clamp(_TINY, 1 - 3 * _TINY)
        p = (q + (c / 2).sqrt()).clamp_max(1 - _TINY)  # Pinsker: kl >= 2 (p-q)^2
        right, least = 1 - q, q + _TINY
        for _ in range(_NEWTON):
            above = 1 - p
            kl = q * torch.log(q / p) + right * torch.log(right / above)
            step = (kl - c) * (p * above) / (p - q).clamp_min(_TINY)
            p = torch.maximum(p - step, least).clamp_max(1 - _TINY)  # where kl(q, 1 - tiny) < c it would leave (0, 1)
        ctx.save_for_backward(q, p)
        return p

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor, Tensor]:
        q, p = ctx.saved_tensors
        kl_p = ((p - q) / (p * (1 - p))).clamp_min(_TINY)
        kl_q = torch.log(q / p) - torch.log((1 - q) / (1 - p))
        return -grad[0] * kl_q / kl_p, grad[0] / kl_p


def kl_inverse(q: Tensor, c: Tensor) -> Tensor:
    """kl^-1(q, c) = max{ p : kl(q, p) <= c }, element by element."""
    inverse: Tensor = _KlInverse.apply(q, c)
    return inverse


def normal_cdf(z: Tensor) -> Tensor:
    """Φ(z), with slope 0 beyond 9 standard deviations: denormal slopes would take most of the time of a step."""
    return torch.special.ndtr(z.clamp(-9, 9))


class RateCost:
    """g(r) = r log r - E_{c ~ Poisson(r)} [lgamma(c+β) - lgamma(β)], the KL that an atom of rate r adds, against log r.

    For the Polya urn KL is about Σ g(N θ_j) - N log N + lgamma(nβ+N) - lgamma(nβ): its exact laws are Bin(N, θ_j),
    not Poisson. Rows of the table are the β's, one for each of the networks that are trained side by side.
    """

    def __init__(self, betas: tuple[float, ...], like: Tensor) -> None:
        rows = np.stack([_rate_cost(beta) for beta in betas])
        self.table = torch.as_tensor(rows, dtype=like.dtype, device=like.device)

    def __call__(self, log_r: Tensor) -> Tensor:
        """g at the logarithms of rates, one row for each β; linear between the points of the table."""
        place = (log_r - _LOW).mul((_POINTS - 1) / (_HIGH - _LOW)).clamp(0, _POINTS - 1.001)
        below = place.detach().floor()
        share, at = place - below, below.long()
        return self.table.gather(1, at) * (1 - share) + self.table.gather(1, at + 1) * share


@lru_cache(maxsize=16)
def _rate_cost(beta: float) -> Any:
    """The table of g: the sum itself for r <= 60, beyond it the expansion of E lgamma around r to the fourth moment."""
    from scipy.special import gammaln, polygamma
    from scipy.stats import poisson

    r = np.exp(np.linspace(_LOW, _HIGH, _POINTS))
    few, many = r[r <= 60], r[r > 60]
    c = np.arange(200)
    small = poisson.pmf(c, few[:, None]) @ (gammaln(c + beta) - math.lgamma(beta))
    large = gammaln(many + beta) - math.lgamma(beta) + many / 2 * polygamma(1, many + beta)
    large += many / 6 * polygamma(2, many + beta) + (3 * many**2 + many) / 24 * polygamma(3, many + beta)
    return r * np.log(r) - np.concatenate([small, large])
