"""Laws of sums of symmetric Skellam variables and their positive parts, every mass rounded up: eps, never too small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import flint
import numpy as np
from flint import arb

from adanet_theory.checks import Array
from adanet_theory.twins.tails import BITS, down, slack, up

CHOICES = 64
_NOTHING = 1e-22  # masses at the ends that are counted as outside


@dataclass(frozen=True)
class UpperLaw:
    """mass[i] >= P(X = first + i); `outside` >= the probability of all that the window leaves out."""

    first: int
    mass: Array
    outside: float

    def __add__(self, other: UpperLaw) -> UpperLaw:
        mass = np.convolve(self.mass, other.mass) * slack(min(len(self.mass), len(other.mass)))
        kept = np.flatnonzero(mass > _NOTHING)
        first, last = int(kept[0]), int(kept[-1])
        lost = math.fsum(mass[:first]) + math.fsum(mass[last + 1 :])
        outside = (self.outside + other.outside + lost) * slack(4)
        return UpperLaw(self.first + other.first + first, mass[first : last + 1], outside)

    def positive_part(self) -> UpperLaw:
        below = max(0, 1 - self.first)
        head = math.fsum(self.mass[:below]) * slack(1)
        return UpperLaw(0, np.concatenate([[head], self.mass[below:]]), self.outside) if below else self

    def above(self, k: int) -> float:
        """A float >= P(X > k)."""
        return min(1.0, (math.fsum(self.mass[max(0, k + 1 - self.first) :]) + self.outside) * slack(1))


ZERO = UpperLaw(0, np.ones(1), 0.0)


def symmetric_skellam_upper(size: arb) -> UpperLaw:
    """Skellam(size/2, size/2): P(X = x) = exp(-size) I_|x|(size) = P(X = 0) r_1 .. r_x with r_x = I_x/I_{x-1}.

    From I_{x-1} = I_{x+1} + (2x/size) I_x, r_x = 1/(2x/size + r_{x+1}): from 0 <= r <= 1 far out the two ends meet on
    the way down. The law is log-concave (a sum of Poisson variables), so that the r_x fall, and a geometric series
    bounds what lies outside.
    """
    if size == 0:
        return ZERO
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
    half = np.cumprod([top, *ratios[:last]]) * slack(last + 1) + 1e-300
    outside = 2 * half[-1] * ratios[last] / (1 - ratios[last]) * slack(4)
    return UpperLaw(-last, np.concatenate([half[::-1], half[1:]]), float(outside))


@dataclass(frozen=True)
class Shape:
    """What eps depends on: parents, signs, and the masses p_v as balls."""

    parent: Sequence[int]
    sign: Sequence[int]
    p: Sequence[arb]

    def children(self, v: int) -> list[int]:
        return [c for c, parent in enumerate(self.parent) if parent == v]


def eps_upper(shape: Shape, nu: float, k: int) -> float:
    """A float >= max over y and J of P(D^y(root) > k), or >= the convex form where over 64 choices of J matter."""
    if _choices(shape, 0, 1) + _choices(shape, 0, -1) > CHOICES:
        return max(_convex_upper(shape, nu, k, e) for e in (1, -1))
    return max(_above(size, rest, k) for e in (1, -1) for size, rest in _options(shape, 0, e, nu, every=True))


def _choices(shape: Shape, v: int, e: int) -> int:
    below = ((shape.sign[c], c) for c in shape.children(v))
    return math.prod(_choices(shape, c, 1) if sign == e else 1 + _choices(shape, c, -1) for sign, c in below)


def _options(shape: Shape, v: int, e: int, nu: float, *, every: bool) -> list[tuple[arb, UpperLaw]]:
    """(size of the Skellam part, law of the positive parts) of D^e(v), for every J or for J = all."""
    with flint.ctx.workprec(BITS):
        found = [(arb(nu) * shape.p[v], ZERO)]
    for c in shape.children(v):
        if shape.sign[c] == e:
            laws = [(symmetric_skellam_upper(s) + rest) for s, rest in _options(shape, c, 1, nu, every=every)]
            found = [(size, rest + law.positive_part()) for size, rest in found for law in laws]
        else:
            below = _options(shape, c, -1, nu, every=every)
            with flint.ctx.workprec(BITS):
                taken = [(s + t, a + b) for s, a in found for t, b in below]
            found = [*found, *taken] if every else taken
    return found


def _above(size: arb, rest: UpperLaw, k: int) -> float:
    """A float >= P(Skellam + rest > k), summed over the values of the rest."""
    law = symmetric_skellam_upper(size)
    tail = np.concatenate([np.cumsum(law.mass[::-1])[::-1], [0.0]])
    at = np.clip(k + 1 - (rest.first + np.arange(len(rest.mass))) - law.first, 0, len(law.mass))
    total = math.fsum(rest.mass * tail[at]) * slack(len(law.mass)) + law.outside + rest.outside
    return min(1.0, total * slack(2))


def _convex_upper(shape: Shape, nu: float, k: int, e: int) -> float:
    """A float >= min_t E(D_all - k - 1 + t)_+/t. Outside the window E|D| <= sqrt(E D^2 P), |D| <= sum_v |Sk(p_v)|."""
    ((size, rest),) = _options(shape, 0, e, nu, every=False)
    law = symmetric_skellam_upper(size) + rest
    values = (law.first + np.arange(len(law.mass)))[::-1].astype(np.float64)
    with flint.ctx.workprec(BITS):
        second = up(sum(((arb(nu) * p).sqrt() for p in shape.p if p != 0), arb(0)))
    far = second * math.sqrt(law.outside) + law.outside
    best = 1.0
    # t = k + 2 - value, every value at which the sum below changes; the best t is a few standard deviations.
    for t in np.unique(np.ceil(np.geomspace(1, max(2.0, k + 2 - values[-1]), 400))):
        excess = np.maximum(values - (k + 1 - t), 0.0)
        expected = math.fsum(law.mass[::-1] * excess) + far + t * law.outside
        best = min(best, expected / t * slack(8))
    return best


def lower_b(eps: float) -> float:
    """A float <= 1 - eps."""
    with flint.ctx.workprec(BITS):
        return max(0.0, down(1 - arb(eps)))
