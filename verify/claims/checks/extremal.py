"""Distributions on which a bound is nearly attained, with exact risks: they refute a bound that is too small.

`Memorised`: f is 1 on the sample and 0 on what the sample did not show. That attains the 2 of (2/ρ) R_m(H).
`Rare`: the best of very many rare features. It comes within a factor 1/2 of the complexity term of a-posteriori, and no
nearer: 2 R_S is attained by functions that know the sample by heart, of which an l1-ball over n_0 features holds only
log n_0, and for two-valued features the deviation is sqrt(1 - q)/2 of 2 r_rms sqrt(2 log(2 n_0)/m).
`coin_tail`: one function fixed beforehand, whose errors are coins: at a small δ the exact binomial tail needs nearly
all of sqrt(log(1/δ)/(2m)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Memorised:
    """y = 1. With probability 1/2 x is hard, one of N atoms alike, else easy. Ψ: the atom, one-hot; 1; 1{x is easy}.

    H_1 = {u · Ψ, ||u||_inf <= 1/2}, so |h| <= 1. f has u = 1/2 for what is easy, constant or an atom of the sample, and
    -1/2 for every other atom: it is 1 on the sample and on what is easy, and 0, an error, on unseen atoms.
    """

    m: int = 10**6
    N: int = 10**12

    @property
    def risk(self) -> float:
        """R(f) = (1/2) (1 - atoms seen/N) on every sample, from below."""
        return 0.5 * (1 - self.m / self.N)

    @property
    def R_m(self) -> float:
        """An upper value of R_m(H_1) = (1/2m) E[ Σ_atoms |Σ σ| + |Σ σ_i| + |Σ_easy σ_i| ], by Jensen."""
        return 0.5 * (0.5 + (1 + math.sqrt(0.5)) / math.sqrt(self.m))

    def R_S(self, hard: int) -> float:
        """An upper value of R_S(H_1) on a sample with that many hard points."""
        return 0.5 * (hard + math.sqrt(self.m) + math.sqrt(self.m - hard)) / self.m


@dataclass(frozen=True)
class Rare:
    """y = 1, n_0 independent features that are 1 with probability q, else 0; f = Ψ_j for the j with the most ones.

    With probability > 1 - 1e-4 some feature has `ones` ones among the m points, and none has more than `most`. Through
    d hidden ReLU layers Ψ_j is the same function with the same path norm 1.
    """

    m: int = 10**7
    q: float = 0.05
    digits: int = 4000

    @property
    def n_0(self) -> int:
        return 10**self.digits

    @property
    def log_n_0(self) -> float:
        return self.digits * math.log(10)

    @property
    def risk(self) -> float:
        """R(f) = P(Ψ_j = 0): f = 0 is an error."""
        return 1 - self.q

    @property
    def ones(self) -> int:
        """The largest k with n_0 P(Bin(m, q) = k) >= 10: some feature has as many with probability >= 1 - e^-10."""
        return self._last(lambda k: self.log_n_0 + self._log_mass(k) >= math.log(10))

    @property
    def most(self) -> int:
        """The least k with n_0 e^(-m KL(k/m, q)) <= 5e-5, which is at least the chance that a feature has more ones."""
        return 1 + self._last(lambda k: self.log_n_0 - self.m * self._divergence(k / self.m) > math.log(5e-5))

    @property
    def r_rms(self) -> float:
        return math.sqrt(self.most / self.m)

    @property
    def ramp(self) -> float:
        """At ρ = 1."""
        return 1 - self.ones / self.m

    def _last(self, holds: object) -> int:
        assert callable(holds)
        low, high = math.ceil(self.q * self.m), self.m
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low

    def _log_mass(self, k: int) -> float:
        choose = math.lgamma(self.m + 1) - math.lgamma(k + 1) - math.lgamma(self.m - k + 1)
        return choose + k * math.log(self.q) + (self.m - k) * math.log1p(-self.q)

    def _divergence(self, s: float) -> float:
        return s * math.log(s / self.q) + (1 - s) * math.log((1 - s) / (1 - self.q))


def coin_tail(rest: float, m: int) -> Fraction:
    """P( K/m + rest < 1/2 ) for K errors among m fair coins: how often a bound fails that adds `rest` to the error."""
    fewest = math.ceil((Fraction(1, 2) - Fraction(rest)) * m) - 1  # K <= fewest
    return Fraction(sum(math.comb(m, k) for k in range(fewest + 1)), 2**m)
