"""Laws on the integers as a first value and a list of masses: Poisson, Skellam, sums, positive parts, tails."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from adanet_theory.checks import Array

_NOTHING = 1e-22  # a mass that sums of a million like it do not show
_DIRECT = 64  # a sum with so short a law is cheaper by hand than by Fourier transform


@dataclass(frozen=True)
class Law:
    """P(X = first + i) = mass[i]; what lies outside is below 1e-16 and was left out."""

    first: int
    mass: Array

    @property
    def values(self) -> np.ndarray:
        return self.first + np.arange(len(self.mass))

    def __add__(self, other: Law) -> Law:
        """The law of the sum of two independent variables."""
        mass = _convolve(self.mass, other.mass)
        kept = np.flatnonzero(mass > _NOTHING)
        return Law(self.first + other.first + int(kept[0]), mass[kept[0] : kept[-1] + 1])

    def positive_part(self) -> Law:
        """The law of max(X, 0)."""
        below = max(0, 1 - self.first)
        if below == 0:
            return self
        return Law(0, np.concatenate([[math.fsum(self.mass[:below])], self.mass[below:]]))

    def negated(self) -> Law:
        """The law of -X."""
        return Law(-(self.first + len(self.mass) - 1), self.mass[::-1])

    def above(self, k: int) -> float:
        """P(X > k)."""
        return min(1.0, math.fsum(self.mass[max(0, k + 1 - self.first) :]))

    def tails(self, k: np.ndarray) -> Array:
        """P(X > k) for every k, by one running sum."""
        summed = np.concatenate([np.cumsum(self.mass[::-1])[::-1], [0.0]])
        return np.minimum(summed[np.clip(k + 1 - self.first, 0, len(self.mass))], 1.0)

    def mean_of(self, function: Callable[[np.ndarray], Array]) -> float:
        """E function(X)."""
        return math.fsum(self.mass * function(self.values))


ZERO = Law(0, np.ones(1))


def poisson(rate: float, spread: float = 9.0) -> Law:
    """Poisson(rate) on a window of `spread` standard deviations and 20 more above.

    >>> law = poisson(3.0)
    >>> round(float(law.mass[2]), 12), round(math.exp(-3) * 9 / 2, 12), round(law.mean_of(lambda x: x), 12)
    (0.224041807655, 0.224041807655, 3.0)
    """
    from scipy.special import gammaln, xlogy

    first = max(0, math.floor(rate - spread * math.sqrt(rate) - 5))
    c = np.arange(first, math.ceil(rate + spread * math.sqrt(rate) + 20) + 1)
    return Law(first, np.exp(xlogy(c, rate) - rate - gammaln(c + 1.0)))


def skellam(a: float, b: float) -> Law:
    """Skellam(a, b): the difference of independent Poisson(a) and Poisson(b).

    >>> round(1 - skellam(1000, 1000).above(60), 12), round(1 - skellam(100.0, 100.0).above(10), 12)
    (0.911953379051, 0.771258148051)
    """
    return symmetric_skellam(2 * a) if a == b else poisson(a) + poisson(b).negated()


def symmetric_skellam(size: float, spread: float = 9.0) -> Law:
    """Skellam(size/2, size/2), whose variance is the size: P(X = x) = exp(-size) I_|x|(size)."""
    from scipy.special import ive

    last = math.ceil(spread * math.sqrt(size) + 20)
    half = ive(np.arange(last + 1), size)
    return Law(-last, np.concatenate([half[:0:-1], half]))


def _convolve(a: Array, b: Array) -> Array:
    if min(len(a), len(b)) <= _DIRECT:
        return np.convolve(a, b)
    size = len(a) + len(b) - 1
    padded = 1 << (size - 1).bit_length()
    product = np.fft.irfft(np.fft.rfft(a, padded) * np.fft.rfft(b, padded), padded)[:size]
    return np.maximum(product, 0.0)
