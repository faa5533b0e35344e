"""The value of a certificate from its parts; of the search tables the least setting and the sample that would do."""

import math

import numpy as np
import pytest

from adanet_theory.certificate import Candidates, Certificate, certificate, least, m_needed
from adanet_theory.kl import kl_inverse, xi

TABLE = Candidates(40, 0.03, 30.0, 5.0, np.array([20.0, 25.0]), np.array([0.2, 0.3]), np.array([0.5, 0.9]))


def test_the_value_is_cut_at_one() -> None:
    assert Certificate("a", {}, 0.4).value == 0.4
    assert Certificate("a", {}, 1.0).is_vacuous
    assert not Certificate("a", {}, 0.99).is_vacuous


def test_values_are_those_of_certificate() -> None:
    for i in range(2):
        found = certificate("a", TABLE.empirical[i], KL=30.0, grid=5.0, b=TABLE.b[i], m=400, delta=0.05)
        assert TABLE.values(400, 0.05)[i] == pytest.approx(found.raw)
    exponent = (30 + 5 + math.log(xi(400) / 0.05)) / 400
    assert TABLE.values(400, 0.05)[1] == pytest.approx(kl_inverse(0.3, exponent) / 0.9)
    assert least([TABLE], 400, 0.05) == (TABLE.values(400, 0.05)[1], 40, 25, 0.03)


def test_the_sample_that_would_be_enough() -> None:
    m = m_needed([TABLE], 0.05)
    assert m is not None
    assert TABLE.values(int(m * 1.02), 0.05).min() < 1 < TABLE.values(int(m * 0.98), 0.05).min()
    hopeless = Candidates(40, 0.03, 30.0, 5.0, TABLE.k, np.array([0.6, 0.95]), TABLE.b)
    assert m_needed([hopeless], 0.05) is None
    assert m_needed([hopeless, TABLE], 0.05) == m


def test_refusals() -> None:
    for change, line in [({"b": 0.0}, "b must be in"), ({"KL": -1.0}, "KL must be"), ({"delta": 2.0}, "delta must be")]:
        with pytest.raises(ValueError, match=line):
            certificate("a", 0.1, **({"KL": 1.0, "grid": 0.0, "b": 0.5, "m": 10, "delta": 0.05} | change))
