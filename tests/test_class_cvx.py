"""AdaNet.CVX for C classes: its convex problem against a conic solver, its conditions, and units that are shared."""

import json
import math
import re
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from adanet_theory.norms import conjugate
from adanet_train.app import cli
from adanet_train.convex import newton
from adanet_train.convex.class_loss import ClassLoss
from adanet_train.convex.cvx_exact import NormProblem, minimise_class_norms, minimise_norm
from adanet_train.core.config import Config
from adanet_train.core.norms import row_norms
from adanet_train.core.surrogates import surrogate
from adanet_train.estimator import AdaNetCVXClassifier, load
from adanet_train.methods import adanet_cvx
from adanet_train.model import model_file
from adanet_train.search import objective
from tests.refusals import refuses
from verify import verify_bounds
from verify.measure.membership import outside

NORMS = pytest.mark.parametrize("p", [1, 1.05, 1.5, 2, 3, 20, math.inf])


def example(m: int = 60, N: int = 6, C: int = 4, seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Units that are 0 half of the time, labels with noise, an offset; the last column is dead."""
    draw = np.random.default_rng(seed)
    Z = np.maximum(draw.normal(size=(m, N)), 0)
    Z[:, -1] = 0
    y = (Z @ draw.normal(size=(N, C)) + draw.normal(size=(m, C))).argmax(1)
    return torch.from_numpy(Z), torch.from_numpy(y), torch.from_numpy(draw.normal(size=(m, C)) / 4)


def loss(scores: np.ndarray, y: np.ndarray) -> float:
    """By its definition: the mean of log Σ_c exp(f_c - f_y + 1{c != y})."""
    apart = scores - scores[np.arange(len(y)), y][:, None] + (np.arange(scores.shape[1]) != y[:, None])
    return float(np.log(np.exp(apart).sum(axis=1)).mean())


def slopes(Z: Tensor, y: Tensor, f: Tensor, V: Tensor) -> Tensor:
    """∇_c of the loss by autograd."""
    V = V.clone().requires_grad_()
    own = torch.nn.functional.one_hot(y, f.shape[1])
    torch.nn.functional.cross_entropy(f + Z @ V.T + 1 - own, y).backward()
    assert V.grad is not None
    return V.grad


# The step


@NORMS
def test_the_step_agrees_with_a_conic_solver(p: float) -> None:
    Z, y, f = example()
    penalty = 0.03
    V = cp.Variable((4, 6))
    own = np.eye(4)[y]
    scores = f.numpy() + Z.numpy() @ V.T + 1 - own
    mean = cp.sum(cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(scores, own), axis=1)) / 60
    length = sum(cp.norm(V[c], "inf") if p == math.inf else cp.pnorm(V[c], p, approx=p in (1, 2)) for c in range(4))
    oracle = cp.Problem(cp.Minimize(mean + penalty * length)).solve(solver=cp.CLARABEL)
    step = minimise_class_norms(Z, y, f, penalty, p)
    assert step.converged
    assert step.objective == pytest.approx(oracle, abs=1e-7)
    direct = loss((f + Z @ step.v.T).numpy(), y.numpy()) + penalty * float(row_norms(step.v, p).sum())
    assert step.objective == pytest.approx(direct, rel=1e-13)


@pytest.mark.parametrize(("whole", "many"), [(1_000, 50), (0, 50), (0, 3)])
@NORMS
@pytest.mark.parametrize("penalty", [0.1, 1e-3])
def test_optimality(p: float, penalty: float, whole: int, many: int, monkeypatch) -> None:
    """||∇_c||_q = λ and ∇_c · V_c = -λ ||V_c||_p where V_c != 0, ||∇_c||_q <= λ where V_c = 0.

    By steps of one matrix, class by class, and by a factor of single precision where a step takes `many` products.
    """
    monkeypatch.setattr(newton, "WHOLE", whole)
    monkeypatch.setattr(newton, "MANY", many)
    Z, y, f = example(m=200, C=5, seed=1)
    step = minimise_class_norms(Z, y, f, penalty, p)
    assert step.converged
    assert 0 <= step.gap <= 1e-10 * max(1, step.objective)
    G = slopes(Z, y, f, step.v)
    length, dual = row_norms(step.v, p), row_norms(G, conjugate(p))
    used = length > 0
    assert bool(used.any())
    torch.testing.assert_close(dual[used], torch.full_like(dual[used], penalty), rtol=0, atol=2e-5)
    assert bool((dual[~used] <= penalty + 1e-9).all())
    torch.testing.assert_close((G * step.v).sum(1), -penalty * length, rtol=0, atol=2e-5)
    assert bool((step.v[:, -1] == 0).all())


@pytest.mark.parametrize("p", [1.5, 2, math.inf])
def test_classes_that_gain_nothing_have_exact_zeros(p: float) -> None:
    """Between the thresholds ||∇_c||_q of the classes some have V_c != 0 and others not."""
    Z, y, f = example(m=300, C=6, seed=2)
    dual = row_norms(slopes(Z, y, f, torch.zeros(6, 6).double()), conjugate(p)).sort().values
    step = minimise_class_norms(Z, y, f, float(dual[-2] + dual[-1]) / 2, p)
    zero = row_norms(step.v, p) == 0
    assert step.converged
    assert 0 < int(zero.sum()) < 6
    assert not bool(minimise_class_norms(Z, y, f, float(dual[-1]) * (1 + 1e-12), p).v.any())
    assert bool(minimise_class_norms(Z, y, f, float(dual[-1]) * 0.99, p).v.any())


def test_curvature_without_its_matrix_is_that_of_the_matrix() -> None:
    Z, y, f = example(seed=4)
    s = torch.linspace(0.5, 1.5, len(y)).double()
    for weights in (None, s):
        loss = ClassLoss(Z, y, f, weights)
        p = loss.weight(loss.offset)
        Q = loss.curvature(p)
        v = torch.arange(24).double().sin()
        torch.testing.assert_close(loss.curved(p, v), Q @ v)
        for c, own in enumerate(loss.class_curvatures(p)):
            torch.testing.assert_close(own, Q[6 * c : 6 * c + 6, 6 * c : 6 * c + 6])


@pytest.mark.parametrize("whole", [False, True])
def test_a_newton_step_by_products_solves_its_equations(whole: bool, monkeypatch) -> None:
    """To within the share that is asked, preconditioned by the blocks of the classes and by a factor of all of Q + H.

    Also with one block 1e12 times steeper than the others, as a kink makes it, which a factor of single precision,
    being made at one point for several, need not hold.
    """
    Z, y, f = example(m=200, C=5, seed=5)
    loss = ClassLoss(Z, y, f)
    p = loss.weight(loss.offset)
    H = [1e-3 * torch.eye(6).double() * (1e12 if c == 2 and not whole else 1) for c in range(5)]
    gradient = torch.arange(30).double().cos()
    M = loss.curvature(p) + torch.block_diag(*H)
    exact = newton.Whole(loss, loss.curvature(p)).step(gradient, H)
    torch.testing.assert_close(M @ exact, -gradient, rtol=1e-6, atol=1e-8)
    by_products = newton.ByProducts(loss, p, products=newton.MANY + 1 if whole else 0)
    rough = by_products.step(gradient, H) - exact
    assert (by_products.nearly is not None) == whole
    assert 0 < float(rough @ M @ rough) <= (3 * newton.INEXACT) ** 2 * float(exact @ M @ exact)
    monkeypatch.setattr(newton, "INEXACT", 1e-12)
    monkeypatch.setattr(newton, "EXACT", 1e-12)
    torch.testing.assert_close(by_products.step(gradient, H), exact, rtol=1e-7, atol=1e-14)


@pytest.mark.parametrize("classes", [2, 3])
def test_a_long_exact_step_says_beforehand_what_it_takes_and_how_far_it_is(classes: int, monkeypatch) -> None:
    Z, y, _ = example(seed=7)
    y = y % classes
    labels = torch.where(y == 1, 1.0, -1.0).double() if classes == 2 else y
    said: list[str] = []
    config = Config().replace(rounds=1, lam=1e-3)
    quiet = adanet_cvx.train(Z, labels, config, method="cvx-exact", say=said.append)
    assert said == []
    monkeypatch.setattr(adanet_cvx, "QUICK", 0.0)
    message = adanet_cvx.train(Z, labels, config, method="cvx-exact", say=said.append)
    assert said[0].startswith(f"cvx-exact on 60 points, 6 inputs and {classes} classes: about 0.0 minutes")
    assert re.fullmatch(r"step 1: F = [0-9.]+, gap [0-9.e+-]+", said[1])
    assert message.history == quiet.history
    monkeypatch.setattr(adanet_cvx, "LONG", 0.0)
    with pytest.warns(UserWarning, match="about 0.0 minutes of one core; verbose=True"):
        adanet_cvx.train(Z, labels, config, method="cvx-exact")


def test_many_classes_with_few_rows() -> None:
    draw = np.random.default_rng(6)
    y = np.concatenate([np.arange(200), draw.integers(200, size=200)])
    Z = (draw.normal(size=(200, 6))[y] + 0.1 * draw.normal(size=(400, 6))).clip(-3, 3) / 3
    assert Z.shape[1] * 200 > newton.WHOLE
    step = minimise_class_norms(torch.from_numpy(Z), torch.from_numpy(y), torch.zeros(400, 200).double(), 1e-4, 2)
    assert step.converged
    direct = loss(Z @ step.v.numpy().T, y) + 1e-4 * float(row_norms(step.v, 2).sum())
    assert step.objective == pytest.approx(direct, rel=1e-12)


@pytest.mark.parametrize("p", [1.05, 2, 3, math.inf])
def test_the_gap_certifies_any_weights(p: float) -> None:
    Z, y, f = example(seed=3)
    best = minimise_class_norms(Z, y, f, 0.03, p)
    problem = NormProblem(ClassLoss(Z, y, f), 0.03, p, groups=4)
    noise = torch.from_numpy(np.random.default_rng(0).normal(size=(20, 4, 6)))
    for V in [c * best.v for c in (0.0, 0.5, 0.99, 1.01, 2.0)] + [best.v + 0.1 * d for d in noise]:
        point = problem.at(V.flatten())
        assert point.objective - point.gap <= best.objective + 1e-14
    for tol in (1e-1, 1e-3, 1e-5):
        loose = minimise_class_norms(Z, y, f, 0.03, p, tol)
        assert loose.objective - best.objective <= loose.gap <= tol * max(1, loose.objective)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    p=st.sampled_from([1, 1.5, 2, 4, math.inf]),
    exponent=st.floats(-3, -0.7),
    units=st.integers(1, 8),
)
def test_no_units_however_many_and_however_shared_reach_a_lower_objective(
    seed: int, p: float, exponent: float, units: int
) -> None:
    """Γ Σ|w| of units in the ball of Λ, by gradients from the optimum split at random, never below the step."""
    Z, y, f = example(m=30, N=4, C=3, seed=seed)
    Gamma, Lambda = 10**exponent, 1.5
    step = minimise_class_norms(Z, y, f, Gamma / Lambda, p, 1e-11)
    draw = torch.Generator().manual_seed(seed)
    U, w = (torch.randn(*shape, generator=draw).double().requires_grad_() for shape in ((units, 4), (3, units)))
    adam = torch.optim.Adam([U, w], lr=0.05)
    own = torch.nn.functional.one_hot(y, 3)
    for _ in range(40):
        inside = U * (Lambda / torch.linalg.vector_norm(U, p, dim=1).clamp_min(Lambda))[:, None]
        F = torch.nn.functional.cross_entropy(f + Z @ inside.T @ w.T + 1 - own, y) + Gamma * w.abs().sum()
        assert float(F.detach()) >= step.objective - 1e-10
        adam.zero_grad()
        F.backward()
        adam.step()


def test_one_unit_that_all_classes_share_is_not_enough() -> None:
    """Three classes, a column each: rank one, at the best of many starts, against the minimum over all units."""
    Z, y, f = torch.eye(3).double(), torch.arange(3), torch.zeros(3, 3).double()
    step = minimise_class_norms(Z, y, f, 0.05, 2)
    draw = torch.Generator().manual_seed(0)
    least = math.inf
    for _ in range(8):
        u, w = (torch.randn(3, generator=draw).double().requires_grad_() for _ in range(2))
        adam = torch.optim.Adam([u, w], lr=0.05)
        for _ in range(200):
            V = torch.outer(w, u / u.norm())
            F = torch.nn.functional.cross_entropy(Z @ V.T + 1 - torch.eye(3), y) + 0.05 * w.abs().sum()
            adam.zero_grad()
            F.backward()
            adam.step()
        least = min(least, float(F.detach()))
    assert step.objective < 0.65 * least


@pytest.mark.parametrize("p", [1, 1.5, 2, math.inf])
def test_two_classes_are_the_two_class_problem(p: float) -> None:
    """f = f_2 - f_1, and ||V_1||_p + ||V_2||_p is least at ||V_2 - V_1||_p."""
    Z, y, f = example(C=2, seed=4)
    signs = torch.where(y == 1, 1.0, -1.0).double()
    two = minimise_norm(Z, signs, f[:, 1] - f[:, 0], 0.03, p, surrogate("logistic"))
    assert minimise_class_norms(Z, y, f, 0.03, p).objective == pytest.approx(two.objective, abs=1e-9)


# The rounds


def blobs(C: int = 3, m: int = 120, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Two rings of C blobs, the labels of the outer one turned: layer 1 alone cannot be right."""
    draw = np.random.default_rng(seed)
    y = np.arange(m) % C
    ring = np.arange(m) // C % 2
    angle = 2 * np.pi * (y + ring) / C
    points = (1 + ring)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) / 2
    Psi = np.column_stack([points + draw.normal(scale=0.05, size=(m, 2)), np.ones(m)])
    return torch.from_numpy(Psi), torch.from_numpy(y)


CONFIG = Config(rounds=6, step="exact", lam=1e-3, learner="units", Lambda=2.0)


@pytest.fixture(scope="module")
def trained():
    return adanet_cvx.train(*blobs(), CONFIG)


def test_a_round_adds_units_of_one_layer_each_read_by_its_class(trained):
    for entry in objective.chosen(trained.history):
        assert sum(count > 0 for count in entry["units"]) == 1
        assert entry["units"][-1] <= 3
    for w in trained.network.output.values():
        assert bool(((w != 0).sum(0) == 1).all())
        assert bool((w >= 0).all())
    assert not list(outside(trained.network, trained.declared))


def test_the_objective_is_the_loss_and_the_penalty(trained):
    Psi, y = blobs()
    Gamma = {int(k): value for entry in objective.chosen(trained.history) for k, value in entry["Gamma"].items()}
    penalty = sum(Gamma[k] * float(w.abs().sum()) for k, w in trained.network.output.items() if w.any())
    expected = loss(trained.network(Psi).numpy(), y.numpy()) + penalty
    assert trained.history[-1]["objective"] == pytest.approx(expected, rel=1e-10)


def test_it_stops_exactly_where_no_class_of_any_layer_gains():
    """The dual norms of the gradients, computed here, are at most Γ/Λ (but for the root of the gap) at the end."""
    Psi, y = blobs(seed=1)
    trained = adanet_cvx.train(Psi, y, CONFIG.replace(rounds=25))
    assert trained.history[-1]["chosen"] == -1
    network, family = trained.network, trained.declared
    by_layer = {int(k): value for entry in objective.chosen(trained.history) for k, value in entry["Gamma"].items()}
    for s, Gamma in by_layer.items():
        Z = network.inputs(Psi, s, "relu")[-1]
        G = slopes(Z, y, network(Psi), torch.zeros(3, Z.shape[1]).double())
        assert float(row_norms(G, 2).max()) * family.bound(s, s - 1) <= Gamma * (1 + 1e-3) + 1e-6


@pytest.mark.parametrize("step", ["closed-form", "exact"])
def test_a_run_taken_up_has_the_same_bits_and_F_falls(step):
    config = CONFIG.replace(step=step, rounds=3)
    kept = []
    whole = adanet_cvx.train(*blobs(), config, callback=kept.append)
    again = adanet_cvx.train(*blobs(), config, resume=kept[0])
    assert again.history == whole.history
    assert all(torch.equal(w, again.network.output[k]) for k, w in whole.network.output.items())
    values = [entry["objective"] for entry in whole.history if entry["chosen"] >= 0]
    assert values == sorted(values, reverse=True)


def test_the_exact_step_is_below_the_closed_form():
    one = CONFIG.replace(rounds=1)
    exact, steepest = (adanet_cvx.train(*blobs(), one.replace(step=step)) for step in ("exact", "closed-form"))
    assert exact.history[0]["objective"] < steepest.history[0]["objective"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "printed"}, "step printed is for two classes: the paper prints no step for more."),
        ({"corrective": True}, "AdaNet.CVX has no fully corrective step, got corrective=True."),
        (
            {"variant": "SD"},
            "AdaNet.CVX of more than two classes needs a complexity of the layers, the same for every unit.",
        ),
    ],
)
def test_what_it_does_not_have_is_refused(change, message):
    with pytest.raises(ValueError, match=r"CVX|printed") as caught:
        adanet_cvx.train(*blobs(), CONFIG.replace(**change))
    assert str(caught.value) == message


def test_the_command_and_what_verify_bounds_says(tmp_path: Path, capsys) -> None:
    out = tmp_path / "iris.pt"
    asked = ["iris", "-o", str(out), "--rounds", "2", "--lam", "1e-3", "--json"]
    assert cli.main([*asked, "--method", "cvx-exact"]) == 0
    assert json.loads(capsys.readouterr().out)["train_error"] <= 0.05
    model = model_file.read(out)
    assert model.meta["method"] == "cvx-exact"
    assert cli.main([*asked, "--method", "cvx-exact", "--resume"]) == 0
    refuses(cli.main, [*asked, "--method", "cvx", "--set", "step=printed"], capsys, "the paper prints no step for more")


def test_the_estimator_of_three_names(tmp_path: Path) -> None:
    Psi, y = blobs()
    X, names = Psi.numpy()[:, :2], np.array(["left", "middle", "right"])[y.numpy()]
    fitted = AdaNetCVXClassifier(rounds=2, step="exact", lam=1e-4).fit(X, names)
    fitted.save(tmp_path / "model.pt", X, names)
    read = load(tmp_path / "model.pt")
    assert isinstance(read, AdaNetCVXClassifier)
    assert np.array_equal(read.predict(X), fitted.predict(X))
    assert verify_bounds(fitted, X, names, draws=None).sample.train_error == pytest.approx(1 - fitted.score(X, names))
