"""The paper's baselines, logistic regression and a fully connected network, as networks of the same form.

    min_u  (1/m) Σ_i Φ(-y_i f(x_i)) + λ Σ_k R(U_k),    R(U) = ||U||² (l2) or ||U||_1 (l1)

and of C classes -log softmax(f(x_i))_{y_i} for Φ(-y_i f(x_i)). A network with d hidden layers has depth d + 1: its
output is the one unit of the top layer, with w = 1; of C classes there are C of them, each read by a w of its own.
There is no constraint, so no family is declared. Mini-batches, steps and learning rate as for AdaNet's weak learner.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.convex.labels import labels_of
from adanet_train.core.config import Config
from adanet_train.core.history import CandidateRecord
from adanet_train.core.network import Network
from adanet_train.core.training import Callback, Trained, begin
from adanet_train.search.descent import GradientSearch, SubnetworkProblem
from adanet_train.search.objective import mean
from adanet_train.search.weak_learners import generator


def train_lr(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """LR: f = u · Ψ. There is one round, so a run to resume is already the result."""
    return _train(Psi, y, config, (), callback, resume)


def train_nn(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """NN: config.baseline.hidden units in each hidden layer."""
    check(len(config.baseline.hidden) >= 1, "hidden must hold the units of at least one layer, got none.")
    return _train(Psi, y, config, config.baseline.hidden, callback, resume)


def value(network: Network, Psi: Tensor, y: Tensor, config: Config) -> float:
    """(1/m) Σ_i Φ(-y_i f(x_i)) + λ Σ_k R(U_k)."""
    size = sum(float((U * U).sum() if config.baseline.norm == "l2" else U.abs().sum()) for U in network.hidden.values())
    labels = labels_of(y, config.goal.surrogate)
    return mean(labels.values(y, labels.without_margin(y) + network(Psi))) + config.goal.number * size


def _train(
    Psi: Tensor, y: Tensor, config: Config, hidden: Sequence[int], callback: Callback | None, resume: Trained | None
) -> Trained:
    points, y, config = begin("nn" if hidden else "lr", Psi, y, config, resume=resume)
    if resume is not None and resume.history:
        return resume
    Psi = points.whole()
    network = _fitted(Psi, y, config, hidden)
    F, units = value(network, Psi, y, config), list(network.n[1:])
    candidate: CandidateRecord = {"depth": network.depth, "units": units, "objective": F, "Gamma": {}}
    trained = Trained(network, None, [{"candidates": [candidate], "chosen": 0, "objective": F}], config)
    if callback is not None:
        callback(trained)
    return trained


def _fitted(Psi: Tensor, y: Tensor, config: Config, hidden: Sequence[int]) -> Network:
    labels = labels_of(y, config.goal.surrogate)
    U, draw = _start((Psi.shape[1], *hidden, labels.tops), config, Psi.device)
    problem = SubnetworkProblem(
        inputs=[Psi, *[Psi[:, :0]] * len(hidden)],
        y=y,
        f=labels.without_margin(y),
        output_layers=(len(U),),
        l2=config.goal.number if config.baseline.norm == "l2" else 0.0,
        l1_hidden=config.goal.number if config.baseline.norm == "l1" else 0.0,
        train_w=False,
    )
    w = labels.spread(Psi.new_ones(labels.tops))
    return _network(GradientSearch(problem, U, [w], config, draw).lowest(), w, config)


def _start(n: Sequence[int], config: Config, device: torch.device) -> tuple[list[Tensor], torch.Generator]:
    draw = generator(config.run.seed, 1, 0)
    return [U_k.to(device) for U_k in random_weights(n, draw)], draw


def _network(U: Sequence[Tensor], w: Tensor, config: Config) -> Network:
    """Layer upon layer, of which the output reads the last; of more than two classes each by a row of w."""
    n, depth = (U[0].shape[1], *(len(U_k) for U_k in U)), len(U)
    pairs = {(k, k - 1): U_k for k, U_k in enumerate(U, start=1)}
    return Network(n, pairs, {depth: w}, (config.family.activation,) * (depth - 1), len(w) if w.ndim == 2 else None)


def random_weights(n: Sequence[int], draw: torch.Generator) -> list[Tensor]:
    """U_1, .. between layers of n units. Zeros for a linear model would do, but not above hidden units: He's scale."""
    scales = [*[math.sqrt(2 / below) for below in n[:-2]], math.sqrt(1 / n[-2])]
    shapes = zip(n[1:], n, strict=False)
    return [
        torch.randn(shape, generator=draw, dtype=torch.float64) * scale
        for shape, scale in zip(shapes, scales, strict=True)
    ]
