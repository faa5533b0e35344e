"""AdaNet.CVX: the audit's counterexamples, the stopping test, the layer choice, and the same bits again."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import Tensor

from adanet_theory import duality, norms
from adanet_train.core.config import Config
from adanet_train.core.surrogates import surrogate
from adanet_train.core.training import Trained
from adanet_train.methods import adanet_cvx
from adanet_train.search import objective
from adanet_train.search.growable import Growable
from tests.refusals import refused


def sample(m: int = 60, n_0: int = 4, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    Psi = torch.rand(m, n_0, generator=generator, dtype=torch.float64) * 2 - 1
    Psi[:, -1] = 1
    noise = torch.randn(m, generator=generator, dtype=torch.float64)
    return Psi, torch.where(Psi[:, 0] - Psi[:, 1] * Psi[:, 2] + 0.2 * noise > 0, 1.0, -1.0).double()


def tensors(*rows: list[float]) -> list[Tensor]:
    return [torch.tensor(row, dtype=torch.float64) for row in rows]


def same(a: Trained, b: Trained) -> bool:
    pairs = [[*t.network.hidden.values(), *t.network.output.values()] for t in (a, b)]
    return all(torch.equal(s, t) for s, t in zip(*pairs, strict=True)) and a.history == b.history


def flipped(Z: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The same losses with both classes: (z, y) and (-z, -y) are the same point for a linear f."""
    return torch.cat([Z, -Z]), torch.cat([y, -y])


# One round, against the audit's numbers


@pytest.mark.claim("cvx-joint-minimiser")
@pytest.mark.parametrize(
    ("p", "Phi", "closed", "joint"),
    [(2.0, "logistic", 0.8197, 0.4120), (math.inf, "logistic", 0.7809, 0.4106), (2.0, "exponential", 1.5235, 0.4183)],
)
def test_closed_form_is_not_the_joint_minimiser(p, Phi, closed, joint):
    Psi, y = flipped(*tensors([[3.0, 1.0], [-1.0, 1.0]], [1.0, 1.0]))
    config = Config(rounds=1, p=p, Lambda=1.0, lam=0.0, beta=0.1, surrogate=Phi)
    ours = [
        adanet_cvx.train(Psi, y, config.replace(step=step)).history[-1]["objective"]
        for step in ("closed-form", "exact")
    ]
    assert ours == pytest.approx([closed, joint], abs=5e-5)


@pytest.mark.claim("cvx-sign")
def test_the_printed_step_lacks_the_sign():
    Psi, y = flipped(*tensors([[0.2, -0.8], [0.5, -0.9], [1.0, -0.7]], [1.0, 1.0, 1.0]))
    config = Config(rounds=1, p=2.0, Lambda=1.0, lam=0.0, beta=0.05)
    right = adanet_cvx.train(Psi, y, config)
    printed = adanet_cvx.train(Psi, y, config.replace(step="printed"))
    assert (right.network.hidden[1, 0] * torch.tensor([1.0, -1.0]) > 0).all()
    assert (printed.network.hidden[1, 0] > 0).all()
    assert right.history[-1]["objective"] < printed.history[-1]["objective"] - 0.1


@pytest.mark.claim("cvx-layer")
def test_the_layer_with_the_least_objective_wins():
    """z_1 = 1 and z_2 = 100 x (51 of +1, 49 of -1): the printed argmax takes s = 2 and gains next to nothing."""
    y, config = torch.ones(100, dtype=torch.float64), Config(rounds=3, Lambda=1.0, lam=0.0, beta=0.1)
    growth = adanet_cvx.CvxGrowth(torch.ones(100, 1).double(), y, config)
    growth.phi.append(Growable.of(100 * torch.cat([torch.ones(51), -torch.ones(49)]).double()[None]))
    candidates = growth.candidates()
    assert growth.objective == pytest.approx(1.31326, abs=5e-6)
    assert [unit.objective for unit in candidates] == pytest.approx([0.42508, 1.31279], abs=5e-6)
    assert [unit.g for unit in candidates] == sorted(unit.g for unit in candidates)
    assert growth.choice(candidates)[0] == 0
    growth.config = config.replace(step="printed")
    assert growth.choice(candidates)[0] == 1


@pytest.mark.parametrize("step", ["closed-form", "exact"])
@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, math.inf])
def test_a_round_is_the_best_that_its_step_can_do(step, p):
    Psi, y = sample()
    config = Config(rounds=1, p=p, Lambda=0.8, lam=0.0, beta=0.02, step=step)
    trained = adanet_cvx.train(Psi, y, config)
    u, w = trained.network.hidden[1, 0][0], trained.network.output[1][0]
    Phi = surrogate("logistic")

    def F(u: Tensor, w: float) -> float:
        return float(Phi.value(1 - y * (Psi @ u) * w).mean()) + 0.02 * abs(w)

    least = trained.history[-1]["objective"]
    assert F(u, float(w)) == pytest.approx(least, abs=1e-12)
    assert all(F(u, float(w) + change) >= least for change in (-1e-3, 1e-3))
    pull = (y * Phi.derivative(torch.ones_like(y))) @ Psi
    if step == "closed-form":
        assert float(u @ pull) == pytest.approx(0.8 * norms.p_norm(pull.numpy(), norms.conjugate(p)), rel=1e-9)
    rng = np.random.default_rng(0)
    for _ in range(50 if step == "exact" else 0):
        v = u.numpy() + 0.05 * rng.standard_normal(4)
        v *= min(1.0, 0.8 / np.linalg.norm(v, p))
        assert F(torch.from_numpy(v), float(w) * (1 + 0.05 * rng.standard_normal())) >= least - 1e-10


# The run


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"p": 1.0},
        {"p": 1.5},
        {"p": math.inf, "Lambda": 0.3},
        {"surrogate": "exponential", "beta": 1e-2},
        {"complexity": "sd"},
        {"step": "exact"},
        {"step": "exact", "p": 1.0},
        {"step": "exact", "complexity": "sd"},
        {"max_depth": 2, "complexity": "sqrt-depth"},
        {"objective": "bound", "complexity": "lemma-2-peeled", "p": 1.0},
    ],
    ids=str,
)
def test_every_way_to_run_it(options):
    Psi, y = sample()
    config = Config(**{"rounds": 12, "lam": 1e-4, "Lambda": 1.0, **options})
    trained = adanet_cvx.train(Psi, y, config)
    F = [entry["objective"] for entry in trained.history]
    assert all(
        after < before or entry["chosen"] == -1
        for (before, after), entry in zip(pairwise(F), trained.history[1:], strict=True)
    )
    assert objective.recomputed(trained, Psi, y) == pytest.approx(F[-1], abs=1e-9)
    assert json.loads(json.dumps(trained.history)) == trained.history
    spec = trained.declared
    assert trained.network.depth <= spec.depth
    assert max(trained.network.n[1:]) <= 12
    for (k, s), U in trained.network.hidden.items():
        assert (torch.linalg.vector_norm(U, spec.p, dim=1) <= spec.bound(k, s)).all()


def test_round_one_has_layer_one_only_and_round_two_may_go_deeper():
    trained = adanet_cvx.train(*sample(), Config(rounds=4, lam=0.0, Lambda=1.0))
    depths = [[candidate["depth"] for candidate in entry["candidates"]] for entry in trained.history]
    assert depths[0] == [1]
    assert depths[1] == [1, 2]
    assert trained.history[0]["candidates"][0]["units"] == [1]


def test_it_stops_iff_every_score_is_at_most_its_penalty():
    Psi, y = sample()
    Phi = surrogate("logistic")
    pull = (y * Phi.derivative(torch.ones_like(y))) @ Psi / len(y)
    g = duality.layer_score(pull.numpy(), 1.0, 2.0, 1.0)
    for beta, rounds in ((g * 1.000001, [-1]), (g * 0.999, [0])):
        trained = adanet_cvx.train(Psi, y, Config(rounds=1, Lambda=1.0, lam=0.0, beta=beta))
        assert [entry["chosen"] for entry in trained.history] == rounds
    stopped = adanet_cvx.train(Psi, y, Config(rounds=5, Lambda=1.0, lam=0.0, beta=2 * g))
    assert stopped.network.n == (4, 0)
    assert len(stopped.history) == 1


def test_at_the_end_no_layer_can_descend():
    Psi, y = sample()
    trained = adanet_cvx.train(Psi, y, Config(rounds=200, Lambda=1.0, lam=0.0, beta=0.05))
    assert trained.history[-1]["chosen"] == -1
    pull = y * surrogate("logistic").derivative(1 - y * trained.network(Psi)) / len(y)
    inputs = [Psi, *[h.clamp_min(0) for h in trained.network.layers(Psi)]]
    for z in inputs[: trained.declared.depth]:
        # F may also stop falling by more than rounding, at a score a little above the penalty.
        assert duality.layer_score((pull @ z).numpy(), 1.0, 2.0, 1.0) <= 0.05 + 1e-6


@pytest.mark.claim("cvx-stop")
def test_the_printed_algorithm_adds_units_of_weight_zero():
    trained = adanet_cvx.train(*sample(), Config(rounds=4, lam=0.0, beta=10.0, step="printed"))
    assert [entry["chosen"] >= 0 for entry in trained.history] == [True] * 4
    assert all(not w.any() for w in trained.network.output.values())
    refused(lambda: adanet_cvx.train(*sample(), Config(rounds=1, p=1.0, step="printed")), "p > 1")


@pytest.mark.parametrize("options", [{}, {"step": "exact"}, {"complexity": "sd", "p": 1.0}], ids=str)
def test_same_bits_again_and_after_an_interruption(options):
    Psi, y = sample()
    config = Config(**{"rounds": 10, "lam": 1e-4, **options})
    stages: list[Trained] = []
    whole = adanet_cvx.train(Psi, y, config, callback=stages.append)
    assert same(whole, adanet_cvx.train(Psi, y, config))
    for stage in (stages[0], stages[4], stages[-1]):
        assert same(whole, adanet_cvx.train(Psi, y, config, resume=stage))


def test_no_corrective_step():
    refused(lambda: adanet_cvx.train(*sample(), Config(corrective=True)), "corrective")


def test_growable_grows_both_ways():
    rows, expected = Growable.empty(torch.zeros(1)), np.zeros((40, 40))
    for i in range(40):
        row = torch.arange(1.0, i + 2)
        rows.extend(row[None])
        expected[i, : i + 1] = row
    assert torch.equal(rows.rows, torch.from_numpy(expected).float())
    assert rows.widened(50).shape == (40, 50)
