"""The closed form of AdaNet.CVX: u maximises u·ε over ||u||_p <= Λ, for every p and every float."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, find, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from adanet_theory.checks import Array
from adanet_theory.duality import dual_vector, printed_dual_vector
from adanet_theory.norms import conjugate, p_norm
from verify.suite.profiles import chance, share
from verify.suite.strategies import exponents, vectors
from verify.suite.tightness import below

ROUNDING = 1e-12


def unit(eps: Array) -> Array:
    """ε/max|ε_i|, the same problem at a scale where products are floats."""
    largest = np.abs(eps).max()
    return eps / largest if largest > 0 else eps


@pytest.mark.claim("cvx-closed-form")
@given(vectors(), st.sampled_from([0.0, 0.5, 1.0, 3.0]), exponents())
def test_feasible_and_hoelder_tight(eps: Array, Lambda: float, p: float) -> None:
    u, e = dual_vector(eps, Lambda, p), unit(eps)
    assert np.isfinite(u).all()
    below("cvx-closed-form: ||u||_p <= Λ", p_norm(u, p), Lambda, f"n = {len(eps)}, p = {p:g}")
    value = Lambda * p_norm(e, conjugate(p))
    assert float(u @ e) == pytest.approx(value, rel=ROUNDING, abs=0)


@given(st.data(), exponents())
def test_no_other_unit_is_better(data: st.DataObject, p: float) -> None:
    eps = data.draw(vectors(4))
    other = data.draw(arrays(np.float64, len(eps), elements=st.floats(-1, 1)))
    assume(np.abs(other).max() > 1e-3)
    e, v = unit(eps), other / p_norm(other, p)
    below("Hölder: v·ε <= u·ε", float(v @ e), float(dual_vector(e, 1.0, p) @ e), f"p = {p:g}")


def solved(e: Array, p: float) -> float:
    """max u·ε over the ball by a solver that does not use duality."""
    from scipy.optimize import linprog, minimize

    both, split = np.concatenate([-e, e]), np.ones((1, 2 * len(e)))
    if p == 1:
        return -float(linprog(both, A_ub=split, b_ub=[1.0]).fun or 0.0)
    if p == math.inf:
        return -float(linprog(both, bounds=(0, 1)).fun or 0.0)

    def loss(x: Array) -> float:
        return -float(x @ e) / float(np.sum(np.abs(x) ** p)) ** (1 / p)

    best = 0.0
    for start in (e, np.sign(e) + 0.1):
        best = max(best, -float(minimize(loss, start, method="BFGS").fun))
    return best


@share(4)
@given(arrays(np.float64, st.integers(1, 4), elements=st.integers(-20, 20).map(lambda i: i / 20)),
       st.sampled_from([1.0, 1.2, 1.5, 2.0, 3.0, 6.0, math.inf]))  # fmt: skip
def test_no_better_unit_by_a_numerical_solver(eps: Array, p: float) -> None:
    assume(np.any(eps))
    ours = float(dual_vector(eps, 1.0, p) @ eps)
    theirs = solved(eps, p)
    below("solver: max u·ε <= closed form", theirs, ours, f"n = {len(eps)}, p = {p:g}", rounding=1e-9)
    assert theirs >= 0.999 * ours, "the solver should come close, or it shows nothing"


@given(vectors(), exponents(), st.integers(-60, 60), st.randoms(use_true_random=False))
def test_invariances(eps: Array, p: float, power: int, random: object) -> None:
    u = dual_vector(eps, 1.0, p)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(eps, power)
        exact = np.array_equal(np.ldexp(scaled, -power), eps)
    if exact:  # no bit was lost at either end of the floats
        np.testing.assert_array_equal(dual_vector(scaled, 1.0, p), u)
    flips = np.array([random.choice([1.0, -1.0]) for _ in eps])  # type: ignore[attr-defined]
    np.testing.assert_array_equal(dual_vector(flips * eps, 1.0, p), flips * u)
    np.testing.assert_array_equal(dual_vector(eps, 4.0, p), 4 * u)
    order = random.sample(range(len(eps)), len(eps))  # type: ignore[attr-defined]
    permuted = dual_vector(eps[order], 1.0, p)
    if p > 1:
        np.testing.assert_allclose(permuted, u[order], rtol=ROUNDING)
    else:  # any maximiser would do, so that only the value stays
        assert permuted @ unit(eps)[order] == u @ unit(eps)


@given(arrays(np.float64, st.integers(1, 6), elements=st.integers(-5, 5).map(float)))
def test_limits_ties_and_zeros(eps: Array) -> None:
    assume(np.any(eps))
    largest = np.abs(eps) == np.abs(eps).max()
    shared = np.sign(eps) * largest / largest.sum()
    np.testing.assert_allclose(dual_vector(eps, 1.0, 1 + 1e-7), shared, atol=1e-5)
    np.testing.assert_allclose(dual_vector(eps, 1.0, 1e9), np.sign(eps), atol=1e-7)
    at_one = dual_vector(eps, 1.0, 1)
    assert np.count_nonzero(at_one) == 1
    assert at_one @ eps == np.abs(eps).max()
    np.testing.assert_array_equal(dual_vector(eps, 1.0, math.inf), np.sign(eps))
    for p in (1.0, 1.5, 2.0, 7.0, math.inf):
        assert not dual_vector(eps, 1.0, p)[eps == 0].any()
        assert not dual_vector(0 * eps, 1.0, p).any()


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-160, 1.0, 1e160, 1e300])
@given(p=exponents())
def test_ends_of_the_floats(size: float, p: float) -> None:
    eps = np.array([size, -size, 0.0])
    root = 2.0 ** (1 / p) if p < math.inf else 1.0
    expected = np.array([1, 0, 0]) if p == 1 else np.array([1, -1, 0]) / root
    np.testing.assert_allclose(dual_vector(eps, 1.0, p), expected, rtol=1e-12)


@pytest.mark.claim("cvx-sign")
@given(arrays(np.float64, st.integers(1, 5), elements=st.integers(-20, 20).map(lambda i: i / 20)),
       st.floats(1.1, 20))  # fmt: skip
def test_the_printed_formula_is_right_just_where_no_component_is_negative(eps: Array, p: float) -> None:
    assume(np.any(eps))
    best = p_norm(eps, conjugate(p))
    printed = float(printed_dual_vector(eps, 1.0, p) @ eps)
    if (eps >= 0).all():
        assert printed == pytest.approx(best, rel=1e-9)
    else:
        assert printed < best
        # every negative component counts against it, where it should count for it
        below("cvx-sign: descent lost <= 2||ε||_q", best - printed, 2 * best, f"n = {len(eps)}, p = {p:g}")


@pytest.mark.claim("cvx-sign")
def test_the_failure_of_the_printed_formula_is_found_unaided() -> None:
    def fails(eps: Array) -> bool:
        return bool(np.any(eps)) and float(printed_dual_vector(eps, 1.0, 2.0) @ eps) < 0.9 * p_norm(eps, 2.0)

    whole = arrays(np.float64, st.integers(1, 5), elements=st.integers(-9, 9).map(float))
    eps = find(whole, fails, settings=settings(max_examples=1000, database=None), random=chance())
    assert eps.tolist() == [-1.0], "one negative component is enough"
