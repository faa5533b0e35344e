"""LR and NN for C classes: multinomial logistic regression and a fully connected network with C outputs.

    min_u  (1/m) Σ_i -log softmax(f(x_i))_{y_i} + λ Σ_k R(U_k),    R(U) = ||U||² (l2) or ||U||_1 (l1)

The C outputs are the units of the top layer, each read by a w of its own. No family is declared.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from adanet_theory.checks import check
from adanet_train.baselines import random_weights
from adanet_train.class_adanet import check_classes
from adanet_train.class_search import Descent, descend
from adanet_train.config import Callback, Config, Trained, check_resume
from adanet_train.history import CandidateRecord
from adanet_train.network import Network, block_outputs
from adanet_train.weak_learners import generator


def train_lr(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """LR: f = U Ψ."""
    return _train(Psi, y, config, (), callback, resume)


def train_nn(
    Psi: Tensor, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """NN: config.hidden units in each hidden layer."""
    check(len(config.hidden) >= 1, "hidden must hold the units of at least one layer, got none.")
    return _train(Psi, y, config, config.hidden, callback, resume)


def _train(
    Psi: Tensor, y: Tensor, config: Config, hidden: Sequence[int], callback: Callback | None, resume: Trained | None
) -> Trained:
    check_resume(resume, config)
    if resume is not None and resume.history:
        return resume
    Psi, y, C = check_classes(Psi, y, config)
    n = (Psi.shape[1], *hidden, C)
    draw = generator(config.seed, 1, 0)
    start = [u.to(Psi.device) for u in random_weights(n, draw)]

    def forward(weights: Sequence[Tensor], rows: Sequence[Tensor]) -> Tensor:
        return block_outputs(config.activation, rows, weights)[-1]

    def size(weights: Sequence[Tensor]) -> Tensor:
        parts = [(U * U).sum() if config.norm == "l2" else U.abs().sum() for U in weights]
        return config.fixed_lam * torch.stack(parts).sum()

    inputs = [Psi, *[Psi[:, :0]] * len(hidden)]
    of = Descent(inputs, y, Psi.new_zeros(len(Psi), C), forward, margin=0.0, penalty=size)
    U = descend(of, start, config, draw)
    F = float(of.objective(U, slice(None)))
    eye = torch.eye(C, dtype=torch.float64, device=Psi.device)
    pairs = {(k, k - 1): U[k - 1] for k in range(1, len(n))}
    network = Network(n, pairs, {len(n) - 1: eye}, (config.activation,) * len(hidden), C)
    candidate: CandidateRecord = {"depth": len(n) - 1, "units": list(n[1:]), "objective": F, "Gamma": {}}
    trained = Trained(network, None, [{"candidates": [candidate], "chosen": 0, "objective": F}], config)
    if callback is not None:
        callback(trained)
    return trained
