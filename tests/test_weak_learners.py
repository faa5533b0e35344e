"""Weak learners: the written gradient is autograd's, every learner keeps to the family and to the size asked for."""

import math
from itertools import pairwise

import pytest
import torch
from torch import Tensor

from adanet_theory.activations import ACTIVATIONS
from adanet_train.convex import mixture
from adanet_train.core.activations import activation_slope, apply_activation
from adanet_train.core.config import Config
from adanet_train.core.surrogates import surrogate
from adanet_train.search.complexity import penalty
from adanet_train.search.descent import GradientSearch, SubnetworkProblem
from adanet_train.search.weak_learners import Task, candidate, gradient, start
from adanet_train.search.weak_learners import generator as draws
from tests.refusals import refused


def randn(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def task(
    config: Config, *, depth: int = 2, units: int = 5, existing: int = 3, m: int = 60, classes: int | None = None
) -> Task:
    Psi = randn(m, 4, seed=1).clamp(-1, 1)
    score = Psi[:, 0] * Psi[:, 1] + 0.1 * randn(m, seed=2)
    y, f = torch.where(score > 0, 1.0, -1.0).double(), 0.3 * randn(m, seed=9)
    if classes is not None:
        y, f = (score.argsort().argsort() * classes).div(m, rounding_mode="floor"), 0.3 * randn(m, classes, seed=9)
    inputs = [Psi, *[randn(m, existing, seed=3 + k).clamp_min(0) for k in range(depth - 1)]]
    config = config if config.goal.lam is not None else config.replace(lam=1e-5)
    spec = config.declared(4)
    return Task(inputs, y, f, units, spec, config, penalty(config, spec, Psi))


@pytest.mark.parametrize("name", [*ACTIVATIONS[:-1], "leaky_relu:0.3", "leaky_relu:-0.5"])
def test_slopes_are_derivatives(name):
    h = torch.linspace(-4, 4, 81, dtype=torch.float64)[:-1] + 0.01  # away from the kink at 0
    h.requires_grad_()
    apply_activation(name, h).sum().backward()
    torch.testing.assert_close(activation_slope(name, h.detach()), h.grad)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("outputs", ["top", "all"])
@pytest.mark.parametrize("existing", [0, 3])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize(("Phi", "classes"), [("logistic", None), ("exponential", None), ("logistic", 3)])
def test_written_gradient_is_autograds(depth, outputs, existing, activation, Phi, classes):
    config = Config(
        learner="gradient", activation=activation, outputs=outputs, dtype="float64", batch=60, surrogate=Phi, steps=0
    )
    t = task(config, depth=depth, existing=existing, classes=classes)
    U = [randn(*shape, seed=20 + k) for k, shape in enumerate(t.shapes)]
    w = [randn(classes or 1, 5, seed=30 + k) for k in t.output_layers]
    l1 = [randn(5, seed=40 + k).abs() for k in t.output_layers]
    problem = SubnetworkProblem(t.inputs, t.y, t.f, t.output_layers, None, l1, l2=0.3, l1_hidden=0.2)
    search = GradientSearch(problem, U, w, config, torch.Generator().manual_seed(0))
    search._differentiate(search._load())  # the batch is the whole sample

    leaves = [part.clone().requires_grad_() for part in (*U, *w)]
    hidden, output = leaves[: len(U)], leaves[len(U) :]
    h = t.outputs(hidden)
    change = sum(h[k - 1] @ w_k.T for k, w_k in zip(t.output_layers, output, strict=True))
    if classes is None:
        F = surrogate(Phi).value(1 - t.y * (t.f + change[:, 0])).mean()
    else:
        margin = 1 - torch.nn.functional.one_hot(t.y, classes)
        F = torch.nn.functional.cross_entropy(t.f + change + margin, t.y)
    F = F + sum((b.abs() @ a).sum() for a, b in zip(l1, output, strict=True))
    F = F + sum(0.3 * (V * V).sum() + 0.2 * V.abs().sum() for V in hidden)
    F.backward()
    assert search.look() == pytest.approx(F.item(), rel=1e-12)
    for slope, leaf in zip([*search.U_slopes, *search.w_slopes], leaves, strict=True):
        torch.testing.assert_close(slope, leaf.grad, rtol=1e-9, atol=1e-12)


def test_a_batch_is_a_part_of_the_sample_and_an_epoch_all_of_it():
    config = Config(learner="gradient", batch=20, dtype="float64")
    t = task(config)
    U = start(t, draws(0, 1, 0))
    search = GradientSearch(
        SubnetworkProblem(t.inputs, t.y, t.f, (2,)), U, [torch.zeros(5).double()], config, draws(0, 1, 1)
    )
    seen = []
    for _ in range(3):
        index = search._load()
        assert all(torch.equal(batch, x[index]) for batch, x in zip(search.batch, t.inputs, strict=True))
        seen += index.tolist()
    assert sorted(seen) == [*range(60)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_search_without_steps_ends_where_it_starts(dtype):
    config = Config(learner="gradient", dtype=dtype, steps=0)
    t = task(config)
    U = start(t, draws(0, 1, 0))
    problem = SubnetworkProblem(t.inputs, t.y, t.f, (2,), [0.5, 0.5])
    minimum = GradientSearch(problem, U, [torch.zeros(5).double()], config, draws(0, 1, 1)).lowest()
    for V, W in zip(minimum, U, strict=True):
        assert torch.equal(V, W.to(getattr(torch, dtype)).double())


def test_a_look_at_a_large_sorted_sample_sees_both_classes(monkeypatch):
    monkeypatch.setattr("adanet_train.search.descent._LOOK", 20)
    config = Config(learner="gradient", dtype="float64")
    t = task(config)
    order = t.y.argsort()
    sorted_inputs = [x[order] for x in t.inputs]
    U, w = start(t, draws(0, 1, 0)), [randn(5, seed=1)]
    problem = SubnetworkProblem(sorted_inputs, t.y[order], t.f[order], (2,))
    looked = GradientSearch(problem, U, w, config, draws(0, 1, 1)).look()
    f = t.f[order] + Task(sorted_inputs, t.y, t.f, 5, t.spec, config, t.Gamma).outputs(U)[-1] @ w[0]
    every_third = surrogate("logistic").value(1 - t.y[order] * f)[::3].mean()
    assert looked == pytest.approx(every_third.item(), rel=1e-12)


@pytest.mark.parametrize("learner", ["gradient", "units", "random"])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, math.inf])
@pytest.mark.parametrize("depth", [1, 3])
def test_learners_keep_to_the_family(learner, p, depth):
    config = Config(p=p, Lambda=0.7, learner=learner, steps=25, check_every=10, networks=3, rounds=3, width=5)
    t = task(config, depth=depth)
    U = candidate(t, draws(0, 1, 0))
    assert [tuple(V.shape) for V in U] == t.shapes
    for V in U:
        assert V.dtype == torch.float64
        assert (torch.linalg.vector_norm(V, p, dim=1) <= 0.7).all()


def test_without_enforcement_units_leave_the_ball():
    config = Config(learner="gradient", Lambda=0.1, steps=300, enforce=False, learning_rate=0.5)
    U = candidate(task(config), draws(0, 1, 0))
    assert (torch.linalg.vector_norm(U[0], dim=1) > 0.1).any()


def test_descent_lowers_the_objective():
    config = Config(learner="gradient", steps=500, check_every=50, Lambda=2.0)
    t = task(config)
    begin, end = start(t, draws(0, 1, 0)), gradient(t, draws(0, 1, 0))
    values = []
    for U in (begin, end):
        H = t.outputs(U)[-1]
        values.append(mixture.minimise(H, t.y, t.f, t.Gamma(2, H), surrogate("logistic")).objective)
    assert values[1] < values[0] - 0.05


def test_best_random_is_the_best_of_its_draws():
    values = []
    for networks in (1, 5, 25):
        config = Config(learner="random", networks=networks)
        t = task(config)
        H = t.outputs(candidate(t, draws(0, 1, 0)))[-1]
        values.append(mixture.minimise(H, t.y, t.f, t.Gamma(2, H), surrogate("logistic")).objective)
    # One generator, so the longer runs see the draws of the shorter ones.
    assert all(after <= before + 1e-4 for before, after in pairwise(values))
    assert values[-1] < values[0]


def test_early_stopping_ends_a_search_that_cannot_improve():
    looks = []

    class Stuck(GradientSearch):
        def look(self) -> float:
            looks.append(1)
            return 1.0

    config = Config(learner="gradient", steps=10_000, check_every=5, patience=3)
    t = task(config)
    U = start(t, draws(0, 1, 0))
    problem = SubnetworkProblem(t.inputs, t.y, t.f, (2,))
    best = Stuck(problem, U, [torch.zeros(5).double()], config, draws(0, 1, 1)).lowest()
    assert len(looks) == 1 + 3
    torch.testing.assert_close(best[0], U[0], rtol=1e-6, atol=1e-6)


def test_variant_R_shrinks_w():
    sizes = {}
    for variant in ("base", "R"):
        config = Config(learner="gradient", variant=variant, beta=0.2, steps=400, dtype="float64")
        t = task(config)
        from adanet_train.search.weak_learners import _problem

        U = start(t, draws(0, 1, 0))
        search = GradientSearch(_problem(t, U), U, [torch.zeros(5).double()], config, draws(0, 1, 1))
        for number in range(1, 401):
            search.step(number)
        sizes[variant] = float(search.w[0].abs().sum())
    assert sizes["R"] < 0.5 * sizes["base"]


def test_variant_D_drops_existing_inputs_only():
    config = Config(learner="gradient", variant="D", dropout=0.5, batch=60, dtype="float64")
    t = task(config, existing=50)
    problem = SubnetworkProblem(t.inputs, t.y, t.f, (2,), dropout=0.5)
    search = GradientSearch(problem, start(t, draws(0, 1, 0)), [torch.zeros(5).double()], config, draws(0, 1, 1))
    search._load()
    assert search.batch[0].count_nonzero() == 60 * 4
    kept = search.batch[1][search.batch[1] != 0]
    full = t.inputs[1][t.inputs[1] != 0]
    assert 0.4 < len(kept) / len(full) < 0.6
    assert set(kept.tolist()) <= set((2 * full).tolist())


@pytest.mark.parametrize("p", [1.0, 2.0, math.inf])
@pytest.mark.parametrize("depth", [2, 3])
def test_units_on_their_bounds_span_the_function_that_was_trained(p, depth, monkeypatch):
    """The rows go to norm Λ, yet some w on the units gives the trained output again: nothing is lost by scaling."""
    searches = []
    lowest = GradientSearch.lowest
    monkeypatch.setattr(GradientSearch, "lowest", lambda self: searches.append(self) or lowest(self))
    config = Config(p=p, Lambda=0.7, learner="units", steps=50, check_every=50, batch=60, dtype="float64", rounds=3)
    config = config.replace(optimiser="adam", learning_rate=0.05)
    t = task(config, depth=depth, existing=3 if depth == 2 else 0)
    U = candidate(t, draws(0, 1, 0))
    for V in U:
        torch.testing.assert_close(torch.linalg.vector_norm(V, p, dim=1), torch.full((5,), 0.7).double())
    trained = searches[0]._forward(searches[0].x)[-1][:, 0]
    assert trained.abs().max() > 0.1
    H = t.outputs(U)[-1]
    w = torch.linalg.lstsq(H, trained[:, None]).solution
    torch.testing.assert_close((H @ w)[:, 0], trained, rtol=1e-6, atol=1e-8)


def test_units_start_where_f_stands():
    """No step: the output that is trained on top of f_{t-1} is 0, so that a candidate never begins above F."""
    t = task(Config(learner="units", steps=0))
    assert [tuple(V.shape) for V in candidate(t, draws(0, 1, 0))] == t.shapes
    refused(lambda: candidate(task(Config(learner="units", variant="R")), draws(0, 1, 0)), "variant='R'")


def test_a_learner_of_ones_own():
    def ones(t: Task, generator: torch.Generator) -> list[Tensor]:
        return [torch.ones(shape) for shape in t.shapes]

    U = candidate(task(Config(learner=ones, Lambda=1.0)), draws(0, 1, 0))
    torch.testing.assert_close(torch.linalg.vector_norm(U[0], dim=1), torch.ones(5).double())


@pytest.mark.parametrize(
    ("broken", "message"),
    [(lambda t, g: [torch.ones(2, 2)], "shapes"), (lambda t, g: [torch.full(s, math.nan) for s in t.shapes], "finite")],
)
def test_a_learner_of_ones_own_that_is_wrong(broken, message):
    with pytest.raises(ValueError, match=message):
        candidate(task(Config(learner=broken)), draws(0, 1, 0))


def test_generators_depend_on_seed_round_and_candidate():
    states = {
        tuple(torch.randn(2, generator=draws(*key)).tolist()) for key in [(0, 1, 0), (1, 1, 0), (0, 2, 0), (0, 1, 1)]
    }
    assert len(states) == 4
    assert torch.equal(torch.randn(3, generator=draws(5, 2, 1)), torch.randn(3, generator=draws(5, 2, 1)))
