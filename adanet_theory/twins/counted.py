"""Certificates from a number of errors, picks or disagreements, rounded outward.

The numeric form proposes a float. It is raised until balls prove that it is beyond the root of the statement's
equation. This works for N up to 10^7 and delta below 1e-300, because masses are balls with unlimited exponents.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import flint
from flint import arb

from adanet_theory.certificates.binomial import check_count, tail_inverse
from adanet_theory.certificates.pick import pick_root
from adanet_theory.checks import check, check_delta
from adanet_theory.rounding import up
from adanet_theory.twins.balls import ball
from adanet_theory.twins.tails import BITS, binomial_above_ball, binomial_cdf_ball, binomial_mass
from adanet_theory.twins.values import exact


def clopper_pearson_upper(errors: int, m: int, delta: Any) -> float:
    """held-out: a float >= max{ p : P[Bin(m, p) <= errors] >= delta }.

    >>> round(clopper_pearson_upper(0, 10, Fraction(1, 20)), 12)
    0.258865550893
    """
    check_count(errors, m, "errors", "m")
    return _tail_upper(errors, m, 0, _delta(delta, "delta"))


def clopper_pearson_lower(errors: int, m: int, delta: Any) -> float:
    """A float <= min{ p : P[Bin(m, p) >= errors] >= delta }; 0 without errors. (Swap right and wrong.)"""
    return max(0.0, math.nextafter(1 - clopper_pearson_upper(m - errors, m, delta), 0.0))


def occam_upper(k: int, N: int, bits: Any, delta: Any) -> float:
    """occam-certificate: a float >= max{ p : P[Bin(N, p) <= k] >= delta 2^-bits }.

    >>> occam_upper(600, 60_000, 1000, "0.05") - 0.0332872587512218 < 1e-14
    True
    """
    check_count(k, N)
    bits = exact(bits)
    check(bits >= 0, f"bits must be >= 0, got bits={bits}.")
    return 1.0 if bits == math.inf else _tail_upper(k, N, bits, _delta(delta, "delta"))


def disagreement_upper(b: Any, d: int, n: int, delta_2: Any) -> float:
    """disagreement-certificate: a float >= b + max{ p : P[Bin(n, p) <= d] >= delta_2 }, at most 1."""
    check_count(d, n, "d", "n")
    b = Fraction(exact(b))
    check(0 <= b <= 1, f"b must be in [0, 1], got b={b}.")
    return min(1.0, up(b + Fraction(_tail_upper(d, n, 0, _delta(delta_2, "delta_2")))))


def pick_upper(k: int, N: int, delta: Any) -> float:
    """pick-certificate: a float >= the root of delta P[Bin(N, eps) > k] = N eps P[Bin(N, eps) = k], 1 at k = N.

    >>> pick_upper(100, 12_000, "0.05") - 0.0111313973684571 < 1e-15
    True
    """
    check_count(k, N)
    delta = _delta(delta, "delta")

    def is_passed(eps: arb) -> bool:
        return bool(ball(delta) * binomial_above_ball(N, k, eps) > N * eps * binomial_mass(N, k, eps))

    return 1.0 if k == N else _raised(pick_root(k, N, _log(delta)), is_passed)


def _delta(delta: Any, name: str) -> Fraction:
    """delta as an exact fraction; it is accepted even if it would round to 0 or 1 as a float."""
    delta = Fraction(exact(delta))
    check_delta(delta, name)
    return delta


def _log(delta: Fraction) -> float:
    """log delta < 0, with all its digits where delta is near 1."""
    if 2 * delta > 1:
        return min(math.log1p(-float(1 - delta)), -_LEAST)
    return math.log(delta.numerator) - math.log(delta.denominator)


_LEAST = 1e-290
"""A delta nearer to 1 is taken for this far from it: a guess may be above the root."""


def _tail_upper(k: int, N: int, bits: Any, delta: Fraction) -> float:
    """A float >= max{ p : P[Bin(N, p) <= k] >= delta 2^-bits }."""
    if k == N:
        return 1.0
    with flint.ctx.workprec(BITS):
        level = ball(delta) * (-ball(bits) * arb(2).log()).exp()
    guess = tail_inverse(k, N, _log(delta) - float(bits) * math.log(2))
    return _raised(guess, lambda p: bool(binomial_cdf_ball(N, k, p) < level))


def _raised(guess: float, is_passed: Callable[[arb], bool]) -> float:
    """A float that balls prove to be beyond the root, as near the guess as they can; 1 if there is none."""
    gap = 2.0**-48
    with flint.ctx.workprec(BITS):
        while (p := guess * (1 + gap)) < 1:
            if is_passed(arb(p)):
                return p
            gap *= 8
    return 1.0


UPPER: Mapping[str, Callable[..., float]] = {
    "held-out": clopper_pearson_upper,
    "pick-certificate": pick_upper,
    "occam-certificate": occam_upper,
    "disagreement-certificate": disagreement_upper,
}
"""By the id of the bound; the arguments are the exact arguments of its numeric form."""
