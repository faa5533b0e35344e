"""The lower tail of the binomial law in logs, and its inverse: Clopper-Pearson, held-out data and description length.

    log P[Bin(N, p) <= k]   and   max{ p : P[Bin(N, p) <= k] >= δ }, from log δ, because δ itself may underflow

A mass is computed in Loader's saddle-point form, whose terms do not cancel (C. Loader, Fast and accurate computation of
binomial probabilities, 2000). A tail is its last mass times a sum of products of ratios, all at most 1 on the side away
from the mean. N = 10^7 takes some tens of microseconds. The results have twelve correct digits.
"""

from __future__ import annotations

import math

import numpy as np

from adanet_theory.checks import check, check_delta

_LOST = 40.0
"""Terms below exp(-40) times the first are left out of a sum, because they are below its last bit."""


def log_mass(k: int, N: int, p: float) -> float:
    """log P[Bin(N, p) = k] for 0 < p < 1.

    >>> math.isclose(log_mass(3, 10, 0.25), math.log(math.comb(10, 3) * 0.25**3 * 0.75**7), rel_tol=1e-14)
    True
    """
    if k in (0, N):
        return N * (math.log1p(-p) if k == 0 else math.log(p))
    deviance = _deviance(k, N * p) + _deviance(N - k, N * (1 - p))
    error = _stirling(N) - _stirling(k) - _stirling(N - k)
    return error - deviance + math.log(N / (2 * math.pi * k * (N - k))) / 2


def _deviance(x: int, mean: float) -> float:
    """x log(x/mean) + mean - x, which is >= 0."""
    v = (mean - x) / x
    return x * (v - (math.log1p(v) if abs(v) < 0.5 else math.log(mean / x)))


def _stirling(n: int) -> float:
    """log n! - log(sqrt(2πn) (n/e)^n), n >= 1."""
    if n < 16:
        return math.lgamma(n + 1) - (n + 0.5) * math.log(n) + n - math.log(2 * math.pi) / 2
    square = 1 / (n * n)
    return (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / n


def below_over_mass(k: int, N: int, odds: float) -> float:
    """P[Bin(N, p) < k] / P[Bin(N, p) = k] = Σ_{i>=1} Π_{j<i} (k-j)/(N-k+1+j) odds, odds = (1-p)/p.

    k is at most about the mean, so that the products fall.

    >>> below_over_mass(0, 10, 3.0), math.isclose(below_over_mass(1, 10, 3.0), 0.75**10 / (10 * 0.25 * 0.75**9))
    (0.0, True)
    """
    if k == 0:
        return 0.0
    fall = -math.log(min(1.0, k * odds / (N - k + 1)))
    # The i-th product is at most exp(-fall i - i(i-1)/2k).
    terms = min(k, 2 + int(2 * _LOST / (fall + math.sqrt(fall * fall + 2 * _LOST / k))))
    j = np.arange(terms)
    return float(np.cumprod((k - j) / (N - k + 1 + j) * odds).sum())


def log_tail(k: int, N: int, p: float) -> float:
    """log P[Bin(N, p) <= k] for 0 < p < 1 and 0 <= k <= N.

    >>> log_tail(3, 3, 0.5), math.isclose(log_tail(0, 10**7, 0.5), 10**7 * math.log(0.5))
    (0.0, True)
    """
    if k == N:
        return 0.0
    if k < N * p:
        return min(0.0, log_mass(k, N, p) + math.log1p(below_over_mass(k, N, (1 - p) / p)))
    above = log_mass(k + 1, N, p) + math.log1p(below_over_mass(N - k - 1, N, p / (1 - p)))
    return math.log1p(-min(math.exp(above), 1 - 2.0**-53))


def tail_inverse(k: int, N: int, log_delta: float) -> float:
    """max{ p : P[Bin(N, p) <= k] >= δ } for log δ <= 0. It is 1 at k = N, and if 1 - p is below the last bit of 1.

    The log of the tail is concave in p, so Newton's method from a p above the root falls to the root and never below.

    Parameters
    ----------
    k
        Number of errors, 0 <= k <= N.
    N
        Number of points, at least 1.
    log_delta
        Natural logarithm of δ, at most 0; -inf (δ = 0) gives 1.

    Examples
    --------
    >>> round(tail_inverse(1200, 60_000, math.log(0.05) - 2000 * math.log(2)), 14)
    0.06579902089546
    """
    check_count(k, N)
    check(log_delta <= 0, f"log_delta must be <= 0, got log_delta={log_delta}.")
    if k == N:
        return 1.0
    if k == 0:
        return -math.expm1(log_delta / N)
    p = _chernoff(k, N, -log_delta)
    for _ in range(_STEPS):
        if p >= 1:
            return 1.0
        log_cdf = log_tail(k, N, p)
        slope = (N - k) / (1 - p) * math.exp(log_mass(k, N, p) - log_cdf)
        before, p = p, p + (log_cdf - log_delta) / slope
        if before - p < CLOSE * min(p, 1 - p):
            break
    return min(p, 1.0)


_STEPS = 100
"""Five or six are needed."""
CLOSE = 2.0**-36
"""A relative step of Newton's method below this is the last: the next would be of the order of its square."""


def _chernoff(k: int, N: int, c: float) -> float:
    """A p with N kl(k/N, p) >= c, hence P[Bin(N, p) <= k] <= exp(-c).

    From kl(q, p) >= (p-q)^2/2p and kl(q, p) >= (1-q) log((1-q)/(1-p)) + q log q; the smaller of the two solutions.
    """
    q, c = k / N, c / N
    bernstein = q + c + math.sqrt(c * c + 2 * q * c)
    large = 1 - (1 - q) * math.exp(-(c - q * math.log(q)) / (1 - q))
    return min(bernstein, large)


def check_count(k: int, N: int, name: str = "k", points: str = "N") -> None:
    """Check a number of errors among a number of points."""
    check(N >= 1 and N % 1 == 0, f"{points} must be an integer >= 1, got {points}={N}.")
    check(0 <= k <= N and k % 1 == 0, f"{name} must be an integer in [0, {points}], got {name}={k}, {points}={N}.")


def clopper_pearson(errors: int, m: int, delta: float) -> float:
    """held-out: R(f) <= max{ p : P[Bin(m, p) <= errors] >= δ }, from m iid points never used in training.

    It holds with probability >= 1-δ over those points. It is the (1-δ) quantile of Beta(errors+1, m-errors).

    Parameters
    ----------
    errors
        Number of errors, 0 <= errors <= m.
    m
        Number of held-out points, >= 1.
    delta
        Probability in (0, 1) with which the statement may fail.

    Returns
    -------
    float
        Upper value of the risk; 1 at errors = m.

    Examples
    --------
    >>> round(clopper_pearson(0, 100, 0.05), 12) == round(1 - 0.05 ** (1 / 100), 12), clopper_pearson(3, 3, 0.05)
    (True, 1.0)
    """
    check_count(errors, m, "errors", "m")
    check_delta(delta)
    return tail_inverse(int(errors), int(m), math.log(delta))
