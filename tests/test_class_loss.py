"""The convex step for C classes: by its optimality conditions, its duality gap, and against a conic solver."""

import cvxpy as cp
import numpy as np
import pytest
import torch

from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.class_step import minimise_classes
from adanet_train.convex.mixture import minimise
from adanet_train.core.surrogates import surrogate


def example(m: int = 60, N: int = 6, C: int = 4, seed: int = 0) -> tuple[torch.Tensor, ...]:
    draw = np.random.default_rng(seed)
    H = np.maximum(draw.normal(size=(m, N)), 0)
    y = (H @ draw.normal(size=(N, C)) + draw.normal(size=(m, C))).argmax(1)
    return torch.from_numpy(H), torch.from_numpy(y), torch.from_numpy(draw.normal(size=(m, C)) / 4)


def objective(H, y, f, Gamma, W) -> float:
    """F by a loop over the points, with a margin of 1."""
    total = 0.0
    for h, label, offset in zip(H.numpy(), y.tolist(), f.numpy(), strict=True):
        scores = offset + W @ h + 1.0
        scores[label] -= 1.0
        total += np.log(np.exp(scores - scores[label]).sum())
    return total / len(y) + float(Gamma.numpy() @ np.abs(W).sum(0))


def test_the_value_is_the_loss_by_a_loop_and_bounds_the_ramp() -> None:
    H, y, f = example()
    W = np.random.default_rng(1).normal(size=(4, 6))
    loss = ClassLoss(H, y, f)
    x = loss.argument(torch.from_numpy(W).flatten())
    zero = torch.zeros(6, dtype=torch.float64)
    assert float(loss.value(x)) == pytest.approx(objective(H, y, f, zero, W), rel=1e-13)
    scores = f.numpy() + H.numpy() @ W.T
    own = scores[np.arange(60), y]
    scores[np.arange(60), y] = -np.inf
    ramp = np.clip(1 - (own - scores.max(1)), 0, 1)
    each = x.logsumexp(0) - (x * loss.own).sum(0)
    assert bool((each.numpy() >= ramp).all())


def test_slopes_and_curvature_are_the_derivatives() -> None:
    H, y, f = example(m=12)
    loss = ClassLoss(H, y, f)
    w = torch.from_numpy(np.random.default_rng(2).normal(size=24))
    value = lambda w: loss.value(loss.argument(w))  # noqa: E731
    slope = torch.autograd.functional.jacobian(value, w)
    torch.testing.assert_close(loss.slope(loss.dual(loss.argument(w))), slope, rtol=1e-12, atol=1e-14)
    Q = torch.autograd.functional.hessian(value, w)
    p = loss.weight(loss.argument(w))
    torch.testing.assert_close(loss.curvature(p), Q, rtol=1e-11, atol=1e-13)
    J = torch.tensor([0, 3, 7, 8, 20])
    torch.testing.assert_close(loss.curvature(p, J), Q[J][:, J], rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("Gamma", [0.1, 0.01, 0.001])
def test_the_minimiser_agrees_with_a_conic_solver(Gamma: float) -> None:
    H, y, f = example()
    penalty = torch.full((6,), Gamma, dtype=torch.float64)
    minimum = minimise_classes(H, y, f, penalty, tol=1e-10)
    assert minimum.converged
    W = cp.Variable((4, 6))
    scores = f.numpy() + H.numpy() @ W.T + 1 - np.eye(4)[y]
    loss = cp.sum(cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(scores, np.eye(4)[y]), axis=1)) / 60
    oracle = cp.Problem(cp.Minimize(loss + Gamma * cp.sum(cp.abs(W)))).solve(solver=cp.CLARABEL)
    assert minimum.objective == pytest.approx(oracle, abs=1e-7)
    assert minimum.objective == pytest.approx(objective(H, y, f, penalty, minimum.w.numpy()), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_gap_is_certified_at_every_stage(seed: int) -> None:
    H, y, f = example(seed=seed)
    penalty = torch.linspace(0.005, 0.05, 6, dtype=torch.float64)
    best = minimise_classes(H, y, f, penalty, tol=1e-12).objective
    for stop in range(6):
        stage = minimise_classes(H, y, f, penalty, tol=0.0, max_iter=stop)
        assert stage.objective - best <= stage.gap + 1e-13
    assert minimise_classes(H, y, f, penalty, max_iter=0).gap > 1e-3


def test_optimality_conditions() -> None:
    H, y, f = example(m=300, N=20, C=7, seed=3)
    penalty = torch.full((20,), 0.01, dtype=torch.float64)
    minimum = minimise_classes(H, y, f, penalty, tol=1e-13)
    loss = ClassLoss(H, y, f)
    slope = loss.slope(loss.dual(loss.argument(minimum.w.flatten()))).view(7, 20)
    used = minimum.w != 0
    assert 0 < int(used.sum()) < 140
    torch.testing.assert_close(slope[used], -0.01 * minimum.w[used].sign(), rtol=1e-5, atol=1e-7)
    assert float(slope[~used].abs().max()) <= 0.01 + 1e-9


def test_a_rough_model_is_near_and_does_not_change_where_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    from adanet_train.convex import mixture as steps

    H, y, f = example(m=800, N=12, C=4, seed=5)
    H[:, 0] *= 1e-30  # squared, below single precision
    loss = ClassLoss(H, y, f)
    part = ClassLoss(H[::4], y[::4], f[::4])
    J = torch.arange(3, 40)
    weight = loss.weight(loss.offset)
    rough, exact = loss.curvature(weight, J, every=4), part.curvature(part.weight(part.offset), J)
    torch.testing.assert_close(rough, exact, rtol=2e-4, atol=1e-4 * float(exact.diagonal().max()))
    assert float(torch.linalg.eigvalsh(rough).min()) >= -1e-12
    penalty = torch.full((12,), 0.003, dtype=torch.float64)
    plain = minimise_classes(H, y, f, penalty, tol=1e-10)
    monkeypatch.setattr(steps, "LEAST", 100)
    hasty = minimise_classes(H, y, f, penalty, tol=1e-10)
    assert hasty.converged
    assert not torch.equal(hasty.w, plain.w)  # it went another way
    assert abs(hasty.objective - plain.objective) <= 1e-10 * max(1.0, plain.objective)


def test_two_classes_are_the_two_class_step() -> None:
    """f = f_2 - f_1: a unit is paid once, on whichever side it stands."""
    H, y, _ = example(C=2)
    penalty = torch.full((6,), 0.02, dtype=torch.float64)
    many = minimise_classes(H, y, torch.zeros(60, 2, dtype=torch.float64), penalty, tol=1e-12)
    signs = 2.0 * y.double() - 1
    two = minimise(H, signs, torch.zeros_like(signs), penalty, surrogate("logistic"), tol=1e-12)
    assert many.objective == pytest.approx(two.objective, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"y": torch.tensor([0, 4])}, "y must be class indices in 0..3."),
        ({"y": torch.tensor([0.0, 1.0])}, "y must be int64, got torch.float32."),
        ({"f": torch.zeros(2, 1).double()}, r"f must have shape \(2, C\) with C >= 2, got \(2, 1\)."),
    ],
)
def test_bad_input_is_refused(change, line: str) -> None:
    given = {"H": torch.ones(2, 3).double(), "y": torch.tensor([0, 1]), "f": torch.zeros(2, 4).double()} | change
    with pytest.raises(ValueError, match=line):
        minimise_classes(**given, Gamma=torch.ones(3).double())
