"""pick-certificate: bound the risk of a network that was trained only on points it picked, by the number of picks.

The sum of the statement is P[Bin(N, ε) > k] / (N ε P[Bin(N, ε) = k]). Its log is convex in u = -log(1-ε), so Newton's
method from a u above the root falls to the root and never below.
"""

from __future__ import annotations

import math

from adanet_theory.certificates.binomial import CLOSE, below_over_mass, check_count, log_mass
from adanet_theory.checks import check_delta


def pick_certificate(k: int, N: int, delta: float) -> float:
    """pick-certificate: R(h_T) <= ε(k), where a rule fixed beforehand picks T from N iid points, and k = |T|.

        (δ/N) Σ_{m=k..N-1} [C(m,k)/C(N,k)] (1-ε)^-(N-m) = 1,   ε(N) = 1

    It holds with probability >= 1-δ over the N points. k counts the picks and, if picking stopped early, every
    inappropriate point that is left. The points of the start count in neither k nor N.

    Parameters
    ----------
    k
        Picked points and inappropriate points that are left, 0 <= k <= N.
    N
        Points that could be picked, at least 1.
    delta
        Probability in (0, 1) with which the statement may fail; delta/G for G settings listed beforehand.

    Returns
    -------
    float
        ε(k), 1 at k = N; to about twelve digits (`twins.counted.pick_upper` rounds outward).

    Examples
    --------
    >>> round(pick_certificate(100, 12_000, 0.05), 15), pick_certificate(5, 5, 0.05)
    (0.011131397368457, 1.0)
    """
    check_count(k, N)
    check_delta(delta)
    return 1.0 if k == N else pick_root(int(k), int(N), math.log(delta))


def pick_root(k: int, N: int, log_delta: float) -> float:
    """ε(k) for k < N, from log δ < 0, because δ itself may underflow.

    >>> round(pick_root(100, 12_000, -1000 * math.log(10)), 12)
    0.204793763361
    """
    u = _above(k, N, log_delta)
    for _ in range(_STEPS):
        log_sum, slope = _log_sum(k, N, u)
        before, u = u, u - (log_delta + log_sum) / slope
        if u > before * (1 - CLOSE):
            break
    return -math.expm1(-u) if u < _ONE else 1.0


_ONE = 36.0
"""From this u on, 1 - ε is below the last bit of 1."""
_STEPS = 100
"""Four or five are needed."""


def _log_sum(k: int, N: int, u: float) -> tuple[float, float]:
    """log[(1/N) Σ_m C(m,k)/C(N,k) (1-ε)^-(N-m)] and its derivative in u."""
    eps, rest = -math.expm1(-u), math.exp(-u)
    falls = (k + 1) * rest / eps
    if k + 1 > N * eps:
        above = below_over_mass(N - k - 1, N, eps / rest)
        log_sum = math.log((N - k) / (N * (k + 1))) + u + math.log1p(above)
        return log_sum, N - k - falls * above / (1 + above)
    mass = log_mass(k, N, eps)
    tail = 1 - math.exp(mass) * (1 + below_over_mass(k, N, rest / eps))
    return math.log(tail / (N * eps)) - mass, N - k - falls + (N - k) * math.exp(mass) / tail


def _above(k: int, N: int, log_delta: float) -> float:
    """A u above the root: the term of m = k alone, or ε <= (k+2)/N, or P[Bin > k] >= 1/2 and Chernoff's bound."""
    choose = math.lgamma(N + 1) - math.lgamma(k + 1) - math.lgamma(N - k + 1)
    first = (math.log(N) - log_delta + choose) / (N - k)
    q, c = k / N, (math.log(2 * N) - log_delta) / N
    eps = max((k + 2) / N, q + c + math.sqrt(c * c + 2 * q * c))
    return min(_ONE, first, _ONE if eps >= 1 else -math.log1p(-eps))
