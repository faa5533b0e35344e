"""The convex step by its optimality conditions, its certificate, and two independent solvers."""

import math
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from adanet_train.convex import mixture
from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.mixture import Mixture, minimise
from adanet_train.convex.quadratic import minimise_quadratic, violation
from adanet_train.convex.sample_loss import PIECE, SampleLoss
from adanet_train.core.surrogates import SURROGATES, Surrogate, surrogate

ALL = pytest.mark.parametrize("Phi", SURROGATES.values(), ids=SURROGATES.keys())
LOGISTIC = surrogate("logistic")


def objective(H: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, Phi: Surrogate, w: Tensor) -> float:
    return float(Phi.value(1 - y * (f + H @ w)).mean() + (Gamma * w.abs()).sum())


def relu_sample(m: int, N: int, seed: int = 0, *, noise: float = 0.5) -> tuple[Tensor, Tensor, Tensor]:
    """Units of one hidden layer on correlated features: some dead, some twice, labels that no w fits; an offset f."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(m, 4))
    Psi = np.hstack([np.clip(latent @ rng.normal(size=(4, 10)) / 4 + 0.5, 0, 1), np.ones((m, 1))])
    U = rng.normal(size=(N, 11))
    U[: N // 10, -1] -= 50
    U[N // 10 : 2 * (N // 10)] = U[2 * (N // 10) : 3 * (N // 10)]
    H = torch.tensor(np.maximum(Psi @ U.T, 0))
    y = torch.tensor(np.where(latent[:, 0] * latent[:, 1] + noise * rng.normal(size=m) > 0, 1.0, -1.0))
    return H, y, torch.tensor(0.3 * rng.normal(size=m))


def full(N: int, Gamma: float) -> Tensor:
    return torch.full((N,), Gamma, dtype=torch.float64)


def worst_condition(H: Tensor, y: Tensor, f: Tensor, Gamma: Tensor, Phi: Surrogate, w: Tensor) -> float:
    """How far 0 is from the subdifferential of F at w, computed apart from the solver."""
    x = (1 - y * (f + H @ w)).requires_grad_()
    (s,) = torch.autograd.grad(Phi.value(x).mean(), x)
    slope = -(H * (y * s)[:, None]).sum(0)
    at_zero = (slope.abs() - Gamma).clamp_min(0)
    return float(torch.where(w == 0, at_zero, (slope + Gamma * w.sign()).abs()).max())


def resolution(H: Tensor, y: Tensor, f: Tensor, Phi: Surrogate, mixture: Mixture, tol: float) -> float:
    """A condition missed by e lowers F by e²/2κ along its coordinate, κ its curvature within a unit of x."""
    curvature = math.e * Phi.second(1 - y * (f + H @ mixture.w))
    kappa = float((H * H * curvature[:, None]).mean(0).max())
    return math.sqrt(2 * kappa * tol * max(1, mixture.objective))


@ALL
@settings(max_examples=25)
@given(seed=st.integers(0, 10**6), exponent=st.floats(-6, -0.5), N=st.integers(1, 40))
def test_optimality_conditions(Phi: Surrogate, seed: int, exponent: float, N: int) -> None:
    H, y, f = relu_sample(120, N, seed)
    Gamma = 10**exponent * torch.linspace(0.5, 2, N, dtype=torch.float64)
    minimum = minimise(H, y, f, Gamma, Phi, tol=1e-11)
    assert minimum.converged, minimum.reason
    assert 0 <= minimum.gap <= 1e-11 * max(1, minimum.objective)
    assert worst_condition(H, y, f, Gamma, Phi, minimum.w) <= resolution(H, y, f, Phi, minimum, 1e-11)
    assert minimum.objective == pytest.approx(objective(H, y, f, Gamma, Phi, minimum.w), rel=1e-14)


@ALL
@pytest.mark.parametrize("free", [False, True])
def test_gap_certifies_unfinished_weights(Phi: Surrogate, free: bool) -> None:
    H, y, f = relu_sample(200, 30)
    Gamma = full(30, 1e-3)
    if free:
        Gamma[25:] = 0
    optimum = minimise(H, y, f, Gamma, Phi).objective
    for max_iter in range(5):
        early = minimise(H, y, f, Gamma, Phi, max_iter=max_iter)
        assert early.objective - optimum <= early.gap
        assert early.converged or "max_iter" in early.reason


@pytest.mark.parametrize("Gamma", [3e-2, 1e-3, 1e-5])
def test_agrees_with_glum(Gamma: float) -> None:
    """log(1 + e^x) with x = -y (w·h + f - y): l1-weighted logistic regression with offset f - y."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from glum import GeneralizedLinearRegressor
    H, y, f = relu_sample(300, 20)
    weights = torch.linspace(0.5, 2, 20, dtype=torch.float64)
    minimum = minimise(H, y, f, Gamma * weights, LOGISTIC)
    oracle = GeneralizedLinearRegressor(
        family="binomial",
        alpha=Gamma,
        l1_ratio=1,
        P1=weights.numpy(),
        fit_intercept=False,
        gradient_tol=1e-9,
        max_iter=500,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle.fit(H.numpy(), (y.numpy() + 1) / 2, offset=(f - y).numpy())
    theirs = objective(H, y, f, Gamma * weights, LOGISTIC, torch.tensor(oracle.coef_))
    assert minimum.objective == pytest.approx(theirs, abs=1e-9)
    assert minimum.objective <= theirs + 1e-12


@pytest.mark.parametrize("name", ["logistic", "exponential"])
@pytest.mark.parametrize("Gamma", [1e-1, 1e-3])
def test_agrees_with_cvxpy(name: str, Gamma: float) -> None:
    cvxpy = pytest.importorskip("cvxpy")
    H, y, f = relu_sample(80, 12)
    w = cvxpy.Variable(12)
    x = 1 - cvxpy.multiply(y.numpy(), f.numpy() + H.numpy() @ w)
    loss = cvxpy.logistic(x) if name == "logistic" else cvxpy.exp(x)
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(loss) / 80 + Gamma * cvxpy.norm1(w)))
    problem.solve(solver="CLARABEL")
    minimum = minimise(H, y, f, full(12, Gamma), surrogate(name))
    assert minimum.objective == pytest.approx(problem.value, abs=1e-7)


@ALL
def test_duplicate_opposite_and_zero_columns(Phi: Surrogate) -> None:
    """Copies change nothing; of two copies the dearer one gets exactly 0, as does a column of zeros."""
    H, y, f = relu_sample(300, 20)
    alone = minimise(H, y, f, full(20, 1e-3), Phi)
    wide = torch.cat([H, H, -H, torch.zeros(300, 2, dtype=torch.float64)], 1)
    Gamma = torch.cat([full(20, 1e-3), full(42, 2e-3)])
    start = torch.full((62,), 0.1, dtype=torch.float64)
    for w in (None, start):
        minimum = minimise(wide, y, f, Gamma, Phi, w=w)
        assert minimum.converged
        assert minimum.objective == pytest.approx(alone.objective, abs=2e-10)
        assert (minimum.w[20:40] == 0).all()
        assert (minimum.w[-2:] == 0).all()
    same = minimise(torch.cat([H, H], 1), y, f, full(40, 1e-3), Phi)
    assert same.objective == pytest.approx(alone.objective, abs=2e-10)


@ALL
def test_zeros_are_exact_and_all_zero_above_the_threshold(Phi: Surrogate) -> None:
    H, y, f = relu_sample(200, 30)
    slope = (H * (y * Phi.derivative(1 - y * f))[:, None]).mean(0).abs().max()
    assert (minimise(H, y, f, full(30, float(slope) * 1.0000001), Phi).w == 0).all()
    assert (minimise(H, y, f, full(30, float(slope) * 0.999), Phi).w != 0).sum() in (1, 2, 3)


@ALL
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), size=st.floats(0, 3))
def test_never_above_the_start(Phi: Surrogate, seed: int, size: float) -> None:
    H, y, f = relu_sample(60, 15, seed)
    Gamma = full(15, 1e-3)
    w = size * torch.tensor(np.random.default_rng(seed).normal(size=15))
    kept = w.clone()
    start = minimise(H, y, f, Gamma, Phi, w=w, max_iter=0).objective
    assert start == pytest.approx(objective(H, y, f, Gamma, Phi, w), rel=1e-13)
    for max_iter in (1, 2, 200):
        minimum = minimise(H, y, f, Gamma, Phi, w=w, max_iter=max_iter)
        assert minimum.objective <= start
    assert minimum.converged
    assert (w == kept).all()
    again = minimise(H, y, f, Gamma, Phi, w=minimum.w)
    assert again.iterations <= 1
    assert again.objective <= minimum.objective


@ALL
def test_free_columns(Phi: Surrogate) -> None:
    H, y, f = relu_sample(300, 20)
    Gamma = full(20, 1e-2)
    Gamma[-4:] = 0
    minimum = minimise(H, y, f, Gamma, Phi)
    assert minimum.converged
    assert worst_condition(H, y, f, Gamma, Phi, minimum.w) <= resolution(H, y, f, Phi, minimum, 1e-10)
    dearer = minimise(H, y, f, Gamma.clamp_min(1e-9), Phi)
    assert dearer.objective == pytest.approx(minimum.objective, abs=1e-6)


@ALL
def test_separable_without_penalty_has_no_minimiser(Phi: Surrogate) -> None:
    rng = np.random.default_rng(0)
    H, y = torch.tensor(rng.normal(size=(20, 30))), torch.tensor(np.where(rng.random(20) < 0.5, 1.0, -1.0))
    minimum = minimise(H, y, 0 * y, full(30, 0.0), Phi)
    assert not minimum.converged
    assert "no minimiser" in minimum.reason
    assert 0 <= minimum.objective <= minimum.gap <= 1e-9
    penalised = minimise(H, y, 0 * y, full(30, 1e-6), Phi)
    assert penalised.converged


@ALL
def test_saturated_offsets(Phi: Surrogate) -> None:
    """Where Φ is flat or steep Newton steps alone are far too long or overflow; F must still fall to its minimum."""
    H, y, _ = relu_sample(100, 10)
    # F of the order of e^40 would drown Γ in the rounding of the slopes, and no certificate could be had.
    f = (4 if Phi.curvature == math.inf else 40) * torch.tensor(np.random.default_rng(1).normal(size=100))
    minimum = minimise(H, y, f, full(10, 1e-2), Phi, tol=1e-8)
    assert minimum.converged, minimum
    one = torch.ones(1, dtype=torch.float64)
    far = minimise(one[:, None], one, -60 * one, full(1, 1e-3), Phi, tol=1e-13)
    assert far.converged
    # A slope off by e costs e²/2Φ'' of F, and Φ'' is about Φ' = 1e-3 at the minimum: e <= sqrt(2e-3 · 1e-13).
    assert worst_condition(one[:, None], one, -60 * one, full(1, 1e-3), Phi, far.w) <= 1.5e-8


def test_same_bits() -> None:
    H, y, f = relu_sample(300, 40)
    first, second = (minimise(H, y, f, full(40, 1e-4), LOGISTIC) for _ in range(2))
    assert torch.equal(first.w, second.w)
    assert (first.objective, first.gap) == (second.objective, second.gap)


def test_no_columns() -> None:
    H, y, f = relu_sample(10, 10)
    minimum = minimise(H[:, :0], y, f, full(0, 0.0), LOGISTIC)
    assert isinstance(minimum, Mixture)
    assert minimum.converged
    assert minimum.objective == pytest.approx(float(LOGISTIC.value(1 - y * f).mean()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"H": torch.zeros(4, dtype=torch.float64)}, "H must be a matrix"),
        ({"H": torch.zeros(4, 2)}, "H must be float64"),
        ({"H": torch.full((4, 2), torch.nan, dtype=torch.float64)}, "H and w must be finite"),
        ({"y": torch.tensor([1.0, 0, 1, 1], dtype=torch.float64)}, "y must be -1 or"),
        ({"y": torch.ones(3, dtype=torch.float64)}, r"y must have shape \(4,\), got \(3,\)"),
        ({"f": torch.full((4,), torch.inf, dtype=torch.float64)}, "f must be finite"),
        ({"Gamma": torch.tensor([-1.0, 1], dtype=torch.float64)}, "Gamma_j must be finite and >= 0"),
        ({"Gamma": torch.ones(3, dtype=torch.float64)}, r"Gamma must have shape \(2,\)"),
        ({"w": torch.ones(3, dtype=torch.float64)}, "w must be float64 of shape"),
        ({"Phi": surrogate("exponential"), "f": torch.full((4,), -800.0, dtype=torch.float64)}, "must not overflow"),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {
        "H": torch.ones(4, 2, dtype=torch.float64),
        "y": torch.ones(4, dtype=torch.float64),
        "f": torch.zeros(4, dtype=torch.float64),
        "Gamma": torch.ones(2, dtype=torch.float64),
        "Phi": LOGISTIC,
    }
    with pytest.raises(ValueError, match=message) as error:
        minimise(**(arguments | change))  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), N=st.integers(1, 30), rank=st.integers(1, 30), exponent=st.floats(-6, 0))
def test_quadratic_model_is_solved_on_any_rank(seed: int, N: int, rank: int, exponent: float) -> None:
    """Rank-deficient, badly scaled Q, started at a dense w: the optimality conditions hold all the same."""
    rng = np.random.default_rng(seed)
    A = torch.tensor(rng.normal(size=(rank, N)) * 10 ** rng.uniform(-2, 2, size=N))
    Q = A.T @ A / rank
    g, w = A.T @ torch.tensor(rng.normal(size=rank)) / rank, torch.tensor(rng.normal(size=N))
    Gamma = 10**exponent * torch.tensor(rng.uniform(0.5, 2, size=N)) * Q.diagonal().sqrt()
    z = minimise_quadratic(Q, g, w, Gamma, rtol=1e-9)
    G = g + Q @ (z - w)
    scale = Q.diagonal().sqrt()
    assert float((violation(z, G, Gamma) / scale).max()) <= 1e-7 * float((violation(w, g, Gamma) / scale).max())


def test_a_rough_model_is_near_and_does_not_change_where_it_ends(monkeypatch):
    """Two of the columns are the same, one is below single precision when squared."""
    draw = torch.Generator().manual_seed(0)
    H = torch.randn(800, 50, generator=draw, dtype=torch.float64).clamp_min(0)
    y = torch.where(H[:, 0] * H[:, 1] + 0.3 * torch.randn(800, generator=draw, dtype=torch.float64) > 0.2, 1.0, -1.0)
    H[:, 2], H[:, 3] = H[:, 1], 1e-30 * H[:, 3]
    Phi, f, Gamma = surrogate("logistic"), torch.zeros(800).double(), torch.full((50,), 0.002).double()
    loss, part = (SampleLoss(H[::every], y.double()[::every], f[::every], Phi) for every in (1, 4))
    J = torch.arange(3, 30)
    rough, exact = loss.curvature(loss.weight(loss.offset), J, every=4), part.curvature(part.weight(part.offset), J)
    torch.testing.assert_close(rough, exact, rtol=2e-4, atol=1e-4 * float(exact.diagonal().max()))
    assert float(torch.linalg.eigvalsh(loss.curvature(loss.weight(loss.offset), every=1)).min()) >= -1e-12
    plain = minimise(H, y.double(), f, Gamma, Phi)
    monkeypatch.setattr(mixture, "LEAST", 100)
    hasty = minimise(H, y.double(), f, Gamma, Phi)
    assert hasty.converged
    assert not torch.equal(hasty.w, plain.w)  # it went another way
    assert abs(hasty.objective - plain.objective) <= 1e-10


class LargestAllocation(TorchDispatchMode):
    """The most points that any tensor has that is computed."""

    points = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and result.ndim:
            self.points = max(self.points, result.shape[-1])
        return result


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [False, True])
def test_loss_and_gap_of_many_points_are_sums_of_pieces(classes: bool, weighted: bool) -> None:
    """Of ten million points every vector that is kept on the way is 80 MB."""
    m = 2 * PIECE + 5
    draw = torch.Generator().manual_seed(0)
    x = torch.randn(3 if classes else 1, m, dtype=torch.float64, generator=draw)
    weights = torch.rand(m, dtype=torch.float64, generator=draw) if weighted else None
    y = torch.arange(m) % 3
    if classes:
        loss: SampleLoss | ClassLoss = ClassLoss(x[:1].T, y, x.T, weights)
    else:
        x = x[0]
        loss = SampleLoss(x[:, None], torch.where(y > 0, 1.0, -1.0).double(), x, LOGISTIC, weights)
    s = loss.dual(x.flip(-1))
    with LargestAllocation() as largest:
        value, young = loss.value(x), loss.young(x, s)
        if not classes and not weighted:
            loss.slope(s)
    assert largest.points == PIECE
    pieces = [(x[..., at], s[..., at], at) for at in torch.arange(m).split(1000)]
    whole = [0.0, 0.0]
    for x_i, s_i, at in pieces:
        if classes:
            own = torch.eye(3, dtype=torch.float64)[:, y[at]]
            p = s_i + own
            values = x_i.logsumexp(0) - (x_i * own).sum(0)
            youngs = x_i.logsumexp(0) + (p * p.log()).sum(0) - (p * x_i).sum(0)
        else:
            values = LOGISTIC.value(x_i)
            youngs = values + LOGISTIC.conjugate(s_i) - s_i * x_i
        factor = 1.0 if weights is None else weights[at]
        whole = [whole[0] + float((factor * values).sum()) / m, whole[1] + float((factor * youngs).sum()) / m]
    assert [float(value), float(young)] == pytest.approx(whole, rel=1e-12)
