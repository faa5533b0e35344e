"""vote-certificate: a network linear in features |Ψ_j| <= 1 known beforehand, f = Σ_j v_j Ψ_j.

2 n_0 = n signed voters s_j Ψ_j; θ in the simplex with Σ_j θ_j s_j Ψ_j = f/B', B' > 0: θ = |v|/||v||_1, B' = ||v||_1, or
any other representation. A hypothesis is a sequence (j_t, U_t), t <= N, that votes +1 iff s_j Ψ_j(x) > U_t; under Q
the j_t are iid θ and the U_t iid uniform on [-1, 1], so the right votes on (x, y) are Bin(N, (1 + y f(x)/B')/2).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from adanet_theory.certificates.derandomise import Certificate, Thresholds, certificate, least
from adanet_theory.certificates.grids import BETAS, IID, PRIORS, VOTES, check_setting, vote_grid
from adanet_theory.checks import Array, check

_GROUPS = 256  # margins are searched in groups of neighbours; the setting found is evaluated at all of them
_STEPS = np.linspace(-2, 5, 29)  # k = N/2 + step sqrt(N)/2
_CELLS = 200_000


def vote_empirical(u: ArrayLike, N: int, k: int) -> float:
    """(1/m) Σ_i P[Bin(N, (1+u_i)/2) <= k], for the margins u_i = y_i f(x_i)/B' in [-1, 1].

    >>> round(vote_empirical([0.02], 20480, 10347), 12)
    0.086907684255
    """
    return float(np.mean(_right_votes_cdf(np.asarray(u, dtype=np.float64), N, k)))


def vote_b(N: int, k: int, shift: float = 0.0) -> float:
    """b = P[Bin(N, (1+ε)/2) <= k], ε = `shift`.

    A program whose outputs are within e of f errs only where u <= ε = e/B'.

    >>> round(vote_b(20480, 10347), 12), round(vote_b(20480, 10347, shift=1e-3), 12)
    (0.933498675491, 0.912967443487)
    """
    check(0 <= shift <= 1, f"shift must be in [0, 1], got shift={shift}.")
    return float(_right_votes_cdf(np.asarray(shift), N, k))


def vote_kl_iid(theta: ArrayLike, N: int, *, n: int) -> float:
    """KL_N = N Σ_j θ_j log(n θ_j): N voters drawn iid θ against iid uniform on the n signed voters.

    >>> round(vote_kl_iid([0.05] * 20, 113, n=1568), 11)
    492.88610379127
    """
    from scipy.special import xlogy

    weights = _simplex(theta, n)
    return N * math.fsum(xlogy(weights, n * weights))


def vote_kl_polya(theta: ArrayLike, N: int, *, n: int, beta: float) -> float:
    """KL_N against a Polya urn with β balls of each of the n signed voters.

        KL_N = N Σ θ_j log θ_j + lgamma(nβ+N) - lgamma(nβ) - Σ_j E_{c ~ Bin(N, θ_j)} [lgamma(c+β) - lgamma(β)]

    >>> round(vote_kl_polya([0.05] * 20, 20480, n=1568, beta=0.003), 7)
    197.0717715
    >>> round(vote_kl_polya([0.05] * 20, 113, n=1568, beta=0.003), 8)
    121.59635645
    """
    check(beta > 0, f"beta must be > 0, got beta={beta}.")
    return float(_polya(_simplex(theta, n), N, n, (beta,))[0])


def vote_kl(theta: ArrayLike, N: int, *, n: int, beta: float) -> float:
    """KL_N of the Polya prior at β, or of the iid prior at β = 0."""
    return vote_kl_iid(theta, N, n=n) if beta == IID else vote_kl_polya(theta, N, n=n, beta=beta)


def vote_certificate_at(
    u: ArrayLike, theta: ArrayLike, *, n: int, N: int, k: int, beta: float, delta: float, shift: float = 0.0
) -> Certificate:
    """vote-certificate at one setting of the grid: N votes, at most k of them right, β (0: the iid prior).

        R(f) <= kl^-1( (1/m) Σ_i P[Bin(N, (1+u_i)/2) <= k], [KL_N + log(ξ(m) G/δ)]/m ) / P[Bin(N, 1/2) <= k]

    G = 25 (N+1) 7. `theta` may leave out voters without weight; n counts them. `shift` is that of `vote_b`.

    >>> found = vote_certificate_at([0.02] * 12_000, [0.05] * 20, n=1568, N=20480, k=10347, beta=0.003, delta=0.05)
    >>> round(found.raw, 10)
    0.1615391277
    """
    check_setting(N, beta)
    check(0 <= k < N, f"k must be in [0, N), got k={k}, N={N}.")
    margins = _margins(u)
    parts = {"KL": vote_kl(theta, N, n=n, beta=beta), "grid": vote_grid(N), "b": vote_b(N, k, shift)}
    empirical = vote_empirical(margins, N, k)
    return certificate("vote-certificate", empirical, **parts, m=len(margins), delta=delta, N=N, k=k, beta=beta)


def vote_certificate(u: ArrayLike, theta: ArrayLike, *, n: int, delta: float) -> Certificate:
    """vote-certificate at the best setting of the grid that a search finds; every setting is paid for.

    Parameters
    ----------
    u
        Margins y_i f(x_i)/B' in [-1, 1], B' = r_sup ||w||_1.
    theta
        Weights of the voters, >= 0 with sum 1; voters without weight may be left out.
    n
        Number of voters, those without weight included: 2 n_0 for a linear network.
    delta
        Probability in (0, 1) with which the statement may fail.

    Returns
    -------
    Certificate
        The bound with its terms; `.value` is cut at 1.

    Raises
    ------
    ValueError
        If a margin or a weight is outside its range.

    Examples
    --------
    >>> found = vote_certificate([0.02] * 12_000, [0.05] * 20, n=1568, delta=0.05)
    >>> found.terms["N"], found.terms["beta"], round(found.raw, 10)
    (115852, 0.001, 0.0195819859)
    """
    N, k, beta = vote_setting(u, vote_candidates(u, theta, n=n), delta=delta)
    return vote_certificate_at(u, theta, n=n, N=N, k=k, beta=beta, delta=delta)


def _margins(values: ArrayLike) -> Array:
    u = np.asarray(values, dtype=np.float64)
    check(u.ndim == 1 and len(u) >= 1, "the margins must be a list of at least one number.")
    check(bool(np.all(np.abs(u) <= 1)), "a margin y f(x)/B' must be in [-1, 1]: |Psi_j| <= 1 and theta in the simplex.")
    return u


def _simplex(weights: ArrayLike, n: int) -> Array:
    theta = np.asarray(weights, dtype=np.float64).ravel()
    theta = theta[theta != 0]
    check(bool(np.all(theta > 0)) and abs(math.fsum(theta) - 1) <= 1e-9, "theta must be >= 0 and sum to 1.")
    check(len(theta) <= n, f"theta must have at most n entries > 0, got {len(theta)} with n={n}.")
    return theta


def _right_votes_cdf(u: Array, N: int, k: ArrayLike) -> Array:
    """P[Bin(N, (1+u)/2) <= k]."""
    from scipy.special import betainc

    k = np.asarray(k)
    return np.asarray(betainc(N - k, k + 1, (1 - u) / 2))


def _polya(theta: Array, N: int, n: int, betas: Sequence[float]) -> Array:
    """KL_N at every β."""
    from scipy.special import gammaln

    entropy = N * math.fsum(theta * np.log(theta))
    urn = [gammaln(n * beta + N) - gammaln(n * beta) for beta in betas]
    return np.asarray(entropy + np.array(urn) - _expected_rising(np.sort(theta), N, betas))


def _expected_rising(theta: Array, N: int, betas: Sequence[float]) -> Array:
    """Σ_j E_{c ~ Bin(N, θ_j)} [lgamma(c+β) - lgamma(β)] at every β, through Σ_j P[Bin(N, θ_j) = c]."""
    from scipy.special import gammaln

    c = np.arange(N + 1)
    log_factorial, mass = gammaln(c + 1.0), np.zeros(N + 1)
    for chunk in np.array_split(theta, math.ceil(len(theta) * _window(theta[-1:], N)[1] / _CELLS)):
        mass += _masses(chunk, N, log_factorial)
    return expected_rising(mass, betas)


def _window(theta: Array, N: int) -> tuple[np.ndarray, int]:
    """First counts and one length of windows outside which Bin(N, θ_j) has no mass that a double notices."""
    mean = N * theta
    spread = 9 * np.sqrt(mean * (1 - theta))
    first, last = np.floor(mean - spread - 5), np.ceil(mean + spread + 20)
    length = min(N + 1, int(np.max(last - first)) + 1)
    return np.clip(first.astype(int), 0, N + 1 - length), length


def _masses(theta: Array, N: int, log_factorial: Array) -> Array:
    """Σ_j P[Bin(N, θ_j) = c] at every count c."""
    from scipy.special import xlog1py, xlogy

    first, length = _window(theta, N)
    c = first[:, None] + np.arange(length)
    log_mass = log_factorial[N] - log_factorial[c] - log_factorial[N - c]
    log_mass += xlogy(c, theta[:, None]) + xlog1py(N - c, -theta[:, None])
    return by_count(c, np.exp(log_mass), N + 1)


def by_count(c: NDArray[np.int64], masses: Array, counts: int) -> Array:
    """The masses of several laws, a row each at the counts c, summed at every count; each row is one law."""
    masses = masses / masses.sum(axis=1, keepdims=True)
    return np.bincount(c.ravel(), weights=masses.ravel(), minlength=counts).astype(np.float64)


def expected_rising(mass: Array, betas: Sequence[float]) -> Array:
    """Σ_c mass(c) [lgamma(c+β) - lgamma(β)] at every β."""
    from scipy.special import gammaln

    c = np.flatnonzero(mass)
    return np.array([float(mass[c] @ (gammaln(c + beta) - gammaln(beta))) for beta in betas])


def _grouped(u: Array) -> tuple[Array, Array]:
    """At most 256 margins, means of neighbours, and their weights; the least margins, which decide, one by one."""
    edges = np.unique(np.floor(len(u) * np.linspace(0, 1, _GROUPS + 1) ** 2).astype(int))
    sizes = np.diff(edges)
    return np.add.reduceat(np.sort(u), edges[:-1]) / sizes, sizes / len(u)


def vote_candidates(u: ArrayLike, theta: ArrayLike, *, n: int) -> list[Thresholds]:
    """For every N of the grid the prior of least KL, and k about N/2 in steps of sqrt(N)/8."""
    margins, share = _grouped(_margins(u))
    weights = _simplex(theta, n)
    candidates = []
    for N in VOTES:
        KL = np.array([vote_kl_iid(weights, N, n=n), *_polya(weights, N, n, BETAS)])
        best = int(np.argmin(KL))  # the least KL is the least certificate at every k
        k = np.unique(np.minimum(np.floor(N / 2 + _STEPS * math.sqrt(N) / 2), N - 1))
        candidates.append(_candidates(margins, share, N, k, PRIORS[best], float(KL[best])))
    return candidates


def _candidates(u: Array, share: Array, N: int, k: Array, beta: float, KL: float) -> Thresholds:
    empirical = _right_votes_cdf(u, N, k[:, None]) @ share
    return Thresholds(N, beta, KL, vote_grid(N), k, empirical, _right_votes_cdf(np.zeros(len(k)), N, k))


def vote_setting(u: ArrayLike, settings: Sequence[Thresholds], *, delta: float) -> tuple[int, int, float]:
    """The best N, k, β: that of the candidates, and then the best k between the neighbours, for the three best N."""
    margins, m = _margins(u), len(np.asarray(u))
    groups, share = _grouped(margins)
    values = [candidates.values(m, delta) for candidates in settings]
    finer = []
    for i in np.argsort([float(value.min()) for value in values])[:3]:
        coarse, step = settings[i], math.ceil(math.sqrt(settings[i].N) / 8)
        centre = int(coarse.k[int(np.argmin(values[i]))])
        k = np.arange(centre - step, min(coarse.N, centre + step + 1))
        finer.append(_candidates(groups, share, coarse.N, k, coarse.beta, coarse.KL))
    return least(finer, m, delta)[1:]
