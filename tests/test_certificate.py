"""The value of a certificate from its parts; of the search tables the least setting and the sample that would do."""

import math

import numpy as np
import pytest

from adanet_theory.certificates.derandomise import Certificate, Thresholds, certificate, least, m_needed
from adanet_theory.certificates.kl import kl_inverse, xi

TABLE = Thresholds(40, 0.03, 30.0, 5.0, np.array([20.0, 25.0]), np.array([0.2, 0.3]), np.array([0.5, 0.9]))


def test_the_value_is_cut_at_one() -> None:
    assert Certificate("a", {}, 0.4).value == 0.4
    assert Certificate("a", {}, 1.0).is_vacuous
    assert not Certificate("a", {}, 0.99).is_vacuous


def test_values_are_those_of_certificate() -> None:
    for i in range(2):
        value = certificate("a", TABLE.empirical[i], KL=30.0, grid=5.0, b=TABLE.b[i], m=400, delta=0.05)
        assert TABLE.values(400, 0.05)[i] == pytest.approx(value.raw)
    exponent = (30 + 5 + math.log(xi(400) / 0.05)) / 400
    assert TABLE.values(400, 0.05)[1] == pytest.approx(kl_inverse(0.3, exponent) / 0.9)
    assert least([TABLE], 400, 0.05) == (TABLE.values(400, 0.05)[1], 40, 25, 0.03)


def test_a_kl_that_rounding_made_negative_is_0() -> None:
    given = {"grid": 5.0, "b": 0.9, "m": 400, "delta": 0.05}
    value = certificate("a", 0.3, KL=-1e-12, **given)
    assert (value.id, value.raw) == ("a", certificate("a", 0.3, KL=0.0, **given).raw)
    for KL, counted in ((-1e-12, 0.0), (0.2, 0.2)):
        table = Thresholds(40, 0.03, KL, 5.0, TABLE.k, TABLE.empirical, TABLE.b)
        assert table.values(400, 0.05)[1] == pytest.approx(certificate("a", 0.3, KL=counted, **given).raw)


def test_shares_that_rounding_moved_past_0_and_1_are_0_and_1() -> None:
    table = Thresholds(40, 0.03, 1.0, 5.0, TABLE.k, np.array([-1e-17, 1 + 1e-15]), np.array([0.5, 0.9]))
    exact = Thresholds(40, 0.03, 1.0, 5.0, TABLE.k, np.array([0.0, 1.0]), np.array([0.5, 0.9]))
    assert np.array_equal(table.values(400, 0.05), exact.values(400, 0.05))
    assert table.m_needed(0.05) == exact.m_needed(0.05)


@pytest.mark.parametrize(("KL", "grid"), [(0.2, 0.1), (3.0, 0.5), (-1e-12, 0.1)])
def test_the_sample_that_would_be_enough_where_xi_is_most_of_the_price(KL: float, grid: float) -> None:
    table = Thresholds(40, 0.03, KL, grid, TABLE.k, np.array([0.4, 0.8]), TABLE.b)
    m = table.m_needed(0.5)
    assert table.values(math.ceil(m * 1.03), 0.5).min() < 1 < table.values(math.floor(m * 0.97), 0.5).min()


def test_even_where_no_error_escapes_there_must_be_a_sample() -> None:
    """b = 1 to the last bit: kl(q, 1) is infinite."""
    sure = Thresholds(40, 0.03, 30.0, 5.0, TABLE.k, TABLE.empirical, np.array([1.0, 1.0]))
    assert m_needed([sure], 0.05) == pytest.approx(40 / 25, abs=1)


def test_the_sample_that_would_be_enough() -> None:
    m = m_needed([TABLE], 0.05)
    assert m is not None
    assert TABLE.values(int(m * 1.02), 0.05).min() < 1 < TABLE.values(int(m * 0.98), 0.05).min()
    hopeless = Thresholds(40, 0.03, 30.0, 5.0, TABLE.k, np.array([0.6, 0.95]), TABLE.b)
    assert m_needed([hopeless], 0.05) is None
    assert m_needed([hopeless, TABLE], 0.05) == m


def test_refusals() -> None:
    for change, line in [
        ({"b": 0.0}, r"b must be in \(0, 1\], got b=0\.0\."),
        ({"b": 1.5}, r"b must be in \(0, 1\], got b=1\.5\."),
        ({"KL": -1.0}, r"KL must be finite and >= 0, got KL=-1\.0\."),
        ({"KL": math.inf}, r"KL must be finite and >= 0, got KL=inf\."),
        ({"delta": 2.0}, "delta must be"),
    ]:
        with pytest.raises(ValueError, match=f"^{line}"):
            certificate("a", 0.1, **({"KL": 1.0, "grid": 0.0, "b": 0.5, "m": 10, "delta": 0.05} | change))
