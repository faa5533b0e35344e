"""Section 5: AdaNet's description and pseudocode."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from adanet_theory.duality import layer_score
from adanet_train.convex.mixture import Mixture, minimise
from adanet_train.core.config import Config
from adanet_train.core.surrogates import surrogate
from adanet_train.methods import adanet
from adanet_train.search import objective
from adanet_train.search.weak_learners import Task
from verify.claims.checks import Fact, Facts, settles

Phi = surrogate("logistic")
SMALL = Config(
    learner="gradient", rounds=3, width=3, Lambda=1.0, lam=1e-3, steps=60, batch=20, check_every=20, max_depth=3
)


def sample(m: int = 60, n_0: int = 4, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    Psi = torch.rand(m, n_0, dtype=torch.float64, generator=generator) * 2 - 1
    return Psi, torch.where(Psi[:, 0] - 0.6 * Psi[:, 1] > 0.1, 1.0, -1.0).double()


def _step(H: Tensor, y: Tensor, Gamma: float) -> Mixture:
    return minimise(H, y, torch.zeros_like(y), torch.full((H.shape[1],), Gamma, dtype=torch.float64), Phi)


def _value(w: Tensor, H: Tensor, y: Tensor, Gamma: float) -> float:
    return objective.loss(Phi, y, H @ w) + Gamma * float(w.abs().sum())


def _printed_takes_deeper(w: Tensor, w_deep: Tensor, H_deep: Tensor, y: Tensor, Gamma: float) -> bool:
    """The printed test, F_t(w, h') <= F_t(w', h'), chooses h where it is true."""
    return not _value(w, H_deep, y, Gamma) <= _value(w_deep, H_deep, y, Gamma)


@settles("adanet-comparison", {"test": "corrected"})
def adanet_comparison(test: str = "printed", trials: int = 20) -> Facts:
    """h good, h' noise: F_t(w, h) < F_t(w', h'), so h should be kept; the printed test always takes h'."""
    deeper = better = 0
    for seed in range(trials):
        Psi, y = sample(seed=seed)
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(60, 4, dtype=torch.float64, generator=generator)
        w, w_deep = _step(Psi, y, 0.05), _step(noise, y, 0.05)
        better += w.objective < w_deep.objective
        if test == "printed":
            deeper += _printed_takes_deeper(w.w, w_deep.w, noise, y, 0.05)
        else:
            deeper += not w.objective <= w_deep.objective
    left, middle, right = w.objective, w_deep.objective, _value(w.w, noise, y, 0.05)
    yield Fact("F_t(w, h)", left, "<", middle, "F_t(w', h')", "h is better, yet the printed test takes h'")
    yield Fact("F_t(w, h')", right, ">", middle, "F_t(w', h')", "the printed test compares these, so it takes h'")
    yield Fact(f"times of {trials} that h' is taken", deeper, "=", trials)
    yield Fact("times that h was better", better, "=", trials)


@settles("adanet-first-round", {"candidates": ((1, 3), (2, 3))})
def adanet_first_round(candidates: tuple[tuple[int, int], ...] | None = None) -> Facts:
    """With l_0 = 1, as in the commented-out block of the source: a linear model against one hidden layer."""
    config = SMALL.replace(rounds=1, candidates=candidates)
    depths = [c["depth"] for c in adanet.train(*sample(), config).history[0]["candidates"]]
    yield Fact("depth of the first candidate", depths[0], "=", 1, "a linear model")
    yield Fact("depth of the second", depths[1], "=", 2, "one hidden layer")


@settles("adanet-top-layer", {"all_layers": False})
def adanet_top_layer(all_layers: bool = True) -> Facts:
    """The best w on both layers of a subnetwork against the best w on its top layer."""
    Psi, y = sample()
    generator = torch.Generator().manual_seed(1)
    U = torch.randn(3, 4, dtype=torch.float64, generator=generator)
    h_1 = Psi @ U.T
    h_2 = torch.relu(h_1) @ torch.randn(3, 3, dtype=torch.float64, generator=generator)
    top = _step(h_2, y, 0.01).objective
    both = _step(torch.cat([h_1, h_2], 1) if all_layers else h_2, y, 0.01).objective
    yield Fact(
        "min F_t over w_1 and w_2", both, "<", top - 1e-9, "min F_t over w_2 alone", "one subnetwork, two layers"
    )


@settles("adanet-stop", {"shift": 0.1})
def adanet_stop(shift: float = 0.0) -> Facts:
    """F(w_{t-1} + w*) - F(w_{t-1}) equals F_t(w*, h_t) - F_t(0, .), round by round."""
    Psi, y = sample()
    stages: list[float] = []
    trained = adanet.train(Psi, y, SMALL, callback=lambda now: stages.append(objective.recomputed(now, Psi, y)))
    recorded = [entry["objective"] for entry in trained.history]
    error = float(np.abs(np.array(stages) - np.array(recorded) - shift).max())
    yield Fact(
        "largest |F(w_t) - F_t(w*, h_t) - penalty of w_{t-1}|", error, "<=", 1e-12, where=f"{len(stages)} rounds"
    )


def _idle(task: Task, generator: torch.Generator) -> Sequence[Tensor]:
    """A weak learner that proposes dead units."""
    return [torch.zeros(shape, dtype=torch.float64) for shape in task.shapes]


@settles("adanet-stop-optimal", {"idle": False})
def adanet_stop_optimal(idle: bool = True) -> Facts:
    """Two useless candidates end the run, although a linear unit would lower F."""
    Psi, y = sample()
    config = SMALL.replace(learner=_idle if idle else "gradient", lam=0.0, beta=0.01)
    last = adanet.train(Psi, y, config).history[-1]
    start = objective.loss(Phi, y, torch.zeros_like(y))
    pull = (y * Phi.derivative(torch.ones_like(y))) @ Psi / len(y)
    g = layer_score(pull.numpy(), 1.0, 2.0, 1.0)
    yield Fact("g_1 where it stops", g, ">", 0.01, "Γ_1", "so a linear unit would lower F")
    yield Fact("F where it stops", last["objective"], "=", start, "F_0", "", 1e-12)
