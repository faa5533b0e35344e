"""The linear network of least certificate: F is vote-certificate, for C classes vote-certificate-multiclass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from adanet_theory.certificates.derandomise import Certificate
from adanet_theory.certificates.vote import vote_certificate
from adanet_theory.certificates.vote_multiclass import vote_certificate_multiclass
from adanet_theory.checks import check
from adanet_train.certificate.linear import minimise
from adanet_train.certificate.search import VoteProblem, Voters
from adanet_train.core.config import Config
from adanet_train.core.device import one_thread
from adanet_train.core.history import CandidateRecord, Round
from adanet_train.core.network import Network
from adanet_train.core.points import Points
from adanet_train.core.training import Callback, Trained, begin


def train(
    Psi: Tensor | Points, y: Tensor, config: Config, *, callback: Callback | None = None, resume: Trained | None = None
) -> Trained:
    """Search for the linear network of least certificate, in one round; nothing is drawn at random.

    F in the history is the certificate itself, from exact laws.
    """
    points, y, config = begin("adanet", Psi, y, config, resume=resume)
    if resume is not None and resume.history:
        return replace(resume, config=config)
    Psi, delta, C = points.whole(), config.goal.delta, None if y.is_floating_point() else int(y.max()) + 1
    largest = float(Psi.abs().max())
    check(largest <= 1, f"objective vote needs |Psi| <= 1, got {largest}: scale the features.")
    with one_thread():
        own = y if C is None else torch.nn.functional.one_hot(y, C).T
        voters = minimise(VoteProblem(Psi.float(), own.float(), delta))
    network = _network(voters, Psi.shape[1], C)
    bound = certificate(network, Psi, y, delta)
    stands: dict[str, Any] = {"id": bound.id, "raw": bound.raw, **bound.terms}
    candidate: CandidateRecord = {"depth": 1, "units": list(network.n[1:]), "objective": bound.raw, "Gamma": {}}
    entry: Round = {"candidates": [candidate], "chosen": 0, "objective": bound.raw, "certificate": stands}
    trained = Trained(network, None, [entry], config)
    if callback is not None:
        callback(trained)
    return trained


def _network(voters: Voters, n_0: int, C: int | None) -> Network:
    """f/B = q · Ψ, or f_c/B = q_c · Ψ: a layer of one unit for each output, which reads it as it is."""
    q = voters.weights(n_0)
    output = q.new_ones(1) if C is None else torch.eye(C, dtype=q.dtype, device=q.device)
    return Network((n_0, len(q)), {(1, 0): q}, {1: output}, (), C)


def certificate(trained: Network, Psi: Tensor, y: Tensor, delta: float) -> Certificate:
    """vote-certificate of the network, or vote-certificate-multiclass, from exact laws."""
    q, labels = trained.hidden[1, 0].cpu(), y.cpu().numpy()
    if trained.outputs is None:
        margins = labels * (Psi.cpu().numpy() @ q[0].numpy())
        return vote_certificate(margins, np.abs(q[0].numpy()), n=2 * q.shape[1], delta=delta)
    q = q.abs()
    p = q.sum(1)
    scores = trained(Psi).cpu().clamp(-p, p).numpy()
    return vote_certificate_multiclass(scores, labels, q[q > 0].numpy(), p.numpy(), A=2 * q.numel(), delta=delta)
