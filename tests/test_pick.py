"""pick-, occam- and disagreement-certificate: reference values, defining equations, refusals."""

import math
from fractions import Fraction

import pytest

from adanet_theory import disagreement_certificate, occam_certificate, pick_certificate
from adanet_theory.certificates.binomial import clopper_pearson
from adanet_theory.twins import counted


def pick_sum(k: int, N: int, delta: Fraction, eps: Fraction) -> Fraction:
    """The left side of the defining equation, as it is written."""
    terms = (Fraction(math.comb(m, k), math.comb(N, k)) / (1 - eps) ** (N - m) for m in range(k, N))
    return delta / N * sum(terms, Fraction(0))


@pytest.mark.parametrize("delta", [1e-300, 0.05, 0.5, 0.999])
@pytest.mark.parametrize("N", [1, 2, 7, 40])
def test_the_picked_risk_solves_its_equation(N: int, delta: float) -> None:
    for k in range(N):
        eps = pick_certificate(k, N, delta)
        low, high = Fraction(eps) * (1 - Fraction(1, 10**11)), Fraction(eps) * (1 + Fraction(1, 10**11))
        assert pick_sum(k, N, Fraction(delta), low) < 1
        assert high >= 1 or pick_sum(k, N, Fraction(delta), high) > 1
    assert pick_certificate(N, N, delta) == 1.0


@pytest.mark.parametrize("delta", [1e-300, 0.05, 0.9])
def test_the_picked_risk_rises_in_k_and_falls_in_n(delta: float) -> None:
    for N in (1, 2, 30, 10**3, 10**7):
        ks = sorted({0, 1, 2, N // 10, N // 2, N - 1, N} & set(range(N + 1)))
        values = [pick_certificate(k, N, delta) for k in ks]
        assert values == sorted(values)
        assert all(pick_certificate(k, 2 * N, delta) <= value for k, value in zip(ks, values, strict=True))
        assert all(pick_certificate(k, N, delta) > clopper_pearson(k, N, delta) for k in ks[:-2] if delta == 0.05)


def test_no_description_is_the_held_out_bound_and_an_endless_one_says_nothing() -> None:
    assert occam_certificate(3, 50, 0, 0.05) == clopper_pearson(3, 50, 0.05)
    assert occam_certificate(3, 50, 3, 0.05) == pytest.approx(clopper_pearson(3, 50, 0.05 / 8), rel=1e-13)
    assert occam_certificate(3, 50, math.inf, 0.05) == occam_certificate(50, 50, 1, 0.05) == 1.0


def test_disagreement_adds_and_stops_at_one() -> None:
    assert disagreement_certificate(0.02, 3, 50, 0.05) == 0.02 + clopper_pearson(3, 50, 0.05)
    assert disagreement_certificate(0.9, 30, 50, 0.05) == disagreement_certificate(0, 50, 50, 0.05) == 1.0


@pytest.mark.parametrize("delta", ["1e-300", "0.05", "0.9"])
@pytest.mark.parametrize("N", [1, 2, 9, 40])
def test_the_certified_values_are_on_the_safe_side_of_exact_fractions(N: int, delta: str) -> None:
    for k in range(N):
        eps, level = Fraction(counted.pick_upper(k, N, delta)), Fraction(delta)
        assert eps == 1 or pick_sum(k, N, level, eps) >= 1
        assert eps * (1 - Fraction(1, 10**11)) < Fraction(pick_certificate(k, N, float(level)))
        p = Fraction(counted.occam_upper(k, N, 5, delta))
        assert p == 1 or cdf(k, N, p) <= level / 32
        sum_of_both = Fraction(counted.disagreement_upper(Fraction(1, 3), k, N, delta))
        assert sum_of_both == 1 or cdf(k, N, sum_of_both - Fraction(1, 3)) <= level
    assert counted.pick_upper(N, N, delta) == counted.occam_upper(N, N, 0, delta) == 1.0


def cdf(k: int, N: int, p: Fraction) -> Fraction:
    return sum((math.comb(N, j) * p**j * (1 - p) ** (N - j) for j in range(k + 1)), Fraction(0))


@pytest.mark.parametrize("k", [0, 1, 10**5, 5 * 10**6, 10**7 - 1, 10**7])
@pytest.mark.parametrize("delta", ["1e-300", "0.05"])
def test_the_certified_values_are_tight_at_ten_million_points(k: int, delta: str) -> None:
    N = 10**7
    for certified, numeric in (
        (counted.pick_upper(k, N, delta), pick_certificate(k, N, float(delta))),
        (counted.occam_upper(k, N, 1518, delta), occam_certificate(k, N, 1518, float(delta))),
        (counted.disagreement_upper("0.01", k, N, delta), disagreement_certificate(0.01, k, N, float(delta))),
    ):
        assert numeric * (1 - 1e-12) <= certified <= numeric * (1 + 1e-12)


def test_a_delta_that_is_no_float_is_certified() -> None:
    tiny = Fraction(1, 10**400)
    expected = occam_certificate(3, 1000, 400 * math.log2(10) - 1, 0.5)
    assert counted.clopper_pearson_upper(3, 1000, tiny) == pytest.approx(expected, rel=1e-11)
    eps = Fraction(counted.pick_upper(3, 300, tiny))
    assert pick_sum(3, 300, tiny, eps) >= 1 > pick_sum(3, 300, tiny, eps * (1 - Fraction(1, 10**11)))
    assert counted.occam_upper(3, 1000, math.inf, "0.05") == 1.0


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: pick_certificate(5, 4, 0.05), r"k must be an integer in \[0, N\], got k=5, N=4\."),
        (lambda: pick_certificate(1.5, 4, 0.05), r"k must be an integer in \[0, N\], got k=1\.5, N=4\."),
        (lambda: pick_certificate(0, 0, 0.05), r"N must be an integer >= 1, got N=0\."),
        (lambda: pick_certificate(1, 4, 1.0), r"delta must be in \(0, 1\), got delta=1\.0\."),
        (lambda: occam_certificate(5, 4, 1, 0.05), r"k must be an integer in \[0, N\], got k=5, N=4\."),
        (lambda: occam_certificate(1, 4, -1, 0.05), r"bits must be >= 0, got bits=-1\."),
        (lambda: occam_certificate(1, 4, math.nan, 0.05), r"bits must be >= 0, got bits=nan\."),
        (lambda: occam_certificate(1, 4, 1, 0.0), r"delta must be in \(0, 1\), got delta=0\.0\."),
        (lambda: disagreement_certificate(1.5, 1, 4, 0.05), r"b must be in \[0, 1\], got b=1\.5\."),
        (lambda: disagreement_certificate(0, 5, 4, 0.05), r"d must be an integer in \[0, n\], got d=5, n=4\."),
        (lambda: counted.pick_upper(5, 4, "0.05"), r"k must be an integer in \[0, N\], got k=5, N=4\."),
        (lambda: counted.pick_upper(1, 4, "1"), r"delta must be in \(0, 1\), got delta=1\."),
        (lambda: counted.occam_upper(1, 4, -1, "0.05"), r"bits must be >= 0, got bits=-1\."),
        (lambda: counted.disagreement_upper(2, 1, 4, "0.05"), r"b must be in \[0, 1\], got b=2\."),
        (lambda: disagreement_certificate(0, 1, 4, 2.0), r"delta_2 must be in \(0, 1\), got delta_2=2\.0\."),
    ],
)
def test_refusals(call: object, line: str) -> None:
    with pytest.raises(ValueError, match=f"^{line}"):
        call()  # type: ignore[operator]


@pytest.mark.parametrize("gap", [2.0**-53, 1e-9, 1e-3, 1e-200])
def test_a_delta_near_one_is_rounded_outward_too(gap: float) -> None:
    """At k = 0 and N = 1 the root is 1 - delta, and so it is for points never used."""
    delta = 1 - Fraction(gap)
    for upper in (counted.pick_upper(0, 1, delta), counted.clopper_pearson_upper(0, 1, delta)):
        assert gap <= upper <= gap * (1 + 1e-9) + 1e-20
