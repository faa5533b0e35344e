"""Certified certificates: on the safe side of exact rationals and of reference values, and hardly above them."""

import math
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest
from flint import arb

from adanet_theory.certificates import vote
from adanet_theory.certificates.grids import BETAS
from adanet_theory.certificates.kl import kl_inverse, xi
from adanet_theory.twins import outward, tails
from adanet_theory.twins.outward import linear_weights

TIGHT = 1e-9


def above(number: float, exact: float | Fraction, rel: float = TIGHT, room: float = 1e-280) -> None:
    """number >= exact, by at most a factor 1 + rel and the room."""
    assert Fraction(number) >= Fraction(exact)
    assert number <= float(exact) * (1 + rel) + room


@pytest.mark.parametrize("q", ["0", "0.000001", "0.01", "0.3", "0.5", "0.999", "1"])
@pytest.mark.parametrize("c", ["0", "0.0000001", "0.02", "1", "40"])
def test_the_ball_of_the_inverse_holds_the_root(q: str, c: str) -> None:
    with flint.ctx.workprec(128), mpmath.workdps(40):
        ball = tails.kl_inverse_ball(outward.exact_ball(q), outward.exact_ball(c))
        x, y = mpmath.mpf(q), mpmath.mpf(c)
        root = 1 - mpmath.exp(-y) if x == 0 else mpmath.mpf(kl_inverse(float(q), float(c)))
        if 0 < x < 1 and y > 0 and root < 1 - mpmath.mpf(10) ** -12:

            def gap(p: mpmath.mpf) -> mpmath.mpf:
                return x * mpmath.log(x / p) + (1 - x) * mpmath.log((1 - x) / (1 - p)) - y

            root = mpmath.findroot(gap, (root * (1 - mpmath.mpf(10) ** -13), root), solver="secant")
        assert mpmath.mpf(tails.down(ball)) <= root + mpmath.mpf(10) ** -30
        assert root <= tails.up(ball)
        assert tails.up(ball) - tails.down(ball) <= 4 * math.ulp(1.0) * float(root) + 5e-323


def test_b_of_a_program_is_rounded_down() -> None:
    setting = {"n": 4, "N": 20480, "k": 10347, "beta": 0.0}
    for shift, expected in [(0.0, "0.933498675491306"), (1e-3, "0.912967443487496638"), (1.0, "0")]:
        value = outward.vote_parts(np.zeros(3), [1.0], **setting, shift=shift).b
        assert Fraction(expected) * (1 - Fraction(1, 10**13)) <= Fraction(value) <= Fraction(expected)


def test_reference_values() -> None:
    with flint.ctx.workprec(128):
        for q, c, expected in [("0.01", "0.02", "0.0442700243953511")]:
            assert float(tails.kl_inverse_ball(outward.exact_ball(q), outward.exact_ball(c))) == pytest.approx(
                float(expected), abs=1e-16
            )
        for m, expected_xi in [(8, 4.24501800537109), (1437, 48.1797614611188), (12_000, 137.961302558794)]:
            assert float(tails.xi_ball(m)) == pytest.approx(expected_xi, rel=1e-14)
        rates = [arb(1024)] * 20
        above(outward._counts_kl(rates, 7840, 20480, outward.decimal(0.003)), 339.4090291405920, rel=1e-8)
        for size, k, expected_cdf in [(2000, 60, 0.911953379051027), (200, 10, 0.771258148051245)]:
            value = tails.lead_lower(arb(size), k, arb(0))
            assert value == pytest.approx(expected_cdf, rel=1e-9)
            assert value <= expected_cdf + 1e-15
        exponent = outward.exact_ball(2 * math.sqrt(12_000) / 0.05).log() / 12_000
        assert float(tails.kl_inverse_ball(arb(0), exponent)) == pytest.approx(0.000698523453696331, rel=1e-14)
        theta = outward.simplex([1] * 20)
        above(outward._iid_kl(theta, 113, 1568), 492.8861037912689, rel=1e-8)
        above(outward._polya_kl(theta, 113, 1568, outward.decimal(0.003)), 121.5963564457506, rel=1e-8)
    above(tails.right_votes_upper(np.array([0.02]), 20480, 10347), 0.0869076842548716 * (1 - 1e-14))
    value = outward.vote_parts(np.full(12_000, 0.02), [1] * 20, n=1568, N=20480, k=10347, beta=0.003).at("0.05")
    looser = (value.terms["KL"] + math.log(2 * math.sqrt(12_000) / 0.05) + value.terms["grid"]) / 12_000
    above(kl_inverse(value.terms["empirical"], looser) / value.terms["b"], 0.161621851099990, rel=1e-8)
    above(value.raw, 0.161539127697334, rel=1e-8)
    above(value.terms["KL"], 197.071771459312, rel=1e-8)
    assert value.terms["b"] == pytest.approx(0.933498675491306, abs=1e-15)
    assert value.terms["b"] <= 0.9334986754913061


@pytest.mark.parametrize("m", [1, 2, 7, 40])
def test_xi_in_balls_holds_the_defining_sum(m: int) -> None:
    exact = sum(math.comb(m, k) * Fraction(k, m) ** k * Fraction(m - k, m) ** (m - k) for k in range(m + 1))
    with flint.ctx.workprec(128):
        assert tails.xi_ball(m).contains(outward.exact_ball(exact))
        assert tails.xi_ball(10**6).overlaps(arb(xi(10**6)) * (1 + arb(0, 1e-12)))


def below(N: int, k: int, u: float) -> Fraction:
    p = (1 + Fraction(u)) / 2
    return sum(math.comb(N, c) * p**c * (1 - p) ** (N - c) for c in range(k + 1))


@pytest.mark.parametrize("N", [1, 10, 80])
def test_right_votes_are_rounded_up(N: int) -> None:
    u = np.array([-1.0, -0.7, -1e-3, 0.0, 1e-9, 0.02, 0.4, 0.999, 1 - 2**-53, 1.0])
    for k in {0, N // 3, N // 2, N - 1}:
        for x in u:
            above(tails.right_votes_upper(np.array([x]), N, k), below(N, k, x), room=1e-14)
        exact = sum(below(N, k, x) for x in [*u, *u, 0.4]) / 21
        above(tails.right_votes_upper(np.array([*u, *u, 0.4]), N, k), exact, room=1e-14)
        with flint.ctx.workprec(128):
            ball = tails.binomial_cdf_ball(N, k, arb(1) / 2)
            assert ball.contains(outward.exact_ball(below(N, k, 0.0)))
            assert ball.rel_accuracy_bits() > 90


@pytest.mark.parametrize("beta", BETAS)
def test_the_kl_of_votes_is_rounded_up(beta: float) -> None:
    rng = np.random.default_rng(0)
    for N in (10, 320, 5120):
        v = np.concatenate([rng.normal(size=7), [0.0, 40.0, 1e-9, 1e-300]])
        weights = np.abs(v) / np.abs(v).sum()
        for setting in (beta, 0.0):
            value = outward.vote_parts(np.zeros(3), v, n=30, N=N, k=N // 2, beta=setting).KL
            expected = vote.vote_kl(weights, N, n=30, beta=setting)
            assert value >= expected - 1e-9
            assert value == pytest.approx(expected, rel=1e-7)
    alone = outward.vote_parts(np.zeros(3), [3.0], n=30, N=10, k=5, beta=beta).KL
    above(alone, sum(math.log((30 * beta + t) / (beta + t)) for t in range(10)) * (1 - 1e-15))


@pytest.mark.parametrize("small", [1e-40, 5e-324])
def test_a_voter_beside_one_of_nearly_all_weight(small: float) -> None:
    """1 - theta_1 is below the last bit of any ball around theta_1: the KL was no number."""
    value = outward.vote_parts(np.array([0.5]), [1.0, small], n=4, N=40, k=30, beta=0.003).KL
    alone = outward.vote_parts(np.array([0.5]), [1.0], n=4, N=40, k=30, beta=0.003).KL
    above(value, alone * (1 - 1e-12))


@pytest.mark.parametrize("beta", [0.001, 0.3])
def test_the_two_expectations_are_rounded_down(beta: float) -> None:
    """Against high-precision sums over all counts."""
    with mpmath.workdps(40), flint.ctx.workprec(128):
        b = mpmath.mpf(repr(beta))

        def rising(c: int) -> mpmath.mpf:
            return mpmath.loggamma(c + b) - mpmath.loggamma(b)

        thetas = [Fraction(99, 1000), Fraction(1, 1000), Fraction(9, 10)]
        exact = mpmath.mpf(0)
        for t in thetas:
            p = mpmath.mpf(t.numerator) / t.denominator
            exact += sum(mpmath.binomial(60, c) * p**c * (1 - p) ** (60 - c) * rising(c) for c in range(1, 61))
        value = tails.binomial_rising_lower([outward.exact_ball(t) for t in thetas], 60, outward.decimal(beta))
        assert value <= exact
        assert value == pytest.approx(float(exact), rel=1e-10)
        rates = [Fraction(1, 1000), Fraction(5, 2), Fraction(40)]
        exact = mpmath.mpf(0)
        for t in rates:
            r = mpmath.mpf(t.numerator) / t.denominator
            exact += sum(mpmath.exp(-r) * r**c / mpmath.factorial(c) * rising(c) for c in range(1, 160))
        value = tails.poisson_rising_lower([outward.exact_ball(t) for t in rates], outward.decimal(beta))
        assert value <= exact
        assert value == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("size", ["0", "0.0001", "1", "30", "3000"])
def test_skellam_masses_are_rounded_up(size: str) -> None:
    with flint.ctx.workprec(128), mpmath.workdps(30):
        half, outside = tails._half_upper(outward.exact_ball(size))
        x = mpmath.mpf(size)
        for n in {0, 1, 5, len(half) - 1} & set(range(len(half))):
            exact = mpmath.exp(-x) * mpmath.besseli(n, x)
            assert half[n] >= exact
            assert half[n] <= exact * (1 + mpmath.mpf(10) ** -10) + mpmath.mpf(10) ** -300
    total = 2 * math.fsum(half) - half[0]
    assert total + outside >= 1
    assert total == pytest.approx(1, abs=1e-10)
    assert outside < 1e-15


@pytest.mark.parametrize(("size", "k"), [("0", 0), ("1", 0), ("30", 7), ("2000", 60), ("200", 10), ("3000", 5_000)])
def test_a_tail_of_the_skellam_law_is_rounded_down(size: str, k: int) -> None:
    with flint.ctx.workprec(128), mpmath.workdps(30):
        value, x = tails.lead_lower(outward.exact_ball(size), k, arb(0)), mpmath.mpf(size)
        last = k + 40 * int(float(size) ** 0.5 + 2)
        exact = 1 - sum(mpmath.exp(-x) * mpmath.besseli(n, x) for n in range(k + 1, last))
        assert value <= exact
        assert value >= exact * (1 - mpmath.mpf(10) ** -10)


def test_margins_are_divided_downwards() -> None:
    with flint.ctx.workprec(128):
        value = outward.lower_margins(np.array([1.0, -1.0, 0.0]), outward.exact_ball(Fraction(3)))
    assert [Fraction(x) <= Fraction(y, 3) for x, y in zip(value.tolist(), (1, -1, 0), strict=True)] == [True] * 3
    assert value == pytest.approx([1 / 3, -1 / 3, 0.0])


def test_the_weights_of_a_linear_network() -> None:
    rng = np.random.default_rng(5)
    hidden = {(1, 0): rng.normal(size=(4, 3)), (2, 1): rng.normal(size=(2, 4)), (3, 1): rng.normal(size=(1, 4))}
    output = {1: rng.normal(size=4), 2: rng.normal(size=2), 3: rng.normal(size=1)}
    layers = output[1] + hidden[2, 1].T @ output[2] + hidden[3, 1].T @ output[3]
    assert np.allclose([float(x) for x in linear_weights(hidden, output, depth=3)], hidden[1, 0].T @ layers)


def test_weights_that_nearly_cancel_are_weights() -> None:
    """2^140 + 2^-140 - 2^140 is 2^-140, and more than the 2^-141 beside it: at 128 bits it was taken for 0."""
    columns = np.array([[2.0**70, 0.0], [2.0**-70, 0.0], [-(2.0**70), 0.0], [0.0, 2.0**-70]])
    output = {1: np.array([2.0**70, 2.0**-70, 2.0**70, 2.0**-71])}
    assert [float(x) for x in linear_weights({(1, 0): columns}, output, depth=1)] == [2.0**-140, 2.0**-141]


def test_many_margins_are_taken_in_groups_by_their_least() -> None:
    u = np.random.default_rng(7).normal(0.1, 0.05, 50_000)
    every, some = tails.right_votes_upper(u[:9_000], 640, 340), vote.vote_empirical(u[:9_000], 640, 340)
    above(every, some * (1 - 1e-12))
    above(tails.right_votes_upper(u, 640, 340), vote.vote_empirical(u, 640, 340) * (1 - 1e-12), rel=1e-2)
