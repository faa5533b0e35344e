"""gauss-certificate: f = w · φ, linear in a feature map φ fixed beforehand, of any range.

Q = N(w, diag s_j^2), P = N(0, I), so that g(x) ~ N(f(x), s(x)^2), s(x)^2 = Σ_j s_j^2 φ_j(x)^2. The loss is
1{y g(x) <= τ ||φ(x)||}, τ >= 0 from a grid. It must not depend on Q: with the threshold τ s(x), which looks the same at
s = 1, the statement is false (claim gauss-draft).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.certificates.derandomise import Certificate, certificate
from adanet_theory.certificates.grids import TAUS, gauss_grid
from adanet_theory.certificates.kl import kl_inverses, xi
from adanet_theory.checks import Array, check, check_nonnegative

_SCALES = np.geomspace(0.1, 1e4, 241)


def gauss_kl(w: ArrayLike, s: ArrayLike) -> float:
    """KL(N(w, diag s^2) || N(0, I)) = Σ_j [ (w_j^2 + s_j^2)/2 - 1/2 - log s_j ].

    >>> gauss_kl([3.0, 4.0], [1.0, 1.0]), round(gauss_kl([0.0], [0.5]), 12)
    (12.5, 0.31814718056)
    """
    w, s = np.broadcast_arrays(np.asarray(w, dtype=np.float64), np.asarray(s, dtype=np.float64))
    check(bool(np.all(s > 0)), "s_j must be > 0.")
    return math.fsum((w**2 + s**2) / 2 - 0.5 - np.log(s))


def gauss_empirical(margins: ArrayLike, norms: ArrayLike, deviations: ArrayLike, tau: float) -> float:
    """(1/m) Σ_i Φ( (τ ||φ_i|| - y_i f_i)/s(x_i) ); a point with φ = 0 counts 1.

    >>> gauss_empirical([0.0, 5.0], [1.0, 0.0], [1.0, 0.0], 0.0)
    0.75
    """
    from scipy.special import ndtr

    u, size, s = (np.asarray(values, dtype=np.float64) for values in (margins, norms, deviations))
    there = size > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.mean(np.where(there, ndtr((tau * size - u) / s), 1.0)))


def gauss_b(tau: float, s_max: float = 1.0) -> float:
    """b = Φ(τ/max_j s_j).

    >>> gauss_b(0.0), round(gauss_b(1.0), 12)
    (0.5, 0.841344746069)
    """
    from scipy.special import ndtr

    return float(ndtr(tau / s_max))


def gauss_certificate_at(
    margins: ArrayLike, norms: ArrayLike, deviations: ArrayLike, *, KL: float, s_max: float, tau: float, delta: float
) -> Certificate:
    """gauss-certificate at one τ of the grid, for y_i f(x_i), ||φ(x_i)||, s(x_i), the KL and the largest s_j of one Q.

        R(f) <= kl^-1( (1/m) Σ_i Φ((τ||φ_i|| - y_i f_i)/s(x_i)), [KL + log(ξ(m) G/δ)]/m ) / Φ(τ/max_j s_j),  G = 13

    >>> found = gauss_certificate_at([9.0] * 2000, [1.0] * 2000, [1.0] * 2000, KL=40.5, s_max=1.0, tau=2.0, delta=0.05)
    >>> round(found.raw, 12)
    0.025314162346
    """
    check(tau in TAUS, f"tau must be on the grid {TAUS[0]} .. {TAUS[-1]}, got tau={tau}.")
    empirical, m = gauss_empirical(margins, norms, deviations, tau), len(np.asarray(margins))
    parts = {"KL": KL, "grid": gauss_grid(), "b": gauss_b(tau, s_max)}
    return certificate("gauss-certificate", empirical, **parts, m=m, delta=delta, tau=tau)


def gauss_certificate(margins: ArrayLike, norms: ArrayLike, size: float, *, delta: float) -> Certificate:
    """gauss-certificate at s = 1, w rescaled to the length a > 0, at the a and τ that a search finds; size = ||w||_2.

    A positive factor changes no sign of f, and Q may be any: a costs nothing, KL = a^2/2.

    >>> round(gauss_certificate([0.2] * 2000, [1.0] * 2000, 0.5, delta=0.05).raw, 6)
    0.041146
    """
    tau, a = gauss_setting(margins, norms, size, delta=delta)
    scaled = np.asarray(margins, dtype=np.float64) * (a / size)
    return gauss_certificate_at(scaled, norms, norms, KL=a**2 / 2, s_max=1.0, tau=tau, delta=delta)


def gauss_setting(margins: ArrayLike, norms: ArrayLike, size: float, *, delta: float) -> tuple[float, float]:
    """The best τ of the grid and length a of w at s = 1, searched in floats."""
    check_nonnegative("||w||", size)
    check(size > 0, "w must not be 0.")
    u, norm = (np.asarray(values, dtype=np.float64) for values in (margins, norms))
    cosine = np.divide(u, norm * size, out=np.full_like(u, -np.inf), where=norm > 0)
    price = math.log(xi(len(u)) / delta) + gauss_grid()
    tables = [_table(cosine, tau, price) for tau in TAUS]
    best = int(np.argmin([table.min() for table in tables]))
    return TAUS[best], float(_SCALES[int(tables[best].argmin())])


def _table(cosine: Array, tau: float, price: float) -> Array:
    """The certificate at every length a."""
    from scipy.special import ndtr

    edges = np.unique(np.floor(len(cosine) * np.linspace(0, 1, 257) ** 2).astype(int))
    groups, share = np.sort(cosine)[edges[:-1]], np.diff(edges) / len(cosine)
    empirical = ndtr(tau - _SCALES[:, None] * groups) @ share
    exponent = (_SCALES**2 / 2 + price) / len(cosine)
    return np.asarray(kl_inverses(np.minimum(empirical, 1.0), exponent) / ndtr(tau))
