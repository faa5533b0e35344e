"""Certificates of a network, rounded outward: never below the value of the formula at the given exact numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np
from flint import arb

from adanet_theory.certificates import grids
from adanet_theory.certificates.derandomise import Certificate
from adanet_theory.checks import Array, check, check_m
from adanet_theory.twins.balls import ball
from adanet_theory.twins.tails import (
    BITS,
    binomial_cdf_ball,
    binomial_rising_lower,
    class_loss_upper,
    down,
    kl_inverse_ball,
    lead_lower,
    poisson_rising_lower,
    right_votes_upper,
    up,
    xi_ball,
)
from adanet_theory.twins.values import exact


def exact_ball(x: Any) -> arb:
    """A ball around an exact number (a float's binary value, a Fraction, a decimal string); a ball stays as it is."""
    return x if isinstance(x, arb) else ball(exact(x))


@dataclass(frozen=True)
class Parts:
    """A certificate without its delta: upper values of the empirical part and of KL, G, and a lower value of b."""

    id: str
    KL: float
    G: arb
    b: float
    m: int
    setting: Mapping[str, float]
    empirical: float

    def at(self, delta: Any) -> Certificate:
        """kl^-1(empirical, [KL + log(xi(m) G/delta)]/m)/b, rounded up once."""
        check(0 < float(exact(delta)) < 1, f"delta must be in (0, 1), got delta={delta}.")
        check_m(self.m)
        with flint.ctx.workprec(BITS):
            exponent = (arb(max(self.KL, 0.0)) + (xi_ball(self.m) * self.G / exact_ball(delta)).log()) / self.m
            raw = up(kl_inverse_ball(arb(self.empirical), exponent) / arb(self.b)) if self.b > 0 else math.inf
            terms = {**self.setting, "empirical": self.empirical, "KL": self.KL, "grid": up(self.G.log()), "b": self.b}
        return Certificate(self.id, terms, raw)


def vote_parts(u: Array, v: Sequence[Any], *, n: int, N: int, k: int, beta: float, shift: float = 0.0) -> Parts:
    """vote-certificate at a setting, for margins at or above u_i and exact theta_j = |v_j|/sum |v_j|.

    `beta` is read as the decimal of the grid. v has exact numbers or balls, with or without zeros. `shift` is at
    least the distance of a program's margins from the u_i.
    """
    grids.check_setting(N, beta)
    with flint.ctx.workprec(BITS):
        theta = simplex(v)
        check(len(theta) <= n, f"theta must have at most n entries > 0, got {len(theta)} with n={n}.")
        KL = _iid_kl(theta, N, n) if beta == grids.IID else _polya_kl(theta, N, n, decimal(beta))
        b = down(binomial_cdf_ball(N, k, (1 + arb(shift)) / 2)) if shift < 1 else 0.0
        G = arb(len(grids.VOTES) * (N + 1) * len(grids.PRIORS))
    setting = {"N": N, "k": k, "beta": beta}
    return Parts("vote-certificate", KL, G, b, len(u), setting, right_votes_upper(u, N, k))


def simplex(v: Sequence[Any]) -> list[arb]:
    """theta_j = |v_j|/sum |v_j| for the v_j that are not 0."""
    sizes = [abs(exact_ball(x)) for x in v]
    sizes = [x for x in sizes if x != 0]
    total = sum(sizes, arb(0))
    check(len(sizes) > 0, "the weights must not all be 0.")
    return [x / total for x in sizes]


def decimal(beta: float) -> arb:
    """The decimal a float was written as: 0.003, not the float next to it."""
    return exact_ball(Fraction(repr(beta)))


def _iid_kl(theta: Sequence[arb], N: int, n: int) -> float:
    return up(N * sum((t * (n * t).log() for t in theta), arb(0)))


def _polya_kl(theta: Sequence[arb], N: int, n: int, beta: arb) -> float:
    entropy = N * sum((t * t.log() for t in theta), arb(0))
    urn = (n * beta + N).lgamma() - (n * beta).lgamma()
    if len(theta) == 1:  # Bin(N, 1) is N
        return up(urn - (beta + N).lgamma() + beta.lgamma())
    return up(entropy + urn - arb(binomial_rising_lower(theta, N, beta)))


def lower_margins(margins: Array, B: arb) -> Array:
    """Floats at or below y_i f(x_i)/B, for lower values of the margins and a ball B > 0."""
    smallest, largest = down(B), up(B)
    return np.nextafter(np.where(margins >= 0, margins / largest, margins / smallest), -np.inf)


def _counts_kl(rates: Sequence[arb], A: int, N: int, beta: arb) -> float:
    check(len(rates) <= A, f"there must be at most A={A} rates, got {len(rates)}.")
    b = A * beta / N
    own = sum((r * r.log() - r for r in rates), arb(0)) + sum(rates, arb(0)) * b.log1p()
    return up(own + A * beta * (1 / b).log1p() - arb(poisson_rising_lower(rates, beta)))


def classes_parts(
    v: Sequence[Sequence[Any]], x: Array, y: Array, *, N: int, k: int, beta: float, shift: float = 0.0
) -> Parts:
    """vote-certificate-multiclass at a setting, for theta = |v|/sum |v| exactly; v lists the classes' weights.

    x is within a rounding of the exact features. If the rates are off by e in total, the laws change by at most e.
    `shift` is as in `vote_parts`.
    """
    grids.check_setting(N, beta, priors=grids.BETAS, votes=grids.CLASS_VOTES)
    check(0 <= k <= N, f"k must be in [0, N], got k={k}, N={N}.")
    with flint.ctx.workprec(BITS):
        theta = [[exact_ball(value) for value in row] for row in v]
        B = sum((abs(value) for row in theta for value in row), arb(0))
        masses = [sum((abs(value) for value in row), arb(0)) / B for row in theta]
        KL = _counts_kl(
            [N * t for t in simplex([value for row in theta for value in row])],
            2 * x.shape[1] * len(v),
            N,
            decimal(beta),
        )
        q = np.array([[float(value / B) for value in row] for row in theta])
        first, second = sorted((p.upper() for p in masses), key=float)[-2:]
        b = lead_lower(N * (first + second), k, N * arb(shift))
        G = arb(len(grids.CLASS_VOTES) * len(grids.BETAS) * (N + 1))
    p = np.array([float(mass) for mass in masses])
    scores = np.clip(x @ q.T, -p, p)
    rounding = N * (x.shape[1] + 8) * 2.0**-51
    empirical = class_loss_upper(N * (p + scores) / 2, N * (p - scores) / 2, y, k) + rounding
    setting = {"N": N, "k": k, "beta": beta}
    return Parts("vote-certificate-multiclass", KL, G, b, len(y), setting, min(1.0, empirical))


def exact_bits(depth: int) -> int:
    """Enough bits for sums of products of depth + 1 weights, each a multiple of 2^-1074 below 2^1024."""
    return 2098 * (depth + 1) + 64


def linear_weights(hidden: Mapping[tuple[int, int], Array], output: Mapping[int, Array], *, depth: int) -> list[arb]:
    """The exact v with f = v . x for a network whose activations are all the identity; one entry for every feature."""
    n_0 = hidden[1, 0].shape[1] if (1, 0) in hidden else 0
    with flint.ctx.workprec(exact_bits(depth)):
        reads: dict[int, dict[int, arb]] = {
            k: {i: arb(float(x)) for i, x in enumerate(w) if x != 0} for k, w in output.items()
        }
        for k in range(depth, 0, -1):
            for s in range(k):
                for i, weight in reads.get(k, {}).items() if (k, s) in hidden else ():
                    below = reads.setdefault(s, {})
                    for t in np.flatnonzero(hidden[k, s][i]):
                        below[int(t)] = below.get(int(t), arb(0)) + weight * arb(float(hidden[k, s][i, t]))
        v = reads.get(0, {})
        return [v.get(j, arb(0)) for j in range(n_0)]
