"""Euclidean projection of each row of a matrix onto the ball ||u||_p <= Λ, for every p in [1, inf].

`nearest` is the projection up to rounding, in the dtype given; `members` makes float64 rows whose real norm is <= Λ,
so that the norm is <= Λ in whatever order a reader sums it.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from adanet_train.core.norms import row_norms

# The root searches halve an interval or better: this many steps exhaust a float64.
_STEPS = 80


def nearest(U: Tensor, Lambda: float, p: float) -> Tensor:
    """argmin_v ||v - u||_2 over ||v||_p <= Λ, row by row.

    >>> nearest(torch.tensor([[3.0, 4.0], [0.5, 0.0]]), 1.0, 2).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.5, 0.0]]
    >>> nearest(torch.tensor([[3.0, 2.5]]), 1.0, 1).tolist()
    [[0.75, 0.25]]
    """
    if U.shape[1] == 0:
        return U
    if p == 2:
        # A row within the ball is divided by 1, which changes nothing.
        return U / (torch.linalg.vector_norm(U, dim=1, keepdim=True) / Lambda).clamp_min(1)
    if p == math.inf:
        return U.clamp(-Lambda, Lambda)
    outside = (row_norms(U, p) > Lambda)[:, None]
    projected = _nearest_l1(U, Lambda) if p == 1 else _nearest_general(U, Lambda, p)
    return torch.where(outside, projected, U)


def nearest_(U: Tensor, Lambda: float, p: float) -> None:
    """`nearest`, in place."""
    if p == 2:
        U.div_(torch.linalg.vector_norm(U, dim=1, keepdim=True).div_(Lambda).clamp_min_(1))
    elif p == math.inf:
        U.clamp_(-Lambda, Lambda)
    else:
        U.copy_(nearest(U, Lambda, p))


def _nearest_l1(U: Tensor, Lambda: float) -> Tensor:
    """Soft thresholding: v_i = (θ - b_i)_+ with b_i = max|u| - |u_i| and Σ_i (θ - b_i)_+ = Λ.

    With b sorted upwards, θ = min_j (Λ + b_1 + .. + b_j)/j: each quotient solves the equation for the first j entries
    alone, and an entry left out can only raise it. (Measured from the maximum, θ keeps its digits where |u| >> Λ.)
    """
    magnitude = U.abs()
    below = magnitude.amax(1, keepdim=True) - magnitude
    count = torch.arange(1, U.shape[1] + 1, dtype=U.dtype, device=U.device)
    theta = ((below.sort(dim=1).values.cumsum(1) + Lambda) / count).amin(1, keepdim=True)
    return torch.copysign((theta - below).clamp_min(0), U)


def _nearest_general(U: Tensor, Lambda: float, p: float) -> Tensor:
    """The v with v_i + μ v_i^(p-1) = |u_i| and ||v||_p = Λ, 1 < p < inf; rows inside the ball come out meaningless.

    Scaled to Λ = 1, ||v^(p-1)||_q = 1, so that μ = ||u - v||_q. Hence μ <= ||u||_q, and μ is at least the least
    ||.||_q of a vector with ||.||_p = ||u||_p - 1. Newton's method on log ||v(μ)||_p between the two ends, halving
    the bracket wherever it leaves it.
    """
    a, tol = U.double().abs() / Lambda, 4 * torch.finfo(U.dtype).eps
    q = p / (p - 1)
    least = min(1.0, a.shape[1] ** (1 / q - 1 / p)) * (row_norms(a, p)[:, None] - 1)
    low = torch.log(least.clamp_min(1e-300))
    high = torch.maximum(torch.log(row_norms(a, q)[:, None]), low)
    t = low
    for _ in range(_STEPS):
        v = _shrunk(a, t.exp(), p, tol)
        power = v ** (p - 1)
        size = (v * power).sum(1, keepdim=True)
        # -d log||v||_p / dt. With e^t v^(p-1) = a - v there is no power p - 2, which is infinite at v = 0 for p < 2.
        slope = ((a - v) * v * power / (v + (p - 1) * (a - v)).clamp_min(1e-300)).sum(1, keepdim=True) / size
        low, high = torch.where(size >= 1, t, low), torch.where(size >= 1, high, t)
        newton = t + torch.log(size) / (p * slope)
        ahead = torch.where((newton > low) & (newton < high), newton, (low + high) / 2)
        moved, t = (ahead - t).abs() - tol * (1 + t.abs()), ahead
        if (moved <= 0).all():
            break
    v = _shrunk(a, t.exp(), p, tol)
    return torch.copysign(v * (Lambda / row_norms(v, p)[:, None]), U.double()).to(U.dtype)


def _shrunk(a: Tensor, mu: Tensor, p: float, tol: float) -> Tensor:
    """The v >= 0 with v + μ v^(p-1) = a.

    For p >= 2 the left side is convex, v_0 = min{a, (a/μ)^(1/(p-1))} lies above the root by a factor of at most 2, and
    Newton's method falls to it. For p < 2 the same holds for z = v^(p-1), as z + z^(q-1)/μ = a/μ.
    """
    if p < 2:
        return _shrunk(a / mu, 1 / mu, p / (p - 1), tol) ** (1 / (p - 1))
    r = p - 1
    v = torch.minimum(a, (a / mu) ** (1 / r))
    for _ in range(_STEPS):
        power = mu * v ** (r - 1)
        step = (v + v * power - a) / (1 + r * power)
        v = (v - step).clamp_min(0)
        if (step <= tol * v).all():
            break
    return v


def members(U: Tensor, Lambda: float, p: float) -> Tensor:
    """float64 rows with ||u||_p <= Λ as real numbers: the projection, shrunk by less than (n + 16) 2^-50 of itself.

    n terms summed in any order, each within an ulp, are off by less than (n + 4) 2^-52 of their sum: a row whose
    norm, as computed, is that far below Λ stays below it for every reader.

    >>> U = members(torch.tensor([[0.1] * 100], dtype=torch.float64), 1.0, 2)
    >>> float(torch.linalg.vector_norm(U)) <= 1.0
    True
    """
    U = nearest(U.double(), Lambda, p)
    if p == math.inf:
        return U
    room = Lambda * (1 - (U.shape[1] + 8) * 2.0**-51)
    norms = row_norms(U, p)[:, None]
    return torch.where(norms <= room, U, U * (room / norms.clamp_min(room) * (1 - 2.0**-51)))
