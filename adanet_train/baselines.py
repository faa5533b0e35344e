"""The paper's baselines, logistic regression and a fully connected network, as networks of the same form.

    min_u  (1/m) Σ_i Φ(-y_i f(x_i)) + λ Σ_k R(U_k),    R(U) = ||U||² (l2) or ||U||_1 (l1)

A network with d hidden layers has depth d + 1: its output is the one unit of the top layer, with w = 1. There is no
constraint, so no family is declared. Mini-batches, steps and learning rate as for AdaNet's weak learner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.config import Callback, Config, Trained, check_resume, check_sample
from adanet_train.descent import Problem, Search
from adanet_train.history import CandidateRecord
from adanet_train.network import Network
from adanet_train.surrogates import surrogate
from adanet_train.weak_learners import descend, generator


def train_lr(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """LR: f = u · Ψ. One round, so a result to resume is the result."""
    return _train(Psi, y, config, (), callback, resume)


def train_nn(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """NN: config.hidden units in each hidden layer."""
    check(len(config.hidden) >= 1, "hidden must hold the units of at least one layer, got none.")
    return _train(Psi, y, config, config.hidden, callback, resume)


def value(network: Network, Psi: Tensor, y: Tensor, config: Config) -> float:
    """(1/m) Σ_i Φ(-y_i f(x_i)) + λ Σ_k R(U_k)."""
    size = sum(float((U * U).sum() if config.norm == "l2" else U.abs().sum()) for U in network.hidden.values())
    return float(surrogate(config.surrogate).value(-y * network(Psi)).mean()) + config.fixed_lam * size


def _train(
    Psi: Tensor, y: Tensor, config: Config, hidden: Sequence[int], callback: Callback | None, resume: Trained | None
) -> Trained:
    check_resume(resume, config)
    if resume is not None and resume.history:
        return resume
    points, y = check_sample(Psi, y, config)
    Psi = points.whole()
    n = (Psi.shape[1], *hidden, 1)
    draw = generator(config.seed, 1, 0)
    U = [U_k.to(Psi.device) for U_k in random_weights(n, draw)]
    problem = Problem(
        inputs=[Psi, *[Psi[:, :0]] * len(hidden)],
        y=y,
        f=y,  # as an offset it turns Φ(1 - y f) into Φ(-y f)
        output_layers=(len(n) - 1,),
        l2=config.fixed_lam if config.norm == "l2" else 0.0,
        l1_hidden=config.fixed_lam if config.norm == "l1" else 0.0,
        train_w=False,
    )
    U = descend(Search(problem, U, [torch.ones_like(y[:1])], config), draw)
    pairs = {(k, k - 1): U[k - 1] for k in range(1, len(n))}
    network = Network(n, pairs, {len(n) - 1: torch.ones_like(y[:1])}, (config.activation,) * len(hidden))
    F = value(network, Psi, y, config)
    candidate: CandidateRecord = {"depth": len(n) - 1, "units": list(n[1:]), "objective": F, "Gamma": {}}
    trained = Trained(network, None, [{"candidates": [candidate], "chosen": 0, "objective": F}], config)
    if callback is not None:
        callback(trained)
    return trained


def random_weights(n: Sequence[int], draw: torch.Generator) -> list[Tensor]:
    """U_1, .. between layers of n units. Zeros for a linear model would do, but not above hidden units: He's scale."""
    scales = [*[math.sqrt(2 / below) for below in n[:-2]], math.sqrt(1 / n[-2])]
    shapes = zip(n[1:], n, strict=False)
    return [
        torch.randn(shape, generator=draw, dtype=torch.float64) * scale
        for shape, scale in zip(shapes, scales, strict=True)
    ]
