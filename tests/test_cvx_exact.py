"""The joint and the scalar step of AdaNet.CVX: optimality conditions, certificates, an oracle, the audit's case."""

import math

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from adanet_theory.duality import dual_vector
from adanet_theory.norms import conjugate, p_norm
from adanet_train.convex.cvx_exact import NormProblem, minimise_norm, minimise_scalar, scalar_weights
from adanet_train.convex.mixture import minimise
from adanet_train.convex.sample_loss import SampleLoss
from adanet_train.convex.smooth_norm import SmoothMax, SmoothNorm, SmoothPower, norm
from adanet_train.core.surrogates import SURROGATES, Surrogate, surrogate

ALL = pytest.mark.parametrize("Phi", SURROGATES.values(), ids=SURROGATES.keys())
NORMS = pytest.mark.parametrize("p", [1, 1.05, 1.5, 2, 3, 20, math.inf])
LOGISTIC, EXPONENTIAL = surrogate("logistic"), surrogate("exponential")


def sample(m: int, N: int, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Correlated columns, the last one dead, the one before twice, labels with noise, an offset."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(m, 3)) @ rng.normal(size=(3, N)) + 0.3 * rng.normal(size=(m, N))
    Z[:, -1], Z[:, -2] = 0, Z[:, 0]
    y = np.where(Z[:, 1] + rng.normal(size=m) > 0, 1.0, -1.0)
    return torch.tensor(Z), torch.tensor(y), torch.tensor(0.3 * rng.normal(size=m))


def objective(Z: Tensor, y: Tensor, f: Tensor, penalty: float, p: float, Phi: Surrogate, v: Tensor) -> float:
    return float(Phi.value(1 - y * (f + Z @ v)).mean()) + penalty * p_norm(v.numpy(), p)


def slope(Z: Tensor, y: Tensor, f: Tensor, Phi: Surrogate, v: Tensor) -> Tensor:
    return -(Z * (y * Phi.derivative(1 - y * (f + Z @ v)))[:, None]).mean(0)


@ALL
@NORMS
@pytest.mark.parametrize("penalty", [0.2, 1e-2, 1e-4])
def test_joint_optimality(Phi: Surrogate, p: float, penalty: float) -> None:
    """||slope||_q = λ and slope · v = -λ ||v||_p, Hölder's equality: to the root of the gap, which is second order."""
    Z, y, f = sample(150, 12)
    step = minimise_norm(Z, y, f, penalty, p, Phi)
    assert step.converged, step
    assert 0 <= step.gap <= 1e-10 * max(1, step.objective)
    assert step.objective == pytest.approx(objective(Z, y, f, penalty, p, Phi, step.v), rel=1e-13)
    g, length = slope(Z, y, f, Phi, step.v), p_norm(step.v.numpy(), p)
    assert p_norm(g.numpy(), conjugate(p)) == pytest.approx(penalty, abs=2e-5)
    assert float(g @ step.v) == pytest.approx(-penalty * length, abs=2e-5)
    assert step.v[-1] == 0


@ALL
@pytest.mark.parametrize("p", [1.05, 2, 3, math.inf])
def test_gap_certifies_any_weights(Phi: Surrogate, p: float) -> None:
    """F(v) - gap(v) <= min F at points on both sides of the minimiser, and what a loose tol returns."""
    Z, y, f = sample(80, 6)
    best = minimise_norm(Z, y, f, 0.05, p, Phi)
    problem = NormProblem(SampleLoss(Z, y, f, Phi), 0.05, p)
    noise = torch.tensor(np.random.default_rng(0).normal(size=(20, 6)))
    for v in [c * best.v for c in (0.0, 0.5, 0.99, 1.01, 1.5, 2.0)] + [best.v + 0.1 * d for d in noise]:
        point = problem.at(v)
        assert point.objective - point.gap <= best.objective + 1e-14
    for tol in (1e-1, 1e-3, 1e-5):
        loose = minimise_norm(Z, y, f, 0.05, p, Phi, tol)
        assert loose.objective - best.objective <= loose.gap <= tol * max(1, loose.objective)


@ALL
@NORMS
def test_joint_step_is_zero_exactly_above_the_threshold(Phi: Surrogate, p: float) -> None:
    """v = 0 is optimal iff ||slope(0)||_q <= λ, the stopping test g_s <= Γ_s."""
    Z, y, f = sample(100, 6)
    threshold = p_norm(slope(Z, y, f, Phi, Z.new_zeros(6)).numpy(), conjugate(p))
    above, below = (minimise_norm(Z, y, f, threshold * c, p, Phi) for c in (1 + 1e-12, 0.99))
    assert (above.v == 0).all()
    assert above.converged
    assert (below.v != 0).any()
    assert below.converged
    assert below.objective < objective(Z, y, f, threshold * 0.99, p, Phi, 0 * below.v)


@NORMS
@pytest.mark.parametrize("seed", [2, 21, 35])
@pytest.mark.parametrize("below", [1e-7, 1e-8, 1e-12, 3e-16])
def test_a_penalty_at_the_threshold_ends(p: float, below: float, seed: int) -> None:
    """Where the gain of any step is rounding, the step ends with its certificate, also if asked for no gap at all."""
    Z, y, f = sample(20, 5, seed)
    penalty = p_norm(slope(Z, y, f, LOGISTIC, torch.zeros(5).double()).numpy(), conjugate(p)) * (1 - below)
    assert minimise_norm(Z, y, f, penalty, p, LOGISTIC, tol=0.0).gap <= 1e-14


@settings(max_examples=40)
@example(seed=237855, p=math.inf, exponent=-0.5, Phi=SURROGATES["logistic"])  # the closed form is the minimiser
@given(
    seed=st.integers(0, 10**6),
    p=st.sampled_from([1, 1.2, 1.5, 2, 2.5, 4, 10, math.inf]),
    exponent=st.floats(-5, -0.5),
    Phi=st.sampled_from(list(SURROGATES.values())),
)
def test_joint_step_is_never_above_the_closed_form(seed: int, p: float, exponent: float, Phi: Surrogate) -> None:
    Z, y, f = sample(40, 5, seed)
    penalty = 10**exponent
    step = minimise_norm(Z, y, f, penalty, p, Phi)
    assert step.converged, step
    u = torch.tensor(dual_vector(-slope(Z, y, f, Phi, Z.new_zeros(5)).numpy(), 1.0, p))
    closed = minimise_scalar(Z @ u, y, f, penalty, Phi)
    assert step.objective <= closed.objective * (1 + 1e-14) + (step.gap if p == 1 else 0)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, math.inf])
@pytest.mark.parametrize("name", ["logistic", "exponential"])
def test_joint_step_agrees_with_cvxpy(p: float, name: str) -> None:
    cvxpy = pytest.importorskip("cvxpy")
    Z, y, f = sample(60, 6)
    v = cvxpy.Variable(6)
    x = 1 - cvxpy.multiply(y.numpy(), f.numpy() + Z.numpy() @ v)
    loss = cvxpy.logistic(x) if name == "logistic" else cvxpy.exp(x)
    length = cvxpy.norm(v, "inf" if p == math.inf else p)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(loss) / 60 + 0.05 * length))
    problem.solve(solver="CLARABEL")
    assert minimise_norm(Z, y, f, 0.05, p, surrogate(name)).objective == pytest.approx(problem.value, abs=1e-7)


def test_without_penalty_all_norms_agree() -> None:
    Z, y, f = sample(100, 6)
    values = {p: minimise_norm(Z, y, f, 0.0, p, LOGISTIC).objective for p in (1, 2, math.inf)}
    assert len(set(values.values())) == 1
    assert minimise_norm(Z, y, f, 1e-8, 2, LOGISTIC).objective == pytest.approx(values[2], abs=1e-6)


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 30),
    scale=st.floats(-3, 3),
    Gamma=st.sampled_from([0.0, 1e-6, 1e-3, 0.1, 1.0]),
    Phi=st.sampled_from(list(SURROGATES.values())),
)
def test_scalar_step_is_minimise_on_one_column(seed: int, m: int, scale: float, Gamma: float, Phi: Surrogate) -> None:
    rng = np.random.default_rng(seed)
    h, f = torch.tensor(10**scale * rng.normal(size=m)), torch.tensor(2 * rng.normal(size=m))
    y = torch.tensor(np.where(rng.random(m) < 0.5, 1.0, -1.0))
    ours = minimise_scalar(h, y, f, Gamma, Phi)
    general = minimise(h[:, None], y, f, h.new_full((1,), Gamma), Phi)
    assert ours.converged == general.converged
    assert ours.objective == pytest.approx(general.objective, abs=1e-9 * max(1, general.objective))
    if Gamma > 0 and general.w == 0:
        assert ours.w == 0


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(1, 30),
    scale=st.floats(-3, 3),
    tol=st.sampled_from([1e-4, 1e-7, 1e-10]),
    Phi=st.sampled_from(list(SURROGATES.values())),
)
def test_weights_of_several_units_alone_are_within_the_tolerance(
    seed: int, m: int, scale: float, tol: float, Phi: Surrogate
) -> None:
    rng = np.random.default_rng(seed)
    H, f = torch.tensor(10**scale * rng.normal(size=(4, m))), torch.tensor(rng.normal(size=m))
    y, Gamma = torch.tensor(np.where(rng.random(m) < 0.5, 1.0, -1.0)), torch.tensor([1e-6, 1e-3, 0.1, 1.0])
    start = float(Phi.value(1 - y * f).mean())
    w, F = scalar_weights(H, y, f, Gamma.double(), Phi, start, tol=tol)
    for h, price, w_j, F_j in zip(H, Gamma.tolist(), w, F, strict=True):
        least = minimise_scalar(h, y, f, price, Phi)
        assert F_j == pytest.approx(float(Phi.value(1 - y * (f + w_j * h)).mean()) + price * abs(w_j), rel=1e-12)
        assert F_j <= least.objective + (tol + 1e-12) * max(1.0, start)
        pull = abs(float((y * Phi.derivative(1 - y * f)) @ h)) / m
        assert (w_j == 0) == (pull <= price) or pull == pytest.approx(price, rel=1e-3)


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), p=st.floats(1.01, 30), log_epsilon=st.floats(-6, 0), maximum=st.booleans())
def test_smooth_norms(seed: int, p: float, log_epsilon: float, maximum: bool) -> None:
    """Value, gradient and Hessian belong together, and the gradient lies in the dual ball, as the certificate needs."""
    v = torch.tensor(np.random.default_rng(seed).normal(size=5))
    epsilon = 10**log_epsilon
    phi: SmoothNorm = SmoothMax(epsilon, 0.0) if maximum else SmoothPower(p, epsilon, 0.0)
    at = phi.at(v)
    assert float(norm(at.gradient, 1 if maximum else conjugate(p))) <= 1 + 1e-12
    # Steps well inside the scale on which φ bends.
    step = 1e-4 * min(1.0, float(1 / at.D.max()))
    shifts = step * torch.eye(5, dtype=torch.float64)
    slopes = [(phi.at(v + d).value - phi.at(v - d).value) / (2 * step) for d in shifts]
    noise = 1e-15 * (1 + float(at.value.abs())) / step
    assert torch.stack(slopes).sub(at.gradient).abs().max() <= 1e-6 + 10 * noise
    columns = [(phi.at(v + d).gradient - phi.at(v - d).gradient) / (2 * step) for d in shifts]
    Hessian = torch.diag(at.D) - torch.outer(at.r, at.r)
    assert torch.stack(columns).sub(Hessian).abs().max() <= (1e-4 + 1e-12 / step) * float(1 + at.D.max())
    assert torch.linalg.eigvalsh(Hessian)[0] >= -1e-10 * float(at.D.max())


@pytest.mark.parametrize("p", [1.1, 2, 5, math.inf])
def test_smooth_norms_tend_to_the_norm(p: float) -> None:
    v = torch.tensor([3.0, -1.0, 0.0, 2.0, -3.0], dtype=torch.float64)
    phi: SmoothNorm = SmoothMax(1e-9, 0.0) if p == math.inf else SmoothPower(p, 1e-9, 0.0)
    assert float(phi.at(v).value) == pytest.approx(p_norm(v.numpy(), p), abs=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": 0.5}, "p must be in"),
        ({"penalty": -1.0}, "penalty must be finite and >= 0"),
        ({"Z": torch.full((4, 2), torch.nan, dtype=torch.float64)}, "Z must be finite"),
        ({"y": torch.zeros(4, dtype=torch.float64)}, "y must be -1 or"),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    one = torch.ones(4, dtype=torch.float64)
    arguments: dict[str, object] = {
        "Z": one[:, None] * one[:2],
        "y": one,
        "f": one,
        "penalty": 0.1,
        "p": 2,
        "Phi": LOGISTIC,
    }
    with pytest.raises(ValueError, match=message):
        minimise_norm(**(arguments | change))  # type: ignore[arg-type]
