"""A certificate: PAC-Bayes-kl for a randomised network, turned into a statement about the network itself.

D (derandomisation). If for every (x, y) with y f(x) <= 0 the randomised network has P_Q(loss = 1 | x, y) >= b > 0, then
b R(f) <= E_Q R, and so with probability >= 1-δ, for all Q and all G settings of a grid at once,

    R(f) <= kl^-1( E_Q R_S, [KL(Q||P) + log(ξ(m) G/δ)]/m ) / b.

The loss may depend on the setting but not on Q. b may depend on Q.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from adanet_theory.certificates.kl import kl, kl_inverse, kl_inverses, xi
from adanet_theory.checks import Array, check, check_risk

LARGEST_M = 10**18


@dataclass(frozen=True)
class Certificate:
    """R(f) <= raw, and its parts: `empirical` E_Q R_S, `KL`, `grid` log G, `b`, the setting (N, k, beta, ..).

    >>> Certificate("vote-certificate", {"empirical": 0.0, "KL": 9.0, "b": 0.5}, raw=1.25).value
    1.0
    """

    id: str
    terms: Mapping[str, float]
    raw: float

    @property
    def value(self) -> float:
        """min(1, raw), the bound on a risk."""
        return min(1.0, self.raw)

    @property
    def is_vacuous(self) -> bool:
        return self.raw >= 1


def certificate(
    id: str, empirical: float, *, KL: float, grid: float, b: float, m: int, delta: float, **setting: float
) -> Certificate:
    """kl^-1( empirical, [KL + log(ξ(m)/δ) + grid]/m ) / b at one setting, which the terms record too.

    >>> found = certificate("a", 0.01, KL=20.0, grid=5.0, b=0.9, m=2000, delta=0.05, N=40)
    >>> round(found.raw, 12), found.terms["N"]
    (0.043610791446, 40)
    """
    check_risk(empirical, m, delta)
    # KL >= 0 in truth; a sum of floats may end a rounding below.
    check(-1e-9 <= KL < math.inf, f"KL must be finite and >= 0, got KL={KL}.")
    check(0 < b <= 1, f"b must be in (0, 1], got b={b}.")
    exponent = (max(KL, 0.0) + math.log(xi(m) / delta) + grid) / m
    raw = kl_inverse(empirical, exponent) / b
    return Certificate(id, {**setting, "empirical": empirical, "KL": KL, "grid": grid, "b": b}, raw)


@dataclass(frozen=True)
class Thresholds:
    """Settings that share N, β and the KL and differ in k: empirical[i] and b[i] at k[i], in floats, for a search."""

    N: int
    beta: float
    KL: float
    grid: float
    k: Array
    empirical: Array
    b: Array

    def values(self, m: int, delta: float) -> Array:
        """The certificate at every k."""
        exponent = (max(self.KL, 0.0) + self.grid + math.log(xi(m) / delta)) / m
        return np.asarray(kl_inverses(np.clip(self.empirical, 0, 1), exponent) / np.maximum(self.b, 1e-300))

    def m_needed(self, delta: float) -> float:
        """The least m at which one of them is below 1, with the sample's margins and the KL unchanged.

        kl^-1(q, C/m) < b means m > C/kl(q, b). C contains ξ(m), which grows like sqrt(m), so this is iterated.
        """
        q, b = np.maximum(self.empirical, 0.0), np.minimum(self.b, 1 - 1e-15)
        rate = float(np.max(np.where(q < b, kl(q, b), 0.0)))
        if rate == 0:
            return math.inf
        m = 1.0
        for _ in range(20):
            m = (max(self.KL, 0.0) + self.grid + math.log((math.sqrt(math.pi * m / 2) + 1) / delta)) / rate
        return m


def least(settings: Sequence[Thresholds], m: int, delta: float) -> tuple[float, int, int, float]:
    """The least certificate among the candidates, and its N, k and β."""
    best = []
    for candidates in settings:
        values = candidates.values(m, delta)
        at = int(np.argmin(values))
        best.append((float(values[at]), int(candidates.k[at]), candidates.N, candidates.beta))
    value, k, N, beta = min(best)
    return value, N, k, beta


def m_needed(settings: Sequence[Thresholds], delta: float) -> int | None:
    """The approximate sample size at which the best candidate falls below 1; None beyond 10^18."""
    m = min(candidates.m_needed(delta) for candidates in settings)
    return math.ceil(m) if m <= LARGEST_M else None
