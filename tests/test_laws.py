"""Laws on the integers against scipy's masses, sums over all pairs, and their own definitions at the edges."""

import math

import numpy as np
import pytest
from scipy import stats

from adanet_theory.certificates.laws import ZERO, Law, poisson, skellam, symmetric_skellam

FLAT = Law(7, np.full(65, 1 / 65))  # with itself 129 values, one more than a power of two
SMALL = Law(-2, np.array([0.1, 0.2, 0.3, 0.15, 0.25]))  # on -2 .. 2


@pytest.mark.parametrize("rate", [0.0, 0.3, 90.0, 400.0])
def test_poisson_has_all_but_a_double_of_its_mass_where_it_says(rate: float) -> None:
    law = poisson(rate)
    np.testing.assert_allclose(law.mass, stats.poisson.pmf(law.values, rate), rtol=1e-11)
    assert law.values[0] >= 0
    assert math.fsum(law.mass) == pytest.approx(1, abs=1e-12)
    assert stats.poisson.sf(law.values[-1], rate) < 1e-16
    assert stats.poisson.cdf(law.values[0] - 1, rate) < 1e-16


@pytest.mark.parametrize(("a", "b"), [(7.0, 7.0), (300.0, 300.0), (5.0, 2.0), (1.0, 250.0)])
def test_skellam_is_the_difference_of_two_poissons(a: float, b: float) -> None:
    law = skellam(a, b)
    np.testing.assert_allclose(law.mass, stats.skellam.pmf(law.values, a, b), rtol=1e-8, atol=1e-15)
    assert math.fsum(law.mass) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("size", [0.0, 2.0, 5_000.0])
def test_the_symmetric_skellam_of_a_size_has_it_as_variance(size: float) -> None:
    law = symmetric_skellam(size)
    assert law.mean_of(lambda x: x.astype(float) ** 2) == pytest.approx(size, rel=1e-12)
    assert np.array_equal(law.mass, law.mass[::-1])
    assert law.mass[0] < 1e-16 * law.mass.max()


@pytest.mark.parametrize("other", [SMALL, FLAT, poisson(20.0), symmetric_skellam(900.0)])
@pytest.mark.parametrize("law", [SMALL, FLAT, symmetric_skellam(900.0)])
def test_the_sum_is_over_all_pairs(law: Law, other: Law) -> None:
    """By hand where one law is short, by Fourier transform where both are long."""
    found, all_pairs = law + other, np.zeros(len(law.mass) + len(other.mass) - 1)
    np.add.at(
        all_pairs, np.add.outer(np.arange(len(law.mass)), np.arange(len(other.mass))), np.outer(law.mass, other.mass)
    )
    start = found.first - law.first - other.first
    np.testing.assert_allclose(found.mass, all_pairs[start : start + len(found.mass)], rtol=1e-9, atol=1e-16)
    assert math.fsum(all_pairs[:start]) + math.fsum(all_pairs[start + len(found.mass) :]) < 1e-16


def test_what_is_below_any_doubt_is_left_out_of_a_sum() -> None:
    found = SMALL + Law(10, np.array([1e-25, 0.5, 0.0, 0.5, 1e-25]))
    assert (found.first, len(found.mass)) == (9, 7)
    assert (SMALL + ZERO).first == -2
    assert np.array_equal((SMALL + ZERO).mass, SMALL.mass)


def test_parts_and_tails() -> None:
    positive, negated = SMALL.positive_part(), SMALL.negated()
    assert (positive.first, positive.mass.tolist()) == (0, [pytest.approx(0.6), 0.15, 0.25])
    for law in (ZERO, Law(0, SMALL.mass), Law(3, SMALL.mass)):
        assert law.positive_part() is law or np.array_equal(law.positive_part().mass, law.mass)
        assert law.positive_part().first == law.first
    assert (negated.first, negated.mass.tolist()) == (-2, [0.25, 0.15, 0.3, 0.2, 0.1])
    assert Law(4, SMALL.mass).negated().first == -8
    k = np.array([-9, -4, -3, -2, 0, 1, 2, 9])
    expected = [1.0, 1.0, 1.0, 0.9, 0.4, 0.25, 0.0, 0.0]
    assert SMALL.tails(k).tolist() == pytest.approx(expected)
    assert [SMALL.above(at) for at in k.tolist()] == pytest.approx(expected)
    assert SMALL.mean_of(lambda x: x + 3.0) == pytest.approx(3 - 0.2 - 0.2 + 0.15 + 0.5)


def test_no_tail_is_above_one() -> None:
    rounded = Law(0, np.array([0.5, 0.5 + 1e-9]))
    assert rounded.above(-1) == 1.0
    assert rounded.tails(np.array([-1])).tolist() == [1.0]
