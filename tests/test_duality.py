"""The closed form of AdaNet.CVX: by Hölder equality and at its limits; what a step gains is in the suite."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adanet_theory.duality import (
    dual_vector,
    guaranteed_decrease,
    is_optimal,
    layer_score,
    printed_dual_vector,
)
from adanet_theory.norms import conjugate, p_norm
from tests.refusals import refused

finite_floats = st.floats(-1e300, 1e300, allow_subnormal=True)
vectors = arrays(np.float64, st.integers(1, 6), elements=finite_floats)
norms = st.one_of(st.sampled_from([1.0, 2.0, math.inf, 1.001, 1e4]), st.floats(1, 50))


@given(vectors, norms, st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_feasible_and_hoelder_tight(eps: np.ndarray, p: float, Lambda: float) -> None:
    u = dual_vector(eps, Lambda, p)
    assert np.isfinite(u).all()
    assert p_norm(u, p) <= Lambda * (1 + 1e-9)
    largest = np.abs(eps).max()
    if largest > 0:
        unit = eps / largest
        assert u @ unit == pytest.approx(Lambda * p_norm(unit, conjugate(p)), rel=1e-9, abs=1e-12)


def test_limits_and_ties() -> None:
    eps = np.array([3.0, -4.0, 4.0, 0.0])
    np.testing.assert_array_equal(dual_vector(eps, 2.0, 1), [0, -2, 0, 0])  # one argmax, the first
    np.testing.assert_array_equal(dual_vector(eps, 2.0, math.inf), [2, -2, 2, 0])
    np.testing.assert_allclose(dual_vector(eps, 2.0, 1 + 1e-9), [0, -1, 1, 0], atol=1e-7)  # ties share, as p -> 1
    np.testing.assert_allclose(dual_vector(eps, 2.0, 1e9), [2, -2, 2, 0], atol=1e-7)
    np.testing.assert_array_equal(dual_vector([0.0, 0.0], 2.0, 2), [0, 0])
    np.testing.assert_array_equal(dual_vector([5e-324], 1.0, 3), [1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0], 1.0, 0.5), r"p must be in \[1, inf\], got p=0\.5\."),
        (([1.0], -1.0, 2), r"Lambda must be finite and >= 0, got Lambda=-1\.0\."),
        (([math.nan], 1.0, 2), r"eps must be a vector of finite numbers\."),
        (([[1.0]], 1.0, 2), r"eps must be a vector of finite numbers\."),
    ],
)
def test_dual_vector_refuses(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        dual_vector(*arguments)


@pytest.mark.parametrize("p", [1.0, 1.5, 3.0, math.inf])
def test_single_precision_is_read_in_double(p: float) -> None:
    eps = np.array([0.1, -0.7, 0.3], dtype=np.float32)
    assert p_norm(eps, p) == p_norm(eps.astype(np.float64), p)
    assert np.array_equal(dual_vector(eps, 0.1, p), dual_vector(eps.astype(np.float64), 0.1, p))
    assert dual_vector(eps, 0.1, p).dtype == np.float64


def test_nothing_to_weigh() -> None:
    assert dual_vector([], 1.0, 2.0).shape == (0,)


def test_print_lacks_the_sign() -> None:
    """Audit C61: ε = (17/30, -.8), p = 2: u·ε = -.3253 as printed, .9804 with the sign."""
    eps = np.array([17 / 30, -0.8])
    assert printed_dual_vector(eps, 1.0, 2) @ eps == pytest.approx(-0.3253, abs=5e-5)
    assert dual_vector(eps, 1.0, 2) @ eps == pytest.approx(0.9804, abs=5e-5)
    positive = np.abs(eps)
    for p in (1.3, 2, 7, math.inf):
        np.testing.assert_allclose(printed_dual_vector(positive, 0.7, p), dual_vector(positive, 0.7, p))


def test_print_is_undefined_at_its_ends() -> None:
    with pytest.raises(ValueError, match=r"p > 1.* p=1\.$"):
        printed_dual_vector([1.0], 1.0, 1)
    with pytest.raises(ValueError, match=r"eps != 0.* eps=0\.$"):
        printed_dual_vector([0.0], 1.0, 2)


def test_decrease_at_its_edges() -> None:
    assert guaranteed_decrease(0.2, 0.3, tau=0.25, mean_square=0.0) == 0
    assert guaranteed_decrease(0.4, 0.3, tau=math.inf, mean_square=1.0) == 0
    assert guaranteed_decrease(2.0, 1.0, tau=0.5, mean_square=0.25) == 4.0
    assert is_optimal(0.5, 0.5)
    refused(lambda: guaranteed_decrease(1, 0, tau=0, mean_square=1), "tau ", "> 0", "tau=0.")
    refused(lambda: guaranteed_decrease(1, 0, tau=1, mean_square=0), "mean_square", "> 0", "0.")
    refused(lambda: guaranteed_decrease(1, 0, tau=1, mean_square=-1), "mean_square", ">= 0", "mean_square=-1.")
    refused(lambda: layer_score([1.0], -1.0, 2, 1.0), "Lambda", ">= 0", "Lambda=-1.0.")
    refused(lambda: layer_score([1.0], 1.0, 2, -1.0), "S_t/m", ">= 0", "S_t/m=-1.0.")
