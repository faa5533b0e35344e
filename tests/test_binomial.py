"""The binomial tail in logs and its inverse, against exact fractions and mpmath; Clopper-Pearson against both."""

import math
import random
from fractions import Fraction

import mpmath
import pytest
from scipy.stats import binom

from adanet_theory.certificates.binomial import clopper_pearson, log_mass, log_tail, tail_inverse


def exact_cdf(k: int, N: int, p: Fraction) -> Fraction:
    return sum((math.comb(N, j) * p**j * (1 - p) ** (N - j) for j in range(k + 1)), Fraction(0))


def log_of(x: Fraction) -> float:
    with mpmath.workdps(50):
        return float(mpmath.log(mpmath.mpf(x.numerator) / x.denominator))


@pytest.mark.parametrize("N", [1, 2, 3, 15, 16, 17, 40])
@pytest.mark.parametrize("p", [2.0**-60, 0.01, 0.3, 0.5, 0.9, 1 - 2.0**-20])
def test_masses_and_tails_are_those_of_exact_fractions(N: int, p: float) -> None:
    for k in range(N + 1):
        mass = math.comb(N, k) * Fraction(p) ** k * (1 - Fraction(p)) ** (N - k)
        assert log_mass(k, N, p) == pytest.approx(log_of(mass), rel=1e-13, abs=1e-13)
        assert log_tail(k, N, p) == pytest.approx(log_of(exact_cdf(k, N, Fraction(p))), rel=1e-12, abs=1e-13)


def mpmath_inverse(k: int, N: int, log_delta: mpmath.mpf) -> mpmath.mpf:
    """By halving, from the sum of all k + 1 masses."""
    low, high = mpmath.mpf(0), mpmath.mpf(1)
    for _ in range(70):
        p = (low + high) / 2
        mass = total = mpmath.mpf(1)
        for j in range(k):
            mass *= (1 - p) / p * (k - j) / (N - k + 1 + j)
            total += mass
        first = mpmath.log(mpmath.binomial(N, k)) + k * mpmath.log(p) + (N - k) * mpmath.log(1 - p)
        low, high = (p, high) if first + mpmath.log(total) >= log_delta else (low, p)
    return high


@pytest.mark.parametrize(
    ("k", "N", "delta"),
    [
        (0, 1, "0.05"),
        (1, 2, "0.999"),
        (2, 3, "1e-10"),
        (3, 50, "0.5"),
        (13, 1000, "1e-300"),
        (35, 100, "1e-300"),
        (999, 1000, "0.05"),
        (16, 10**7, "0.999"),
        (200, 10**7, "0.05"),
        (26, 10**7, "1e-300"),
        (100, 60_000, "1e-3000"),
        (7, 60_000, "1e-300000"),
    ],
)
def test_the_inverse_is_right_to_twelve_digits(k: int, N: int, delta: str) -> None:
    with mpmath.workdps(40):
        log_delta = mpmath.log(mpmath.mpf(delta))
        expected = mpmath_inverse(k, N, log_delta)
    assert tail_inverse(k, N, float(log_delta)) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(("k", "N"), [(10**5, 10**7), (5 * 10**6, 10**7), (10**7 - 1, 10**7)])
@pytest.mark.parametrize("log_delta", [math.log(0.05), -690.0, -2000.0])
def test_the_inverse_gives_the_tail_back_at_ten_million_points(k: int, N: int, log_delta: float) -> None:
    p = tail_inverse(k, N, log_delta)
    assert k / N < p <= 1
    assert p > 1 - 2.0**-40 or log_tail(k, N, p) == pytest.approx(log_delta, rel=1e-7)


def test_the_inverse_falls_in_delta_and_rises_in_the_errors() -> None:
    generator = random.Random(0)
    for _ in range(200):
        N = generator.choice([2, 30, 1000, 10**7])
        k, log_delta = generator.randrange(N), -(10 ** generator.uniform(-3, 4))
        p = tail_inverse(k, N, log_delta)
        assert p <= tail_inverse(k + 1, N, log_delta)
        assert p <= tail_inverse(k, N, 2 * log_delta)


def test_where_nothing_can_be_said_it_is_one() -> None:
    assert tail_inverse(3, 3, -5.0) == tail_inverse(0, 3, -math.inf) == tail_inverse(2, 3, -math.inf) == 1.0
    assert tail_inverse(5, 100, -1e9) == 1.0


@pytest.mark.parametrize(("errors", "m"), [(0, 20), (3, 50), (49, 50), (117, 469)])
def test_clopper_pearson_is_the_last_risk_the_errors_do_not_refute(errors: int, m: int) -> None:
    upper = clopper_pearson(errors, m, 0.05)
    assert binom.cdf(errors, m, upper) == pytest.approx(0.05, rel=1e-9)
    assert errors / m < upper
    assert clopper_pearson(m, m, 0.05) == 1.0


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: clopper_pearson(5, 4, 0.05), r"errors must be an integer in \[0, m\], got errors=5, m=4\."),
        (lambda: clopper_pearson(-1, 4, 0.05), r"errors must be an integer in \[0, m\], got errors=-1, m=4\."),
        (lambda: clopper_pearson(1.5, 4, 0.05), r"errors must be an integer in \[0, m\], got errors=1\.5, m=4\."),
        (lambda: clopper_pearson(0, 0, 0.05), r"m must be an integer >= 1, got m=0\."),
        (lambda: clopper_pearson(1, 4, 0.0), r"delta must be in \(0, 1\), got delta=0\.0\."),
        (lambda: tail_inverse(1, 4, 0.5), r"log_delta must be <= 0, got log_delta=0\.5\."),
    ],
)
def test_refusals(call: object, line: str) -> None:
    with pytest.raises(ValueError, match=f"^{line}"):
        call()  # type: ignore[operator]
