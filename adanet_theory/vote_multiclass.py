"""vote-certificate-multiclass: C classes, f_c = Σ_j v_{j,c} Ψ_j, |Ψ_j| <= 1 known beforehand.

Atoms (j, c, +-), A = 2 n_0 C of them; θ in the simplex with Σ θ s Ψ_j over class c = f_c/B', p_c the mass of class c.
Counts are Poisson(N θ_a) under Q and negative binomial under P (`path.path_kl`), so that the g_c are independent
Skellam(N(p_c + f_c/B')/2, N(p_c - f_c/B')/2). The loss is 1{min_{c != y} (g_y - g_c) <= k}, k >= 0; an error is
f_y <= max_{c != y} f_c.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.certificate import Certificate, certificate
from adanet_theory.checks import Array, check
from adanet_theory.grids import BETAS, VOTES, check_setting, classes_grid
from adanet_theory.kl import kl_inverses, xi
from adanet_theory.laws import symmetric_skellam
from adanet_theory.path import path_kl, path_kls

_CELLS = 4_000_000
_SEARCHED = 300
_STEPS = np.linspace(0, 5, 21)


def classes_b(p: ArrayLike, N: float, k: int) -> float:
    """b = P[Skellam(Nπ/2, Nπ/2) <= k], π the sum of the two largest p_c.

    >>> round(classes_b([0.05, 0.03, 0.02], 25_000, 60), 12)  # Skellam(1000, 1000)
    0.911953379051
    """
    return 1 - symmetric_skellam(N * _two_largest(p)).above(k)


def _two_largest(p: ArrayLike) -> float:
    return float(np.sort(np.asarray(p, dtype=np.float64))[-2:].sum())


def classes_empirical(scores: Array, y: ArrayLike, p: ArrayLike, N: float, k: int) -> float:
    """(1/m) Σ_i { 1 - Σ_t P(g_y = t) Π_{c != y} P(g_c <= t-k-1) }, exactly; scores[i, c] = f_c(x_i)/B'."""
    return float(np.mean(_errors(np.asarray(scores, dtype=np.float64), np.asarray(y), np.asarray(p), N, (k,))))


def _errors(scores: Array, y: np.ndarray, p: Array, N: float, ks: tuple[int, ...]) -> Array:
    """P(loss = 1) of every example (rows) at every k."""
    last = math.ceil(9 * math.sqrt(N * float(p.max())) + 20 + N * float(np.abs(scores).max()))
    chunk = max(1, _CELLS // (p.size * (2 * last + 1)))
    blocks = [_block(scores[i : i + chunk], y[i : i + chunk], p, N, ks, last) for i in range(0, len(y), chunk)]
    return np.concatenate(blocks)


def _block(scores: Array, y: np.ndarray, p: Array, N: float, ks: tuple[int, ...], last: int) -> Array:
    masses = skellam_masses(N * (p + scores) / 2, N * (p - scores) / 2, last)
    rows = np.arange(len(y))
    own = masses[rows, y]
    below = np.minimum(np.cumsum(masses, axis=-1), 1.0)
    below[rows, y] = 1.0
    others = below.prod(axis=1)  # P(every other g_c <= t)
    found = []
    for k in ks:
        shifted = np.zeros_like(others)
        if k + 1 < others.shape[1]:
            shifted[:, k + 1 :] = others[:, : others.shape[1] - k - 1]
        found.append(1 - (own * shifted).sum(axis=1))
    return np.clip(np.array(found).T, 0.0, 1.0)


def skellam_masses(a: Array, b: Array, last: int) -> Array:
    """P(Skellam(a, b) = t), t = -last .. last, by P(t-1) = (b P(t+1) + t P(t))/a from the far end where a >= b.

    >>> masses = skellam_masses(np.array([3.0, 1.0]), np.array([1.0, 3.0]), 30)
    >>> [round(float(masses[0] @ np.arange(-30, 31)), 12), round(float(masses[1] @ np.arange(-30, 31)), 12)]
    [2.0, -2.0]
    """
    large, small = np.maximum(np.maximum(a, b), 1e-12), np.maximum(np.minimum(a, b), 1e-12)
    half = np.zeros((*large.shape, last + 2))
    half[..., last] = 1e-250
    for t in range(last, 0, -1):
        half[..., t - 1] = (small * half[..., t + 1] + t * half[..., t]) / large
        overflow = half[..., t - 1] > 1e200
        if overflow.any():
            half[overflow] *= 1e-250
    half = half[..., : last + 1]
    ratio = (small / large)[..., None] ** np.arange(1, last + 1)
    masses = np.concatenate([(half[..., 1:] * ratio)[..., ::-1], half], axis=-1)
    masses /= masses.sum(axis=-1, keepdims=True)
    return np.where((a >= b)[..., None], masses, masses[..., ::-1])


def vote_certificate_multiclass_at(
    scores: Array, y: ArrayLike, theta: ArrayLike, p: ArrayLike, *, A: int, N: int, k: int, beta: float, delta: float
) -> Certificate:
    """vote-certificate-multiclass at one setting of the grid; theta lists the atoms > 0, p their mass by class.

    R(f) <= kl^-1( q, [KL + log(ξ(m) G/δ)]/m ) / P[Skellam(Nπ/2, Nπ/2) <= k],   G = 25 · 6 · (N+1)
    """
    check_setting(N, beta, priors=BETAS)
    check(0 <= k <= N, f"k must be in [0, N], got k={k}, N={N}.")
    masses = _check(scores, p)
    empirical = classes_empirical(scores, y, masses, N, k)
    KL = path_kl(N * np.asarray(theta, dtype=np.float64), A=A, N=N, beta=beta)
    parts = {"KL": KL, "grid": classes_grid(N), "b": classes_b(masses, N, k)}
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
    """vote-certificate-multiclass at the best setting that a search over some of the examples finds."""
    labels, masses = np.asarray(y), _check(scores, p)
    every = np.unique(np.linspace(0, len(labels) - 1, min(_SEARCHED, len(labels))).astype(int))
    order = np.argsort(_margin(scores, labels))[every]
    price = math.log(xi(len(labels)) / delta)
    found: list[tuple[float, int, int, float]] = []
    for N in VOTES:
        KL = path_kls(N * np.asarray(theta, dtype=np.float64), A=A, N=N)
        beta = int(np.argmin(KL))
        ks = tuple(sorted({int(step * math.sqrt(N * _two_largest(masses))) for step in _STEPS}))
        empirical = _errors(scores[order], labels[order], masses, N, ks).mean(axis=0)
        b = np.array([classes_b(masses, N, k) for k in ks])
        values = kl_inverses(empirical, (KL[beta] + price + classes_grid(N)) / len(labels)) / b
        found.append((float(values.min()), ks[int(values.argmin())], N, BETAS[beta]))
    _, k, N, chosen = min(found)
    return vote_certificate_multiclass_at(scores, labels, theta, masses, A=A, N=N, k=k, beta=chosen, delta=delta)


def _margin(scores: Array, y: np.ndarray) -> Array:
    """f_y - max_{c != y} f_c."""
    others = np.array(scores)
    own = others[np.arange(len(y)), y].copy()
    others[np.arange(len(y)), y] = -np.inf
    return np.asarray(own - others.max(axis=1))
