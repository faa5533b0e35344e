"""The binary relative entropy, its inverse, and the constant ξ(m) of PAC-Bayes-kl.

    kl(q, p) = q log(q/p) + (1-q) log((1-q)/(1-p)),   0 log 0 = 0

PAC-Bayes-kl (Seeger 2002, Maurer 2004), for a loss in [0, 1] and a prior P fixed before the m iid points: with
probability >= 1-δ, for all Q at once,  kl(E_Q R_S, E_Q R) <= [KL(Q||P) + log(ξ(m)/δ)]/m.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from adanet_theory.checks import Array, check, check_m

_HALVINGS = 64  # an interval of length 1 becomes shorter than the last bit of any p >= 2^-11


def kl(q: ArrayLike, p: ArrayLike) -> Array:
    """kl(q, p) = q log(q/p) + (1-q) log((1-q)/(1-p)), element by element; inf where p is 0 or 1 and q is not p.

    Parameters
    ----------
    q
        Probabilities in [0, 1].
    p
        Probabilities in [0, 1].

    Returns
    -------
    ndarray
        kl(q, p), >= 0, possibly inf.

    Examples
    --------
    >>> float(kl(0.0, 0.5)) == math.log(2), float(kl(0.25, 0.25)), float(kl(0.5, 1.0))
    (True, 0.0, inf)
    """
    from scipy.special import rel_entr

    q, p = np.asarray(q, dtype=np.float64), np.asarray(p, dtype=np.float64)
    return np.asarray(rel_entr(q, p) + rel_entr(1 - q, 1 - p))


def kl_inverses(q: ArrayLike, c: ArrayLike) -> Array:
    """kl^-1(q, c) = max{ p : kl(q, p) <= c }, element by element: the upper end after bisection."""
    low, c = np.broadcast_arrays(np.asarray(q, dtype=np.float64), np.asarray(c, dtype=np.float64))
    check(bool(np.all((low >= 0) & (low <= 1))), "q must be in [0, 1].")
    check(bool(np.all(c >= 0)), "c must be >= 0.")
    # Pinsker, kl >= 2 (p-q)^2, gives the first upper end; low keeps kl <= c and high kl > c.
    q, low, high = low, low.copy(), np.minimum(low + np.sqrt(c / 2), 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        inside = kl(q, middle) <= c
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return high


def kl_inverse(q: float, c: float) -> float:
    """kl^-1(q, c) = max{ p : kl(q, p) <= c }, increasing in both.

    Parameters
    ----------
    q
        Probability in [0, 1].
    c
        Bound on the relative entropy, >= 0.

    Returns
    -------
    float
        The largest p.

    Examples
    --------
    >>> round(kl_inverse(0.01, 0.02), 15)
    0.044270024395351
    >>> round(kl_inverse(0.0, math.log(2 * math.sqrt(12_000) / 0.05) / 12_000), 15)
    0.000698523453696
    """
    return float(kl_inverses(q, c))


@lru_cache(maxsize=64)
def xi(m: int) -> float:
    """ξ(m) = Σ_{k=0..m} C(m,k) (k/m)^k (1-k/m)^(m-k) <= 2 sqrt(m), = E exp(m kl(X/m, p)) for X ~ Bin(m, p), 0 < p < 1.

    By Abel's identity ξ(m) = Σ_{j=0..m} Π_{i<j} (1 - i/m). All but O(sqrt m) of these terms are negligible.

    >>> xi(1), round(xi(8), 14), round(xi(1437), 12), round(xi(12_000), 11)
    (2.0, 4.24501800537109, 48.179761461119, 137.96130255879)
    """
    check_m(m)
    # Beyond j = 40 sqrt(m) a term is below exp(-800), the least float.
    i = np.arange(min(m, math.ceil(40 * math.sqrt(m))), dtype=np.float64)
    return math.fsum([1.0, *np.cumprod(1 - i / m)])
