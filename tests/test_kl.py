"""kl, its inverses and xi against their definitions."""

import math
from fractions import Fraction

import numpy as np
import pytest

from adanet_theory.certificates.kl import kl, kl_inverse, kl_inverses, xi


def test_kl_is_the_relative_entropy_of_two_coins() -> None:
    q, p = np.random.default_rng(0).uniform(0.01, 0.99, (2, 50))
    expected = q * np.log(q) - q * np.log(p) + (1 - q) * np.log1p(-q) - (1 - q) * np.log1p(-p)
    assert np.allclose(kl(q, p), expected, rtol=1e-11, atol=1e-14)


def test_single_precision_is_read_in_double() -> None:
    q, p = np.float32(0.1), np.float32(0.3)
    assert float(kl(q, p)) == float(kl(float(q), float(p)))
    assert kl_inverse(q, p) == kl_inverse(float(q), float(p))


@pytest.mark.parametrize("q", [0.0, 1e-6, 0.01, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("c", [1e-6, 1e-3, 0.1, 2.0])
def test_the_inverse_is_where_kl_meets_c(q: float, c: float) -> None:
    high = kl_inverse(q, c)
    assert q <= high
    assert high == 1.0 or float(kl(q, high)) == pytest.approx(c, rel=1e-6)
    assert high == 1.0 or float(kl(q, min(1.0, high + 1e-9 * (1 - high)))) >= c * (1 - 1e-9)


def test_the_inverse_grows_in_both() -> None:
    q, c = np.linspace(0, 1, 21)[:, None], np.linspace(0, 1, 21)
    table = kl_inverses(q, c)
    assert np.all(np.diff(table, axis=0) >= 0)
    assert np.all(np.diff(table, axis=1) >= 0)
    assert np.array_equal(table[:, 0], q[:, 0])


@pytest.mark.parametrize("m", [1, 2, 3, 8, 30, 61])
def test_xi_is_its_defining_sum(m: int) -> None:
    parts = (math.comb(m, k) * Fraction(k, m) ** k * Fraction(m - k, m) ** (m - k) for k in range(m + 1))
    assert xi(m) == pytest.approx(float(sum(parts)), rel=1e-14)


def test_xi_lies_between_its_asymptote_and_two_sqrt_m() -> None:
    for m in (100, 12_000, 1_000_000):
        assert xi(m) == pytest.approx(math.sqrt(math.pi * m / 2) + 2 / 3, rel=1e-3)
        assert xi(m) < 2 * math.sqrt(m)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: xi(0), r"m must be an integer >= 1, got m=0\."),
        (lambda: kl_inverse(1.5, 0.1), r"q must be in \[0, 1\]\."),
        (lambda: kl_inverse(0.5, -0.1), r"c must be >= 0\."),
    ],
)
def test_refusals(call: object, line: str) -> None:
    with pytest.raises(ValueError, match=f"^{line}"):
        call()  # type: ignore[operator]
