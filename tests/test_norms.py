"""p-norms, dual directions and signs."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adanet_theory.norms import all_signs, conjugate, dual_direction, norms, p_norm

EXPONENTS = [1, 1.05, 1.5, 2, 3, 7, math.inf]
finite_floats = st.floats(-1e300, 1e300, allow_subnormal=True)
vectors = arrays(np.float64, st.integers(1, 6), elements=finite_floats)
exponents = st.one_of(st.sampled_from([1.0, 2.0, math.inf, 1.001, 1e4]), st.floats(1, 50))


@given(vectors, exponents)
def test_p_norm(x: np.ndarray, p: float) -> None:
    largest = np.abs(x).max()
    unit = x / largest if largest > 0 else x
    assert p_norm(x, p) == pytest.approx(largest * np.linalg.norm(unit, p), rel=1e-12)


def test_p_norm_of_nothing_is_zero() -> None:
    assert p_norm([], 2) == 0
    assert p_norm([0.0, -0.0], 2) == 0


@given(exponents)
def test_conjugate(p: float) -> None:
    assert 1 / p + 1 / conjugate(p) == pytest.approx(1, abs=1e-12)


def test_conjugate_refuses() -> None:
    with pytest.raises(ValueError, match=r"^p .*\[1, inf\].* p=0\.5\.$"):
        conjugate(0.5)


@given(arrays(np.float64, (3, 4), elements=finite_floats), st.sampled_from(EXPONENTS))
def test_rows_have_the_norm_of_each(X: np.ndarray, p: float) -> None:
    np.testing.assert_allclose(norms(X, p), [p_norm(x, p) for x in X], rtol=1e-12)


@given(vectors, st.sampled_from(EXPONENTS[1:-1]))
def test_dual_directions_attain_hoelder(g: np.ndarray, p: float) -> None:
    u, largest = dual_direction(g, p), np.abs(g).max()
    if largest > 0:
        unit = g / largest
        assert u @ unit == pytest.approx(p_norm(u, p) * p_norm(unit, conjugate(p)), rel=1e-9)


def test_all_signs_are_there_once_and_the_first_half_has_the_last_sign_plus() -> None:
    for m in range(6):
        signs = all_signs(m)
        assert signs.shape == (2**m, m)
        assert {tuple(row) for row in signs} == set(itertools.product([1.0, -1.0], repeat=m))
    assert (all_signs(5)[:16, -1] == 1).all()
