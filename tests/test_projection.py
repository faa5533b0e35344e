"""The projection is judged by what defines it: v is nearest in the ball iff Λ ||u - v||_q <= (u - v) · v."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from adanet_theory.norms import conjugate
from adanet_train.convex.projection import members, nearest
from adanet_train.core.norms import row_norms

P = [1.0, 1.001, 1.3, 1.5, 2.0, 2.5, 4.0, 50.0, 1e4, math.inf]


def matrix(seed: int, rows: int, columns: int, scale: float) -> torch.Tensor:
    U = torch.randn(rows, columns, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) * scale
    U[0] = 0
    U[-1, 0] *= 1e6  # one entry far above the others
    return U


@pytest.mark.parametrize("p", P)
@settings(max_examples=50)
@given(seed=st.integers(0, 2**32), columns=st.integers(1, 12), log_scale=st.floats(-3, 3), Lambda=st.floats(1e-2, 1e2))
def test_variational_inequality(p, seed, columns, log_scale, Lambda):
    U = matrix(seed, 4, columns, 10**log_scale)
    V = nearest(U, Lambda, p)
    inside = row_norms(U, p) <= Lambda
    assert torch.equal(V[inside], U[inside])
    assert (row_norms(V, p) <= Lambda * (1 + 1e-14 * columns)).all()
    residual = U - V
    largest = Lambda * row_norms(residual, conjugate(p))
    # For p near 1 the solution is z^(q-1), which multiplies every rounding error by q.
    digits = 1e-13 * columns * (conjugate(p) if 1 < p < 2 else 1)
    assert (largest - (residual * V).sum(1) <= digits * row_norms(U, 2) * Lambda + 1e-300).all()


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_scipy_finds_nothing_nearer(p):
    from scipy.optimize import minimize

    U = matrix(7, 5, 4, 1.0).numpy()
    V = nearest(torch.from_numpy(U), 0.8, p).numpy()
    for u, v in zip(U, V, strict=True):
        # |v| = a - b with a, b >= 0 would do for p = 1; signs agree at the optimum, so v = sgn(u) a suffices.
        ball = {"type": "ineq", "fun": lambda a: 0.8**p - np.sum(np.abs(a) ** p)}
        start = np.abs(u) * min(1.0, 0.5 / max(np.abs(u).sum(), 1e-9))
        minimum = minimize(
            lambda a, u=u: np.sum((a - np.abs(u)) ** 2),
            start,
            bounds=[(0, None)] * 4,
            constraints=ball,
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 500},
        )
        np.testing.assert_allclose(np.sum((v - u) ** 2), minimum.fun, rtol=1e-6, atol=1e-10)


def test_paper_cases_by_hand():
    U = torch.tensor([[3.0, -4.0]], dtype=torch.float64)
    torch.testing.assert_close(nearest(U, 1.0, 2), torch.tensor([[0.6, -0.8]], dtype=torch.float64))
    torch.testing.assert_close(nearest(U, 2.0, 1), torch.tensor([[0.5, -1.5]], dtype=torch.float64))
    torch.testing.assert_close(nearest(U, 2.0, math.inf), torch.tensor([[2.0, -2.0]], dtype=torch.float64))


@pytest.mark.parametrize("p", [1, 2])
@given(seed=st.integers(0, 2**32), columns=st.integers(1, 200), Lambda=st.floats(1e-3, 1e3))
def test_members_are_members_as_real_numbers(p, seed, columns, Lambda):
    U = members(matrix(seed, 3, columns, 3.0), Lambda, p)
    for row in U.tolist():
        assert sum((abs(Fraction(u)) ** p for u in row), Fraction(0)) <= Fraction(Lambda) ** p


@pytest.mark.parametrize("p", P)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32), columns=st.integers(1, 40))
def test_members_norm_is_at_most_Lambda_in_every_order(p, seed, columns):
    U = members(matrix(seed, 4, columns, 2.0).float(), 1.01, p)
    assert U.dtype == torch.float64
    for V in (U, U.flip(1), U.sort(1).values):
        assert (torch.linalg.vector_norm(V, p, dim=1) <= 1.01).all()
        assert (np.linalg.norm(V.numpy(), p, axis=1) <= 1.01).all()


@pytest.mark.parametrize("p", P)
def test_members_hardly_move(p):
    U = matrix(3, 6, 30, 1.0)
    V = nearest(U, 1.0, p)
    torch.testing.assert_close(members(U, 1.0, p), V, rtol=1e-12, atol=1e-14)


def test_no_columns():
    U = torch.zeros(3, 0, dtype=torch.float64)
    assert members(U, 1.0, 2).shape == (3, 0)
    assert row_norms(U, 1.0).tolist() == [0, 0, 0]
