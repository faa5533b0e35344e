"""vote-certificate-multiclass: C classes, f_c = Σ_j v_{j,c} Ψ_j, |Ψ_j| <= 1 known beforehand.

Atoms (j, c, +-), A = 2 n_0 C of them; θ in the simplex with Σ θ s Ψ_j over class c = f_c/B', p_c the mass of class c.
Counts are Poisson(N θ_a) under Q and negative binomial under P (`counts_kl`), so that the g_c are independent
Skellam(N(p_c + f_c/B')/2, N(p_c - f_c/B')/2). The loss is 1{min_{c != y} (g_y - g_c) <= k}, k >= 0; an error is
f_y <= max_{c != y} f_c.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.certificates.derandomise import Certificate, Thresholds, certificate, least
from adanet_theory.certificates.grids import BETAS, CLASS_VOTES, check_setting, classes_grid
from adanet_theory.certificates.vote import by_count, expected_rising
from adanet_theory.checks import Array, check
from adanet_theory.risk.multiclass import multiclass_margins

_CELLS = 1_000_000
_SEARCHED = 5_000  # examples times classes
_EXACT = 1000  # votes times classes, up to which a search computes with the exact laws
_STEPS = np.linspace(0, 5, 21)


def counts_kl(rates: ArrayLike, *, A: int, N: int, beta: float) -> float:
    """KL of independent Poisson(r_a) against A negative binomials of mean N/A.

        KL = Σ_{r > 0} { r log r - r - E_{c ~ Poisson(r)}[lgamma(c+β) - lgamma(β)] + r log(1+b) }
             + A β log(1 + 1/b),   b = Aβ/N

    >>> round(counts_kl([1024.0] * 20, A=7840, N=20480, beta=0.003), 8)
    339.40902914
    """
    return float(counts_kls(rates, A=A, N=N, betas=(beta,))[0])


def counts_kls(rates: ArrayLike, *, A: int, N: int, betas: Sequence[float] = BETAS) -> Array:
    """counts_kl at every β."""
    r = np.asarray(rates, dtype=np.float64).ravel()
    r = np.sort(r[r != 0])
    check(bool(np.all(r > 0)) and len(r) <= A, f"at most A={A} rates, all >= 0.")
    rising = expected_rising(_poisson_masses(r), betas)
    own, total = math.fsum(r * np.log(r) - r), math.fsum(r)
    kls = []
    for beta, expected in zip(betas, rising.tolist(), strict=True):
        b = A * beta / N
        kls.append(own - expected + total * math.log1p(b) + A * beta * math.log1p(1 / b))
    return np.array(kls)


def _poisson_masses(r: Array) -> Array:
    """Σ_a P[Poisson(r_a) = c] at every count c; r sorted, so that a chunk has windows alike."""
    from scipy.special import gammaln

    width = math.ceil(18 * math.sqrt(r[-1])) + 27
    mass = np.zeros(math.ceil(r[-1]) + width + 1)
    log_factorial = gammaln(np.arange(len(mass)) + 1.0)
    for chunk in np.array_split(r, math.ceil(len(r) * width / 200_000)):
        spread = 9 * np.sqrt(chunk)
        first = np.maximum(0, np.floor(chunk - spread - 5)).astype(int)
        c = first[:, None] + np.arange(math.ceil(2 * spread[-1]) + 27)
        mass += by_count(c, np.exp(c * np.log(chunk)[:, None] - chunk[:, None] - log_factorial[c]), len(mass))
    return mass


def classes_b(p: ArrayLike, N: float, k: int, shift: float = 0.0) -> float:
    """b = P[S + J <= k, J <= k], S ~ Skellam(Nπ/2, Nπ/2), J ~ Poisson(Nε), π the sum of the two largest p_c.

    ε = `shift`: a program errs only where f_y - f_c <= ε B' for some c, and J = 0 where program and f are one.

    >>> round(classes_b([0.05, 0.03, 0.02], 25_000, 60), 12)  # Skellam(1000, 1000)
    0.911953379051
    >>> round(classes_b([0.05, 0.03, 0.02], 25_000, 60, shift=1e-4), 12)
    0.90254136915
    """
    check(shift >= 0, f"shift must be >= 0, got shift={shift}.")
    half, mean = _symmetric_half(N * _two_largest(p)), N * shift
    if mean == 0:
        return 1 - math.fsum(half[k + 1 :])
    masses = enumerate(_poisson_to(k, mean))
    return math.fsum(mass * (1 - math.fsum(half[k - j + 1 :])) for j, mass in masses if mass > 0)


def _poisson_to(k: int, mean: float) -> list[float]:
    """P[Poisson(mean) = j] for j = 0 .. k."""
    from scipy.special import gammaln, xlogy

    j = np.arange(k + 1)
    return list(np.exp(xlogy(j, mean) - mean - gammaln(j + 1.0)).tolist())


def _symmetric_half(size: float) -> Array:
    """P[Skellam(size/2, size/2) = x] = exp(-size) I_x(size) for x = 0, 1, .. up to nine standard deviations."""
    from scipy.special import ive

    return np.asarray(ive(np.arange(math.ceil(9 * math.sqrt(size) + 20) + 1), size))


def _two_largest(p: ArrayLike) -> float:
    return float(np.sort(np.asarray(p, dtype=np.float64))[-2:].sum())


def classes_empirical(scores: Array, y: ArrayLike, p: ArrayLike, N: float, k: int) -> float:
    """(1/m) Σ_i { 1 - Σ_t P(g_y = t) Π_{c != y} P(g_c <= t-k-1) }, exactly; scores[i, c] = f_c(x_i)/B'."""
    return float(np.mean(_errors(np.asarray(scores, dtype=np.float64), np.asarray(y), np.asarray(p), N, (k,))))


def _errors(scores: Array, y: np.ndarray, p: Array, N: float, ks: Sequence[int]) -> Array:
    """P(loss = 1) of every example (rows) at every k."""
    a, b = N * (p + scores) / 2, N * (p - scores) / 2
    chunk = max(1, int(_CELLS / (p.size * (18 * math.sqrt(N * float(p.max())) + 60))))
    return np.concatenate(
        [_block(a[i : i + chunk], b[i : i + chunk], y[i : i + chunk], ks) for i in range(0, len(y), chunk)]
    )


def _block(a: Array, b: Array, y: np.ndarray, ks: Sequence[int]) -> Array:
    first, masses = skellam_masses(a, b)
    rows, window = np.arange(len(y)), masses.shape[-1]
    below = np.minimum(np.cumsum(masses, axis=-1), 1.0)
    missed = []
    for k in ks:
        right = masses[rows, y].copy()
        at = (first[rows, y][:, None] - first - k - 1)[..., None] + np.arange(window)
        for c in range(a.shape[1]):
            others = np.take_along_axis(below[:, c], np.clip(at[:, c], 0, window - 1), axis=1)
            right *= np.where((y == c)[:, None], 1.0, np.where(at[:, c] >= 0, others, 0.0))
        missed.append(1 - right.sum(axis=1))
    return np.maximum(np.array(missed).T, 0.0)


def skellam_masses(a: Array, b: Array) -> tuple[np.ndarray, Array]:
    """P(Skellam(a, b) = t) on a window from `first` on about the mean, by P(t-1) = (b P(t+1) + t P(t))/a where a >= b.

    The recurrence is run downwards from the far end, as long as t >= 0; then P(-t) = (b/a)^t P(t).

    >>> first, masses = skellam_masses(np.array([3.0, 1.0]), np.array([1.0, 3.0]))
    >>> [round(float(mass @ (at + np.arange(len(mass)))), 12) for at, mass in zip(first, masses)]
    [2.0, -2.0]
    """
    large, small = np.maximum(np.maximum(a, b), 1e-12), np.maximum(np.minimum(a, b), 1e-12)
    half = math.ceil(9 * math.sqrt(float((large + small).max()))) + 20
    top = np.ceil(large - small).astype(int) + half
    falling = np.zeros((2 * half + 3, *large.shape))  # P(top - j) in row j + 1, but for a factor
    falling[1] = 1e-250
    for j in range(1, 2 * half + 2):
        t = np.maximum(top - j + 1, 0)
        falling[j + 1] = (small * falling[j - 1] + t * falling[j]) / large
        grown = falling[j + 1] > 1e200
        if grown.any():
            falling[:, grown] *= 1e-250
    t = top - np.arange(2 * half + 1)[(slice(None), *[None] * large.ndim)]
    mirrored = np.take_along_axis(falling[1:-1], top - np.abs(t), axis=0)  # -top <= t <= top
    masses = mirrored * np.where(t < 0, (small / large) ** np.maximum(-t, 0), 1.0)
    masses /= masses.sum(axis=0)
    first = np.where(a >= b, top - 2 * half, -top)
    return first, np.where((a >= b)[..., None], np.moveaxis(masses[::-1], 0, -1), np.moveaxis(masses, 0, -1))


def _normal_errors(scores: Array, y: np.ndarray, p: Array, N: float, ks: Sequence[int]) -> Array:
    """_errors with normal laws in place of the Skellam laws, for a search: 1 - E Π_c Φ((g_y - k - 1/2 - N f_c)/s_c)."""
    from scipy.special import ndtr, roots_hermitenorm

    nodes, weights = roots_hermitenorm(16)
    deviation = np.sqrt(np.maximum(N * p, 1e-9))
    own = N * scores[np.arange(len(y)), y][:, None] + deviation[y][:, None] * nodes
    shift = np.asarray(ks)[:, None, None] + 0.5
    right = np.ones((len(ks), *own.shape))
    for c in range(p.size):
        right *= np.where((y == c)[:, None], 1.0, ndtr((own - shift - N * scores[:, c : c + 1]) / deviation[c]))
    return np.asarray(1 - right @ (weights / weights.sum())).T


def vote_certificate_multiclass_at(
    scores: Array,
    y: ArrayLike,
    theta: ArrayLike,
    p: ArrayLike,
    *,
    A: int,
    N: int,
    k: int,
    beta: float,
    delta: float,
    shift: float = 0.0,
) -> Certificate:
    """vote-certificate-multiclass at one setting of the grid; theta lists the atoms > 0, p their mass by class.

    R(f) <= kl^-1( q, [KL + log(ξ(m) G/δ)]/m ) / P[Skellam(Nπ/2, Nπ/2) <= k],   G = 25 · 6 · (N+1)

    `shift` is that of `classes_b`.
    """
    check_setting(N, beta, priors=BETAS, votes=CLASS_VOTES)
    check(0 <= k <= N, f"k must be in [0, N], got k={k}, N={N}.")
    masses = _check(scores, p)
    empirical = classes_empirical(scores, y, masses, N, k)
    KL = counts_kl(N * np.asarray(theta, dtype=np.float64), A=A, N=N, beta=beta)
    parts = {"KL": KL, "grid": classes_grid(N), "b": classes_b(masses, N, k, shift)}
    return certificate(
        "vote-certificate-multiclass", empirical, **parts, m=len(scores), delta=delta, N=N, k=k, beta=beta
    )


def _check(scores: Array, p: ArrayLike) -> Array:
    masses = np.asarray(p, dtype=np.float64)
    check(abs(math.fsum(masses) - 1) <= 1e-9 and bool(np.all(masses >= 0)), "p must be >= 0 and sum to 1.")
    check(bool(np.all(np.abs(scores) <= masses * (1 + 1e-9) + 1e-15)), "|f_c/B'| must be at most p_c.")
    return masses


def vote_certificate_multiclass(
    scores: Array, y: ArrayLike, theta: ArrayLike, p: ArrayLike, *, A: int, delta: float
) -> Certificate:
    """vote-certificate-multiclass at the best setting of the grid that a search finds; every setting is paid for.

    Parameters
    ----------
    scores
        f_c(x_i)/B', one row for each point and one column for each class.
    y
        Index of the true class of each point.
    theta
        Weights of the atoms that are > 0; their sum is 1.
    p
        Mass of the atoms of each class; the sum is 1.
    A
        Number of atoms, those without weight included: 2 n_0 C.
    delta
        Probability in (0, 1) with which the statement may fail.

    Returns
    -------
    Certificate
        The bound with its terms; `.value` is cut at 1.

    Raises
    ------
    ValueError
        If the scores or the masses do not fit together.
    """
    labels, masses = np.asarray(y), _check(scores, p)
    _, N, k, beta = least(classes_candidates(scores, labels, theta, masses, A=A), len(labels), delta)
    return vote_certificate_multiclass_at(scores, labels, theta, masses, A=A, N=N, k=k, beta=beta, delta=delta)


def classes_candidates(scores: Array, y: ArrayLike, theta: ArrayLike, p: ArrayLike, *, A: int) -> list[Thresholds]:
    """For every N the β of least KL, and k up to five standard deviations, on points spread evenly over the margins."""
    labels, masses = np.asarray(y), np.asarray(p, dtype=np.float64)
    wanted = min(len(labels), 150, max(10, _SEARCHED // masses.size))
    every = np.unique(np.linspace(0, len(labels) - 1, wanted).astype(int))
    order = np.argsort(multiclass_margins(scores, labels), kind="stable")[every]
    candidates = []
    for N in CLASS_VOTES:
        KL = counts_kls(N * np.asarray(theta, dtype=np.float64), A=A, N=N)
        beta = int(np.argmin(KL))  # the least KL is the least certificate at every k
        k = np.unique((_STEPS * math.sqrt(N * _two_largest(masses))).astype(int))
        k = k[k <= N]
        errors = _errors if N * masses.size <= _EXACT else _normal_errors
        empirical = errors(scores[order], labels[order], masses, N, k.tolist()).mean(axis=0)
        b = np.array([classes_b(masses, N, at) for at in k.tolist()])
        candidates.append(Thresholds(N, BETAS[beta], float(KL[beta]), classes_grid(N), k, empirical, b))
    return candidates
