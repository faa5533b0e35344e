"""Each surrogate by what makes it one: convex, increasing, its derivatives and conjugate right, the ramp below it."""

import math
import pickle

import mpmath
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from adanet_train.core.surrogates import SURROGATES, Surrogate, surrogate

ALL = pytest.mark.parametrize("Phi", SURROGATES.values(), ids=SURROGATES.keys())
EXACT = {
    "logistic": lambda x: mpmath.log1p(mpmath.exp(x)),
    "logistic2": lambda x: mpmath.log1p(mpmath.exp(x)) / mpmath.log(2),
    "exponential": mpmath.exp,
}


def scalar(x: float) -> torch.Tensor:
    return torch.tensor(x, dtype=torch.float64)


@ALL
@pytest.mark.parametrize("x", [-700.0, -40.0, -3.0, -1e-9, 0.0, 0.7, 5.0, 36.0, 700.0])
def test_value_and_derivatives_to_the_last_digits(Phi: Surrogate, x: float) -> None:
    with mpmath.workdps(400):
        exact = EXACT[Phi.name]
        value, first, second = (float(mpmath.diff(exact, x, n)) for n in range(3))
    assert float(Phi.value(scalar(x))) == pytest.approx(value, rel=1e-14)
    assert float(Phi.derivative(scalar(x))) == pytest.approx(first, rel=1e-14)
    assert float(Phi.second(scalar(x))) == pytest.approx(second, rel=1e-13)


@ALL
@given(a=st.floats(-800, 800), b=st.floats(-800, 800), t=st.floats(0, 1))
def test_convex_and_non_decreasing(Phi: Surrogate, a: float, b: float, t: float) -> None:
    low, high = sorted((a, b))
    left, right, inside = (float(Phi.value(scalar(x))) for x in (low, high, t * low + (1 - t) * high))
    assert 0 <= left <= right
    if right < math.inf:
        assert inside <= (t * left + (1 - t) * right) * (1 + 1e-12) + 1e-300


@ALL
def test_never_nan_and_infinite_only_by_overflow(Phi: Surrogate) -> None:
    x = torch.tensor([-1e308, -1000.0, 1000.0, 1e308], dtype=torch.float64)
    for values in (Phi.value(x), Phi.derivative(x), Phi.second(x)):
        assert not values.isnan().any()
        assert (values[:2] == 0).all()
    assert (Phi.value(x)[2:] >= x[2:]).all()


@ALL
@given(x=st.floats(-30, 30), z=st.floats(-30, 30))
def test_conjugate_by_fenchel_young(Phi: Surrogate, x: float, z: float) -> None:
    """Φ(x) + Φ*(s) >= s x for every slope s, with equality at s = Φ'(x)."""
    s, other = Phi.derivative(scalar(x)), Phi.derivative(scalar(z))
    size = 1 + abs(x) + abs(z) + float(Phi.value(scalar(x)) + Phi.value(scalar(z))) * (1 + abs(x) + abs(z))
    assert abs(float(Phi.value(scalar(x)) + Phi.conjugate(s) - s * x)) <= 1e-14 * size
    assert float(Phi.value(scalar(x)) + Phi.conjugate(other) - other * x) >= -1e-14 * size


@ALL
def test_conjugate_at_zero_slope(Phi: Surrogate) -> None:
    assert float(Phi.conjugate(scalar(0.0))) == 0


@ALL
def test_curvature_is_the_supremum(Phi: Surrogate) -> None:
    largest = float(Phi.second(torch.linspace(-50, 50, 20001, dtype=torch.float64)).max())
    if Phi.curvature == math.inf:
        assert largest > 1e20
    else:
        assert largest == pytest.approx(Phi.curvature, rel=1e-15)


@ALL
def test_rho_max_bounds_the_ramp_and_no_larger_rho_does(Phi: Surrogate) -> None:
    u = torch.linspace(-5, 10, 300001, dtype=torch.float64)

    def slack(rho: float) -> float:
        return float((Phi.value(1 - u) - (1 - u / rho).clamp(0, 1)).min())

    assert slack(Phi.rho_max) >= 0
    assert slack(1.0001 * Phi.rho_max) < 0


def test_rho_max_reference_points() -> None:
    with mpmath.workdps(30):
        tangent = mpmath.findroot(lambda u: 1 - mpmath.log1p(mpmath.exp(1 - u)) - u / (1 + mpmath.exp(u - 1)), 2)
        logistic = float(1 + mpmath.exp(tangent - 1))
        exponential = float(mpmath.re(-mpmath.lambertw(-mpmath.exp(-2), -1)))
    assert surrogate("logistic").rho_max == pytest.approx(logistic, rel=3e-15)
    assert surrogate("exponential").rho_max == pytest.approx(exponential, rel=3e-15)
    assert (round(logistic, 3), round(exponential, 3)) == (2.844, 3.146)


@ALL
def test_equal_by_kind_and_frozen(Phi: Surrogate) -> None:
    assert pickle.loads(pickle.dumps(Phi)) == Phi == surrogate(Phi.name)
    with pytest.raises(AttributeError):
        Phi.name = "other"  # type: ignore[misc]
