"""How often one of C independent Skellam variables comes within k of the one of the right class, rounded up.

P(t)/P(t-1) = a/D_t and P(-t)/P(-t+1) = b/D_t for X ~ Skellam(a, b), t >= 1, where from t P(t) = a P(t-1) - b P(t+1)

    D_t = t + κ_{t+1},   κ_t = ab/D_t:

all terms are >= 0, and an error of κ_{t+1} counts only by the share κ_{t+1}/D_t. So the masses follow from the centre
of the law outwards, and a bound on their errors from the recursion itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from adanet_theory.checks import Array

_CELLS = 2_000_000
_TINY = 1e-290  # more than all that underflow can lose
_UNIT = 2.0**-53


@dataclass(frozen=True)
class LowerLaws:
    """mass[j] <= P(X = first + j) for every pair of rates, and below[j] <= P(X <= first + j): arrays [window, ..]."""

    first: np.ndarray
    mass: Array
    below: Array


def lower_laws(a: Array, b: Array) -> LowerLaws:
    """The laws Skellam(a, b) for the exact values of the floats a, b >= 0, on windows of 7.5 standard deviations."""
    spread = math.sqrt(float((a + b).max()))
    half = math.ceil(7.5 * spread) + 12
    centre = np.rint(a - b).astype(np.int64)
    D, error = _denominators(a * b, int(np.abs(centre).max()) + half + 1, math.ceil(6 * spread) + 40)
    (up, beyond), (down, before) = _outwards(a, b, D, centre, half), _outwards(b, a, D, -centre, half)
    mass = np.concatenate([down[::-1], np.ones((1, *a.shape)), up])
    total = mass.sum(axis=0) + beyond + before + _TINY
    # 2 half + 1 ratios for a mass and for the total, each with `error` and four roundings; a sum of the window
    mass = mass / total * (1 - (2 * half + 4) * (2 * error + 16 * _UNIT))
    below = np.cumsum(mass, axis=0) * (1 - (2 * half + 4) * 2 * _UNIT)
    return LowerLaws(centre - half, np.maximum(mass - _TINY, 0.0), np.maximum(below - _TINY, 0.0))


def _denominators(product: Array, last: int, more: int) -> tuple[Array, float]:
    """D_t for t = 1 .. last (row t), and a bound on |log(D_t/exact)| for all of them, begun `more` steps further out.

    There κ is in [0, ab/(t+1)] and 0 is taken. log(t + κ) moves by the share κ/(t+κ) of a move of log κ.
    """
    D = np.empty((last + 1, *product.shape))
    start = last + more
    error = math.log1p(float(product.max()) / start / (start + 1)) + 4 * _UNIT
    here, worst = np.full(product.shape, float(start)), 0.0
    for t in range(start - 1, 0, -1):
        kappa = product / here
        largest = float(kappa.max()) * math.exp(min(error, 50.0))
        error = error * largest / (t + largest) * (1 + 8 * _UNIT) + 4 * _UNIT
        here = t + kappa
        if t <= last:
            D[t], worst = here, max(worst, error)
    return D, worst


def _outwards(a: Array, b: Array, D: Array, centre: np.ndarray, half: int) -> tuple[Array, Array]:
    """P(centre + j)/P(centre) for j = 1 .. half, and what all beyond are at most: their ratios fall.

    The ratio is a/D_t for t >= 1, and D_{1-t}/b for t <= 0, where b > 1/2 as the mean is below.
    """
    t = centre + np.arange(1, half + 1)[:, None, None]
    at = np.take_along_axis(D, np.maximum(t, 1 - t), axis=0)
    ratios = np.divide(a, at)
    np.divide(at, b, out=ratios, where=t <= 0)
    last = ratios[-1] * (1 + 2.0**-20)
    found = np.cumprod(ratios, axis=0, dtype=np.float64)
    return found, np.where(last < 1, found[-1] * last / np.maximum(1 - last, 2.0**-30), math.inf)


def class_loss_upper(a: Array, b: Array, y: np.ndarray, k: int) -> float:
    """A float >= (1/m) Σ_i { 1 - Σ_t P(g_y = t) Π_{c != y} P(g_c <= t-k-1) }, g_c ~ Skellam(a_ic, b_ic) exactly."""
    width = 2 * (7.5 * math.sqrt(float((a + b).max())) + 12) + float(np.abs(a - b).max()) + 60
    chunk = max(1, int(_CELLS / (width * a.shape[1])))
    losses = [_losses_upper(a[i : i + chunk], b[i : i + chunk], y[i : i + chunk], k) for i in range(0, len(y), chunk)]
    return min(1.0, math.fsum(np.concatenate(losses)) / len(y) * (1 + 4 * _UNIT))


def _losses_upper(a: Array, b: Array, y: np.ndarray, k: int) -> Array:
    laws, rows, C = lower_laws(a, b), np.arange(len(y)), a.shape[1]
    window = np.arange(len(laws.mass))[:, None]
    right = laws.mass[:, rows, y]
    reach = laws.first[rows, y] + window - k - 1
    for c in range(C):
        at = reach - laws.first[:, c]
        below = np.take_along_axis(laws.below[:, :, c], np.clip(at, 0, len(window) - 1), axis=0)
        right = right * np.where(y == c, 1.0, np.where(at >= 0, below, 0.0))
    return np.minimum(1.0, 1 - right.sum(axis=0) * (1 - (C + len(window) + 4) * 2 * _UNIT) + 2 * _UNIT)
