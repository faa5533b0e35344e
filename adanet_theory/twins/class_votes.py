"""The probability, rounded up, that one of C independent Skellam variables comes within k of that of the right class.

P(t)/P(t-1) = a/D_t and P(-t)/P(-t+1) = b/D_t for X ~ Skellam(a, b), t >= 1, where from t P(t) = a P(t-1) - b P(t+1)

    D_t = t + κ_{t+1},   κ_t = ab/D_t:

All terms are >= 0, and an error of κ_{t+1} counts only by the share κ_{t+1}/D_t. So the recursion gives the masses from
the centre of the law outwards, and a bound on their errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import flint
import numpy as np
from flint import arb

from adanet_theory.checks import Array
from adanet_theory.twins.tails import BITS, down, slack, up

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
    """P(centre + j)/P(centre) for j = 1 .. half, and an upper value of all beyond, because their ratios fall.

    The ratio is a/D_t for t >= 1, and D_{1-t}/b for t <= 0, where b > 1/2 as the mean is below.
    """
    t = centre + np.arange(1, half + 1)[:, None, None]
    at = np.take_along_axis(D, np.maximum(t, 1 - t), axis=0)
    ratios = np.divide(a, at)
    np.divide(at, b, out=ratios, where=t <= 0)
    last = ratios[-1] * (1 + 2.0**-20)
    products = np.cumprod(ratios, axis=0, dtype=np.float64)
    return products, np.where(last < 1, products[-1] * last / np.maximum(1 - last, 2.0**-30), math.inf)


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


def lead_lower(size: arb, k: int, mean: arb) -> float:
    """A float <= P(S + J <= k, J <= k), S ~ Skellam(size/2, size/2), J ~ Poisson(mean), k >= 0.

    All but the first few masses of J may be left out.
    P(X = x) = exp(-size) I_|x|(size) = P(X = 0) r_1 .. r_x with r_x = I_x/I_{x-1}. From I_{x-1} = I_{x+1} + (2x/size)
    I_x, r_x = 1/(2x/size + r_{x+1}): from 0 <= r <= 1 far out the two ends meet on the way down. The law is log-concave
    (a sum of Poisson variables), so the r_x fall, and a geometric series bounds the mass beyond a window.
    """
    half, outside = _half_upper(size)

    def below(j: int) -> float:
        above = min(1.0, (math.fsum(half[j + 1 :]) + outside) * slack(1))
        with flint.ctx.workprec(BITS):
            return max(0.0, down(1 - arb(above)))

    if mean == 0:
        return below(k)
    with flint.ctx.workprec(BITS):
        masses = [(-mean).exp() * mean**j / arb(math.factorial(j)) for j in range(min(k, 100) + 1)]
        return max(0.0, down(sum((p * arb(below(k - j)) for j, p in enumerate(masses)), arb(0))))


def _half_upper(size: arb) -> tuple[Array, float]:
    """Floats >= P(X = x) for x = 0, 1, .. of the symmetric law, and one >= the mass beyond them, on both sides."""
    if size == 0:
        return np.ones(1), 0.0
    with flint.ctx.workprec(BITS):
        root = math.sqrt(float(size))
        last = math.ceil(9 * root) + 20
        top = up((-size).exp() * size.bessel_i(0))
        least, most = down(2 / size), up(2 / size)
    low, high, ratios = 0.0, 1.0, []
    for x in range(last + math.ceil(6 * root) + 40, 0, -1):
        low, high = 1 / (x * most + high) / slack(1), 1 / (x * least + low) * slack(1)
        ratios.append(min(high, 1.0))
    ratios.reverse()
    half = np.cumprod(np.array([top, *ratios[:last]])) * slack(last + 1) + 1e-300
    return half, float(2 * half[-1] * ratios[last] / (1 - ratios[last]) * slack(4))
