"""p-norms, dual vectors and signs, on arrays and on tensors."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adanet_theory.duality import dual_vector
from adanet_theory.norms import all_signs, conjugate, dual_direction, norms, p_norm
from adanet_train.norms import dual_vectors, row_norms

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
    with pytest.raises(ValueError, match=r"^p must be in \[1, inf\], got p=0\.5\.$"):
        conjugate(0.5)


@given(arrays(np.float64, (3, 4), elements=finite_floats), st.sampled_from(EXPONENTS))
def test_rows_of_arrays_and_of_tensors_have_the_norm_of_each(X: np.ndarray, p: float) -> None:
    each = [p_norm(x, p) for x in X]
    np.testing.assert_allclose(norms(X, p), each, rtol=1e-12)
    if np.isfinite(each).all():
        np.testing.assert_allclose(row_norms(torch.from_numpy(X), p).numpy(), each, rtol=1e-12)


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=6), st.sampled_from(EXPONENTS))
def test_dual_vectors_attain_hoelder(g: list[float], p: float) -> None:
    u = dual_vectors(torch.tensor([g], dtype=torch.float64), p)[0].numpy()
    assert np.linalg.norm(u, p) <= 1 + 1e-12
    assert u @ np.array(g) == pytest.approx(p_norm(g, conjugate(p)), rel=1e-9, abs=1e-290)


@pytest.mark.parametrize("p", EXPONENTS)
def test_dual_vectors_of_tensors_are_the_theorys(p: float) -> None:
    G = np.array([[0.3, -2.0, 0.0, 1e-3], [0.0] * 4, [1e-200, -1e-200, 0.0, 5e-324], [-4.0, 3.0, 4.0, 1.0]])
    found = dual_vectors(torch.from_numpy(G), p).numpy()
    np.testing.assert_allclose(found, [dual_vector(g, 1.0, p) for g in G], rtol=1e-12, atol=1e-300)
    if 1 < p < math.inf:
        direction = dual_direction(G, p)
        lengths = norms(direction, p)[:, None]
        np.testing.assert_allclose(direction, found * lengths, rtol=1e-12, atol=1e-300)


def test_all_signs_are_there_once_and_the_first_half_has_the_last_sign_plus() -> None:
    for m in range(6):
        signs = all_signs(m)
        assert signs.shape == (2**m, m)
        assert {tuple(row) for row in signs} == set(itertools.product([1.0, -1.0], repeat=m))
    assert (all_signs(5)[:16, -1] == 1).all()
