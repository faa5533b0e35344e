"""Tails and expectations of certificates, rounded outward: balls for single numbers, arrays for thousands.

An array starts from masses that balls enclose and continues by ratios of non-negative floats. Every operation errs by
at most a factor 1 + 2^-53. So after t steps of fewer than 8 operations the result is within (1 + 2^-53)^(8t)
(`slack`), whatever the order of the sums. A geometric series bounds the mass outside a window, or that mass is safe to
leave out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import flint
import numpy as np
from flint import arb

from adanet_theory.checks import Array, check

BITS = 128
_MOST = 20_000
_LOGS = 1024
_TINY = 1e-290  # more than all that underflow can lose


def slack(steps: int) -> float:
    """A float >= (1 + 2^-53)^(8 steps) for steps <= 2^40: 1 + 2^-49 steps."""
    return 1 + (steps + 2) * 2.0**-49


def up(x: arb) -> float:
    """The least float at or above the ball, or inf."""
    value = float(x.upper())
    return math.nextafter(value, math.inf)


def down(x: arb) -> float:
    """A float at or below the ball."""
    return math.nextafter(float(x.lower()), -math.inf)


def kl_ball(q: arb, p: arb) -> arb:
    """kl(q, p) for 0 < q < 1 and 0 < p < 1."""
    return q * (q / p).log() + (1 - q) * ((1 - q) / (1 - p)).log()


def kl_inverse_ball(q: arb, c: arb) -> arb:
    """max{ p : kl(q, p) <= c }: Newton's method proposes an end, a certain comparison of balls decides it."""
    if q == 0:
        return 1 - (-c).exp()
    if c == 0 or q == 1:
        return q
    low, high = _kl_end(q.lower(), c.lower(), -1), _kl_end(q.upper(), c.upper(), 1)
    return low.union(high)


def _kl_end(q: arb, c: arb, side: int) -> arb:
    """A p with kl(q, p) > c (side = 1) or < c (side = -1), as near the root as the precision allows."""
    q, c = q.mid(), c.mid()
    if q >= 1:
        return arb(1)
    if q <= 0:
        return 1 - (-c).exp() if q == 0 else arb(0)
    p = _kl_newton(q, c)
    gap = (1 - p) * arb(2) ** (20 - flint.ctx.prec)
    while True:
        end = (p + side * gap).mid()
        if end >= 1:
            return arb(1)
        if end <= q:
            return q
        value = kl_ball(q, end)
        if (value > c) if side > 0 else (value < c):
            return end
        gap *= 16


def _kl_newton(q: arb, c: arb) -> arb:
    """A p near the root: Newton's method from the right falls to the root of a convex increasing function."""
    from adanet_theory.certificates.kl import kl_inverse

    p = arb(min(kl_inverse(min(1.0, max(0.0, float(q))), float(c)), 1 - 2.0**-53))
    for _ in range(60):
        slope = (1 - q) / (1 - p) - q / p
        if not slope > 0:
            break
        step = ((kl_ball(q, p) - c) / slope).mid()
        p = (p - step).mid()
        if abs(step) < (1 - p) * arb(2) ** (16 - flint.ctx.prec):
            break
    return p


def xi_ball(m: int) -> arb:
    """xi(m) = sum_j prod_{i<j} (1 - i/m), j <= m (Abel); the terms fall, so the rest is at most m times the last."""
    product, total = arb(1), arb(1)
    for i in range(m):
        product *= arb(m - i) / m
        total += product
        if product * m < arb(2) ** (-flint.ctx.prec):
            return total + (product * m).union(arb(0))
    return total


def binomial_mass(N: int, c: int, p: arb, rest: arb | None = None) -> arb:
    """P[Bin(N, p) = c] for 0 < p < 1; give rest = 1 - p if it is known better than by subtraction."""
    log_rest = (1 - p if rest is None else rest).log()
    return (_log_choose(N, c, flint.ctx.prec) + c * p.log() + (N - c) * log_rest).exp()


@lru_cache(maxsize=4096)
def _log_choose(N: int, c: int, bits: int) -> arb:
    return arb(N + 1).lgamma() - arb(c + 1).lgamma() - arb(N - c + 1).lgamma()


def binomial_cdf_ball(N: int, k: int, p: arb) -> arb:
    """P[Bin(N, p) <= k] for 0 < p < 1, 0 <= k < N: the sum over the side away from the mean."""
    if k < N * float(p.mid()):
        return _binomial_side(N, k, p)
    return 1 - _binomial_side(N, N - k - 1, 1 - p)


def binomial_above_ball(N: int, k: int, p: arb) -> arb:
    """P[Bin(N, p) > k] for 0 < p < 1, 0 <= k < N: the lower tail of Bin(N, 1-p)."""
    return binomial_cdf_ball(N, N - k - 1, 1 - p)


def _binomial_side(N: int, k: int, p: arb) -> arb:
    """P[Bin(N, p) <= k], k below the mean or near it: masses downwards, then a geometric bound."""
    mass = binomial_mass(N, k, p)
    total, odds = mass, (1 - p) / p
    for j in range(k, 0, -1):
        ratio = odds * j / (N - j + 1)
        mass *= ratio
        total += mass
        if ratio < 1 and mass < total * arb(2) ** (-flint.ctx.prec):
            return total + (mass * ratio / (1 - ratio)).union(arb(0))
    return total


def right_votes_upper(u: Array, N: int, k: int) -> float:
    """A float >= (1/m) sum_i P[Bin(N, (1+u_i)/2) <= k], for the exact values of the floats u_i in [-1, 1]."""
    check(0 <= k < N, f"k must be in [0, N), got k={k}, N={N}.")
    u = np.maximum(np.asarray(u, dtype=np.float64), -1.0)
    check(bool(np.all(u <= 1)), "a margin must be at most 1.")
    values, counts = _groups(u)
    bounds = np.where(values >= 1, 0.0, 1.0)
    # The mean (1+u)N/2 above k: sum the masses below; else what lies above k is summed from below and taken from 1.
    inside = np.abs(values) < 1
    below = inside & ((1 + values) * N / 2 > k + 1)
    above = inside & ~below
    bounds[below] = _cdf_upper(values[below], N, k)
    bounds[above] = np.nextafter(1 - _tail_lower(values[above], N, k), 2)
    mean = math.fsum(np.minimum(bounds, 1.0) * counts) / len(u)
    return min(1.0, mean * slack(4))


def _groups(u: Array) -> tuple[Array, np.ndarray]:
    """The different values with their counts; more than 20,000 are grouped, and the least stands for its group."""
    values, counts = np.unique(u, return_counts=True)
    if len(values) <= _MOST:
        return values, counts
    edges = np.unique(np.linspace(0, len(values), _MOST + 1).astype(int))[:-1]
    return values[edges], np.add.reduceat(counts, edges)


def _start(u: Array, N: int, c: int, end: Any) -> Array:
    """P[Bin(N, (1+u)/2) = c], one end of its ball, for every u."""
    with flint.ctx.workprec(BITS):
        choose, half = _log_choose(N, c, BITS), arb(2).log() * N
        logs = ((1 + arb(x), 1 - arb(x)) for x in u.tolist())
        masses = [end((choose - half + c * a.log() + (N - c) * b.log()).exp()) for a, b in logs]
    return np.maximum(np.array(masses, dtype=np.float64), 0.0)


def _cdf_upper(u: Array, N: int, k: int) -> Array:
    """Upper values of P[Bin <= k] for a mean above k + 1: masses downwards from k."""
    if len(u) == 0:
        return u
    odds = (1 - u) / (1 + u)
    mass = _start(u, N, k, up)
    total, steps = mass.copy(), 0
    for j in range(k, 0, -1):
        mass = mass * (odds * (j / (N - j + 1)))
        total += mass
        steps += 1
        if steps % 16 == 0 and np.all(mass <= total * 2.0**-60 + _TINY):
            ratio = odds * (j / (N - j + 1))
            total += mass * ratio / np.maximum(1 - ratio * slack(8), 2.0**-20)
            check(bool(np.all(ratio < 1 - 2.0**-19)), "the masses must fall where the sum ends.")
            break
    return total * slack(2 * steps) + _TINY


def _tail_lower(u: Array, N: int, k: int) -> Array:
    """Lower values of P[Bin > k]: masses upwards from k + 1, as far as they matter."""
    if len(u) == 0:
        return u
    odds = (1 + u) / (1 - u)
    mass = _start(u, N, k + 1, down)
    total, steps = mass.copy(), 0
    for j in range(k + 1, N):
        mass = mass * (odds * ((N - j) / (j + 1)))
        total += mass
        steps += 1
        if steps % 16 == 0 and np.all(mass <= total * 2.0**-56):
            break
    return np.maximum(total / slack(2 * steps) - _TINY, 0.0)


def log_rising_lower(beta: arb, counts: int) -> Array:
    """Lower values of sum_{1 <= i < c} log(beta + i) for c = 0 .. counts - 1: lgamma(c + beta) - lgamma(1 + beta)."""
    blocks = (_logs_lower(beta.mid(), beta.rad(), start) for start in range(1, counts - 1, _LOGS))
    return np.cumsum(np.concatenate([np.zeros(2), *blocks])[:counts]) / slack(counts)


@lru_cache(maxsize=1024)  # every report asks for those of a few beta
def _logs_lower(middle: arb, radius: arb, start: int) -> Array:
    """Lower values of log(beta + i) for start <= i < start + _LOGS."""
    with flint.ctx.workprec(BITS):
        beta = arb(middle, radius)
        return np.array([down((beta + i).log()) for i in range(start, start + _LOGS)])


def binomial_rising_lower(theta: Sequence[arb], N: int, beta: arb) -> float:
    """A float <= sum_j E_{c ~ Bin(N, theta_j)} [lgamma(c + beta) - lgamma(beta)], theta in the simplex, beta < 1.

    The term of c >= 1 is log(beta) + a number >= 0. P(c >= 1) is rounded up and the masses down; any may be left out.
    """
    check(bool(beta < 1), f"beta must be < 1, got beta={beta}.")
    with flint.ctx.workprec(BITS):
        pairs = list(zip(theta, _others(theta), strict=True))
        at_least_one = sum((1 - (N * rest.log()).exp() for _, rest in pairs), arb(0))
        first = down(beta.log() * at_least_one)
        modes = np.array([min(N, math.floor((N + 1) * float(t))) for t in theta])
        at_mode = ((int(c), *pair) for c, pair in zip(modes, pairs, strict=True))
        starts = np.array([max(0.0, down(binomial_mass(N, c, t, rest))) for c, t, rest in at_mode])
        odds = np.array([max(0.0, down(t / rest)) for t, rest in pairs])
        against = np.array([max(0.0, down(rest / t)) for t, rest in pairs])
    mass = _masses_lower(modes, starts, odds, against, N, _reach(modes, N))
    return first + _weighted(mass, beta)


def _others(theta: Sequence[arb]) -> list[arb]:
    """1 - theta_j as the sum of the other weights, because for theta_j near 1 a difference would be all rounding."""
    before = list(accumulate(theta, initial=arb(0)))
    behind = list(accumulate(reversed(theta), initial=arb(0)))[::-1]
    return [a + b for a, b in zip(before[:-1], behind[1:], strict=True)]


def poisson_rising_lower(rates: Sequence[arb], beta: arb) -> float:
    """A float <= sum_a E_{c ~ Poisson(r_a)} [lgamma(c + beta) - lgamma(beta)], r_a > 0, beta < 1."""
    check(bool(beta < 1), f"beta must be < 1, got beta={beta}.")
    with flint.ctx.workprec(BITS):
        first = down(beta.log() * sum((1 - (-r).exp() for r in rates), arb(0)))
        modes = np.array([math.floor(float(r)) for r in rates])
        logs = ((int(c), r) for c, r in zip(modes, rates, strict=True))
        starts = np.array([max(0.0, down((c * r.log() - r - arb(c + 1).lgamma()).exp())) for c, r in logs])
        odds = np.array([max(0.0, down(r)) for r in rates])
        against = np.array([max(0.0, down(1 / r)) for r in rates])
    mass = _masses_lower(modes, starts, odds, against, None, _reach(modes, None))
    return first + _weighted(mass, beta)


def _reach(modes: np.ndarray, N: int | None) -> int:
    """The number of steps from the mode after which the rest is below the last bit of a double."""
    top = int(modes.max())
    return math.ceil(9 * math.sqrt(top + 1)) + 20 if N is None else min(N, math.ceil(9 * math.sqrt(top + 1)) + 20)


def _masses_lower(modes: np.ndarray, starts: Array, odds: Array, against: Array, N: int | None, reach: int) -> Array:
    """Lower values of the masses by count, summed over the atoms, from ratios up and down from each mode.

    Binomial (N given): P(c+1)/P(c) = odds (N-c)/(c+1); Poisson: odds/(c+1).
    """
    total = np.zeros(int(modes.max()) + reach + 2)
    np.add.at(total, modes, starts)
    c, mass = modes.copy(), starts.copy()
    for _ in range(reach):
        mass = mass * (odds / (c + 1)) * (1.0 if N is None else np.maximum(N - c, 0))
        c = c + 1
        np.add.at(total, c, mass)
    c, mass = modes.copy(), starts.copy()
    for _ in range(reach):
        alive = c > 0
        if not alive.any():
            break
        c, mass, odds_down = c[alive], mass[alive], against[alive]
        mass = mass * (odds_down * c) / (1.0 if N is None else N - c + 1)
        against, c = odds_down, c - 1
        np.add.at(total, c, mass)
    return np.maximum(total / slack(reach + len(modes)) - _TINY, 0.0)


def _weighted(mass: Array, beta: arb) -> float:
    """A lower value of sum_c mass[c] sum_{1 <= i < c} log(beta + i)."""
    return float(np.sum(mass * log_rising_lower(beta, len(mass))) / slack(2 * len(mass)))


# C classes: how often one of C independent Skellam variables comes within k of the one of the right class
#
# P(t)/P(t-1) = a/D_t and P(-t)/P(-t+1) = b/D_t for X ~ Skellam(a, b), t >= 1, where from t P(t) = a P(t-1) - b P(t+1)
#
#     D_t = t + κ_{t+1},   κ_t = ab/D_t:
#
# all terms are >= 0, and an error of κ_{t+1} counts only by the share κ_{t+1}/D_t. So the masses follow from the centre
# of the law outwards, and a bound on their errors from the recursion itself.

_CELLS = 2_000_000
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

    All masses of J but the first few may be left out.
    P(X = x) = exp(-size) I_|x|(size) = P(X = 0) r_1 .. r_x with r_x = I_x/I_{x-1}. From I_{x-1} = I_{x+1} + (2x/size)
    I_x, r_x = 1/(2x/size + r_{x+1}): from 0 <= r <= 1 far out the two ends meet on the way down. The law is log-concave
    (a sum of Poisson variables), so that the r_x fall, and a geometric series bounds what lies beyond a window.
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
